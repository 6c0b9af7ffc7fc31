// Playing: simulated time follows the clock on the wall.

import { setIcon } from "./dom";
import type { Settings } from "./settings";

export const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

/** What playing asks of the viewer. */
export interface Reel {
  readonly settings: Settings;
  /** Place of the frame that is shown, and how many there are. */
  readonly current: number;
  readonly count: number;
  /** A frame is being fetched. */
  readonly busy: boolean;
  readonly live: boolean;
  timeOf(at: number): number;
  goto(at: number): void;
  /** It began or ended. */
  changed(playing: boolean): void;
}

export class Player {
  playing = false;
  private clock = 0;
  private lastTick = 0;

  constructor(
    private readonly reel: Reel,
    private readonly button: HTMLButtonElement,
  ) {}

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  play(): void {
    const { reel } = this;
    if (reel.count < 2) return;
    this.playing = true;
    this.clock = reel.timeOf(reel.current >= reel.count - 1 ? 0 : reel.current);
    this.lastTick = performance.now();
    setIcon(this.button, "pause");
    reel.changed(true);
    if (reel.current >= reel.count - 1) reel.goto(0);
    requestAnimationFrame((now) => this.tick(now));
  }

  pause(): void {
    this.playing = false;
    setIcon(this.button, "play");
    this.reel.changed(false);
  }

  private tick(now: number): void {
    const { reel } = this;
    if (!this.playing) return;
    // A frame that comes late holds the time, so that nothing is skipped unseen.
    const passed = Math.min(now - this.lastTick, 100) / 1000;
    this.lastTick = now;
    if (!reel.busy) {
      this.clock += passed * reel.settings.speed;
      const end = reel.timeOf(reel.count - 1);
      if (this.clock > end) {
        if (reel.live) this.clock = end;
        else if (reel.settings.loop) this.clock = 0;
        else {
          this.clock = end;
          this.pause();
        }
      }
      let at = reel.current;
      if (reel.timeOf(at) > this.clock) at = 0;
      while (at + 1 < reel.count && reel.timeOf(at + 1) <= this.clock + 1e-9) at++;
      if (at !== reel.current) reel.goto(at);
    }
    requestAnimationFrame((next) => this.tick(next));
  }
}

/** The next slower or faster speed. */
export function nextSpeed(speed: number, by: number): number {
  const at = SPEEDS.findIndex((known) => known >= speed);
  return SPEEDS[Math.min(Math.max((at < 0 ? SPEEDS.length - 1 : at) + by, 0), SPEEDS.length - 1)];
}
