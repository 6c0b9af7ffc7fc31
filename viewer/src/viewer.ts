// The page of one run: the picture, the panel beside it, plots and timeline below.

import * as THREE from "three";
import { getRun, getScene, type RunState, ServerError, stopRun } from "./api";
import { download, h, icon, showText } from "./dom";
import { Drawing } from "./drawing";
import { type Frame, FrameStore, type Part } from "./frames";
import { helpDialog, press } from "./keys";
import { colourScale, drawLegend } from "./legend";
import { colourings, describe, Panel, table } from "./panel";
import { facts, factsNeed } from "./picking";
import { nextSpeed, Player, SPEEDS } from "./player";
import { groups, Log, Plot } from "./plots";
import { type Settings, toHash, type ViewState } from "./settings";
import { Stage, THEMES } from "./stage";
import { currentTheme, onTheme, toggleTheme } from "./theme";

/** Frames fetched ahead while playing. */
const AHEAD = 3;

/** Time (ms) after which what stands still is drawn in full. */
const SETTLED = 250;

export class Viewer {
  readonly element: HTMLElement;
  private readonly stage: Stage;
  private readonly store: FrameStore;
  private readonly log: Log;
  private readonly timings: Log;
  /** Large surfaces are drawn coarsely: while things play or move, and before all of them is here. */
  private rough = true;
  private settling = 0;
  private readonly plot = new Plot();
  private run: RunState | null = null;
  private settings: Settings;
  private indices: number[] = [];
  private current = -1;
  private frame: Frame | null = null;
  private readonly drawing: Drawing;
  private picked: [string, number] | null;
  private bounds = new THREE.Box3();
  private moved = false;
  private readonly player: Player;
  private wanted = 0;
  private busy = false;
  private following = true;
  private closed = false;
  private poll = 0;
  private hashTimer = 0;
  private readonly cleanUp: (() => void)[] = [];

  // Elements that change.
  private readonly title = h("strong", { class: "title" });
  private readonly chip = h("span", { class: "chip", "data-testid": "status" });
  private readonly slider = h("input", { type: "range", min: "0", max: "0", value: "0", class: "scrub", "aria-label": "Timeline", "data-testid": "timeline" });
  private readonly label = h("span", { class: "time", "data-testid": "time" });
  private readonly playButton = icon("play", "Play (Space)", () => this.player.toggle(), "play");
  private readonly speed = h("select", { class: "speed", title: "Speed ([ and ])", "aria-label": "Speed" });
  private readonly message = h("div", { class: "message", role: "alert", "data-testid": "message", hidden: true });
  private readonly legend = h("div", { class: "legend", "data-testid": "legend", hidden: true });
  private readonly hint = h("div", { class: "hint" });
  private readonly panel: Panel;
  private readonly drawer = h("section", { class: "drawer", "aria-label": "Plots" });
  private readonly tabs = h("div", { class: "tabs", role: "tablist" });
  private readonly stageBox = h("main", { class: "stage" });
  private readonly help: HTMLElement;
  private readonly toast = h("div", { class: "toast", role: "status" });

  constructor(
    private readonly id: number,
    state: ViewState,
    goHome: (() => void) | null,
  ) {
    this.settings = state.settings;
    this.picked = state.picked;
    this.wanted = state.frame ?? -1;
    this.following = state.frame === null;
    this.moved = state.camera !== null;
    this.store = new FrameStore(id);
    this.log = new Log(id);
    this.timings = new Log(id, "timings");
    for (const speed of SPEEDS) this.speed.append(h("option", { value: String(speed) }, `${speed}×`));
    this.speed.value = String(this.settings.speed);
    this.speed.addEventListener("change", () => this.set({ speed: Number(this.speed.value) }));
    this.slider.addEventListener("input", () => {
      this.player.pause();
      this.rough = true;
      this.goto(Number(this.slider.value));
    });
    const loop = icon("loop", "Play again at the end", () => {
      this.set({ loop: !this.settings.loop });
      loop.setAttribute("aria-pressed", String(this.settings.loop));
    });
    loop.setAttribute("aria-pressed", String(this.settings.loop));
    const top = h(
      "header",
      { class: "top" },
      goHome && icon("home", "All scenes and runs", () => goHome(), "home"),
      this.title,
      this.chip,
      h("span", { class: "grow" }),
      icon("fit", "Fit (F)", () => this.fit(), "fit"),
      icon("camera", "Save a picture (S)", () => void this.savePicture(), "screenshot"),
      icon("link", "Copy a link to this view (L)", () => void this.copyLink(), "link"),
      icon("plots", "Plots (P)", () => this.set({ plots: !this.settings.plots }), "plots"),
      icon("theme", "Dark or light (T)", toggleTheme, "theme"),
      icon("panel", "Panel (I)", () => this.set({ panel: !this.settings.panel }), "panel"),
      icon("help", "Keys (?)", () => this.toggleHelp(), "help"),
    );
    const bottom = h(
      "footer",
      { class: "bottom" },
      icon("first", "First frame (Home)", () => this.jump(0)),
      icon("back", "Frame back (←)", () => this.jump(this.current - 1), "step-back"),
      this.playButton,
      icon("next", "Frame on (→)", () => this.jump(this.current + 1), "step"),
      icon("last", "Last frame (End)", () => this.jump(Infinity)),
      this.slider,
      this.label,
      this.speed,
      loop,
    );
    this.help = helpDialog();
    this.panel = new Panel({
      settings: this.settings,
      set: (change) => this.set(change),
      adjust: (change) => {
        Object.assign(this.settings, change);
        this.noteState();
        void this.apply();
      },
      scale: (frame) => colourScale(frame, this.settings).scale,
      stopRun: () => void stopRun(this.id),
      showScene: () => void this.showScene(),
    });
    this.drawer.append(this.tabs, this.plot.element);
    this.stageBox.append(this.legend, this.hint, this.message, this.help, this.toast);
    this.element = h("div", { class: "viewer" }, top, this.stageBox, this.panel.element, this.drawer, bottom);
    this.stage = new Stage(this.stageBox);
    this.drawing = new Drawing(this.stage, this.settings);
    this.player = new Player(this.reel(), this.playButton);
    this.stage.onMove = () => {
      this.moved = true;
      this.noteState();
    };
    this.stage.onCoarse = (coarse) => {
      if (coarse && !this.rough && this.hasCoarse()) {
        this.rough = true;
        void this.apply();
      }
    };
    this.plot.onSeek = (time) => {
      this.player.pause();
      this.rough = true;
      this.goto(this.nearest(time));
    };
    this.listen();
    this.layout();
    void this.open(state);
  }

  private listen() {
    const down = { x: 0, y: 0 };
    this.stage.canvas.addEventListener("pointerdown", (event) => Object.assign(down, { x: event.clientX, y: event.clientY }));
    this.stage.canvas.addEventListener("click", (event) => {
      if (Math.hypot(event.clientX - down.x, event.clientY - down.y) < 5) void this.pickAt(event.clientX, event.clientY);
    });
    const keys = (event: KeyboardEvent) => this.key(event);
    window.addEventListener("keydown", keys);
    const off = onTheme(() => this.restyle());
    this.cleanUp.push(() => window.removeEventListener("keydown", keys), off);
  }

  close(): void {
    this.closed = true;
    this.player.pause();
    window.clearTimeout(this.poll);
    window.clearTimeout(this.hashTimer);
    window.clearTimeout(this.settling);
    this.cleanUp.forEach((done) => done());
  }

  // ---- The run -------------------------------------------------------------------------------------------------------------------

  private async open(state: ViewState) {
    this.setState("loading");
    await this.refresh();
    if (this.closed) return;
    this.restyle();
    if (this.indices.length > 0) {
      await this.measure();
      this.lookAtBounds();
      if (state.camera) this.stage.setCamera(state.camera);
      else this.stage.fit();
      const at = this.wanted < 0 ? (this.run?.live ? this.indices.length - 1 : 0) : this.indices.indexOf(this.wanted);
      await this.goto(at >= 0 ? at : 0);
      this.drawPanel();
      this.drawPlots();
    } else if (!this.run?.live) this.say(this.run?.error ?? "This run has no frames. Was it stopped before its first, or were frames turned off?");
    else this.say("Waiting for the first frame …", false);
    const again = async () => {
      if (this.closed) return;
      try {
        await this.refresh();
      } catch {
        // Told by refresh; asked again soon.
      }
      this.poll = window.setTimeout(() => void again(), this.run?.live ? 700 : 4000);
    };
    this.poll = window.setTimeout(() => void again(), this.run?.live ? 700 : 4000);
  }

  /** Asks how the run stands; new frames and lines of the log are taken up. */
  private async refresh() {
    const before = this.indices.length;
    try {
      this.run = await getRun(this.id);
      await Promise.all([this.log.refresh(this.run.log_bytes), this.timings.refresh(this.run.timing_bytes)]);
    } catch (error) {
      this.chip.textContent = "no connection";
      this.chip.className = "chip failed";
      if (this.indices.length === 0) this.say(error instanceof Error ? error.message : String(error));
      return;
    }
    const run = this.run;
    const list: number[] = [];
    for (const [first, last] of run.frames) for (let i = first; i <= last && list.length < 1e6; i++) list.push(i);
    const wasLast = this.current === before - 1;
    // Another run took the place of this one.
    if (list.length < before) this.store.clear();
    this.indices = list;
    this.slider.max = String(Math.max(list.length - 1, 0));
    this.title.textContent = run.info?.scene ?? run.name;
    document.title = `${run.info?.scene ?? run.name} – Splashdown`;
    const [word, look] = describe(run);
    this.chip.textContent = word;
    this.chip.className = `chip ${look}`;
    if (run.info?.message) this.chip.title = run.info.message;
    if (list.length !== before && before > 0) {
      this.drawPlots();
      this.tellTime();
      this.drawRunFacts();
      if (this.following && wasLast && !this.player.playing && run.live) void this.goto(list.length - 1);
    } else if (before === 0 && list.length > 0 && this.current >= -1 && this.frame === null && this.message.hidden === false) {
      this.message.hidden = true;
      await this.measure();
      this.lookAtBounds();
      this.stage.fit();
      await this.goto(list.length - 1);
      this.drawPanel();
      this.drawPlots();
    } else this.drawRunFacts();
    if (list.length === 0 && run.error) this.say(run.error);
  }

  private lookAtBounds() {
    this.stage.setFlat(this.run?.info?.dimension === 2);
    this.restyle();
    this.stage.setBounds(this.bounds);
    const camera = this.run?.camera;
    if (camera) this.stage.setSide(camera.from, camera.up, camera.zoom);
  }

  /** What the camera has to see: all of the first, a middle and the last frame. */
  private async measure() {
    const n = this.indices.length;
    for (const at of new Set([0, Math.floor(n / 2), n - 1])) {
      try {
        const { bounds } = (await this.store.get(this.indices[at])).header;
        if (bounds) this.bounds.union(new THREE.Box3(new THREE.Vector3(...bounds[0]), new THREE.Vector3(...bounds[1])));
      } catch {
        // It will be told when that frame is looked at.
      }
    }
    if (this.bounds.isEmpty()) this.bounds.set(new THREE.Vector3(-0.5, -0.5, -0.5), new THREE.Vector3(0.5, 0.5, 0.5));
  }

  private timeOf(at: number): number {
    return (this.indices[at] ?? 0) * (this.run?.interval ?? 1 / 30);
  }

  private nearest(time: number): number {
    const wanted = time / (this.run?.interval ?? 1 / 30);
    let best = 0;
    for (let i = 1; i < this.indices.length; i++) {
      if (Math.abs(this.indices[i] - wanted) < Math.abs(this.indices[best] - wanted)) best = i;
    }
    return best;
  }

  // ---- Frames --------------------------------------------------------------------------------------------------------------------

  private setState(state: "loading" | "ready" | "error") {
    this.element.dataset.state = state;
  }

  /** Shows the frame at a place of the timeline; of several wishes the last one counts. */
  private async goto(at: number): Promise<void> {
    if (this.indices.length === 0) return;
    this.wanted = Math.min(Math.max(Math.round(at), 0), this.indices.length - 1);
    if (this.busy) return;
    this.busy = true;
    while (!this.closed) {
      const place = this.wanted;
      const index = this.indices[place];
      this.setState("loading");
      try {
        const frame = await this.store.get(index);
        await frame.ensure(this.drawing.needs(frame, this.rough));
        this.store.note(index, frame);
        if (place !== this.wanted && !this.player.playing) continue;
        this.show(place, frame);
        this.message.hidden = true;
        this.setState(this.rough && this.hasCoarse() ? "loading" : "ready");
        this.settle();
      } catch (error) {
        this.current = place;
        this.frame = null;
        this.clear();
        this.tellTime();
        this.noteState();
        this.say(error instanceof Error ? error.message : String(error), true, error instanceof ServerError && error.status === 422);
      }
      if (place === this.wanted) break;
    }
    this.busy = false;
    if (this.player.playing) for (let k = 1; k <= AHEAD; k++) void this.prefetch(this.current + k);
  }

  private hasCoarse(): boolean {
    return this.frame?.header.parts.some((part) => part.kind === "mesh" && part.coarse) ?? false;
  }

  /** Draws in full once things stand still. */
  private settle() {
    window.clearTimeout(this.settling);
    if (!this.rough || this.player.playing) return;
    this.settling = window.setTimeout(() => void this.refine(), this.hasCoarse() ? SETTLED : 0);
  }

  private async refine() {
    if (!this.rough || this.closed) return;
    if (this.player.playing || this.busy || this.stage.isInteracting) {
      this.settling = window.setTimeout(() => void this.refine(), SETTLED);
      return;
    }
    this.rough = false;
    if (this.hasCoarse()) await this.apply();
  }

  private async prefetch(at: number) {
    const index = this.indices[at];
    if (index === undefined || this.store.has(index)) return;
    try {
      const frame = await this.store.get(index);
      await frame.ensure(this.drawing.needs(frame, this.rough));
      this.store.note(index, frame);
    } catch {
      // Told when it is looked at.
    }
  }

  private clear() {
    this.drawing.hide();
    this.stage.mark(null);
    this.stage.invalidate();
  }

  private show(place: number, frame: Frame) {
    this.current = place;
    this.frame = frame;
    const { bounds } = frame.header;
    if (bounds) {
      const grown = this.bounds.clone().union(new THREE.Box3(new THREE.Vector3(...bounds[0]), new THREE.Vector3(...bounds[1])));
      const sizes = [grown, this.bounds].map((box) => box.getSize(new THREE.Vector3()).length());
      if (sizes[0] > 1.1 * sizes[1]) {
        this.bounds = grown;
        this.stage.setBounds(grown);
        if (!this.moved) this.stage.fit();
      }
    }
    this.redraw();
    this.tellTime();
    this.noteState();
    this.plot.setTime(frame.header.time);
  }

  /** Draws the frame again, after it or the settings changed. */
  private redraw() {
    const frame = this.frame;
    if (!frame) return;
    this.drawing.draw(frame, this.rough);
    this.stage.setGround(this.settings.ground, this.settings.shadows);
    drawLegend(this.legend, frame, this.settings, this.drawing.views());
    this.markPicked();
    this.drawPicked();
    this.stage.invalidate();
    this.element.dataset.frame = String(frame.header.index);
    this.element.dataset.detail = this.rough && this.hasCoarse() ? "coarse" : "full";
  }

  // ---- Time ----------------------------------------------------------------------------------------------------------------------

  private tellTime() {
    this.slider.value = String(this.current);
    const at = Math.max(this.current, 0);
    const time = this.frame?.header.time ?? this.timeOf(at);
    const last = this.indices[this.indices.length - 1] ?? 0;
    this.label.textContent = `${time.toFixed(3)} s · frame ${this.indices[at] ?? 0} of ${last}`;
    const share = this.indices.length > 1 ? (100 * at) / (this.indices.length - 1) : 0;
    this.slider.style.setProperty("--done", `${share}%`);
  }

  /** What playing needs to know and to do. */
  private reel() {
    const viewer = this;
    return {
      get settings() {
        return viewer.settings;
      },
      get current() {
        return viewer.current;
      },
      get count() {
        return viewer.indices.length;
      },
      get busy() {
        return viewer.busy;
      },
      get live() {
        return viewer.run?.live ?? false;
      },
      timeOf: (at: number) => viewer.timeOf(at),
      goto: (at: number) => void viewer.goto(at),
      changed: (playing: boolean) => {
        if (playing) {
          viewer.rough = true;
          viewer.following = false;
          viewer.element.dataset.playing = "1";
        } else {
          delete viewer.element.dataset.playing;
          viewer.settle();
        }
      },
    };
  }

  private jump(at: number) {
    this.player.pause();
    const last = this.indices.length - 1;
    this.following = at >= last;
    void this.goto(Math.min(at, last));
  }

  // ---- Settings ------------------------------------------------------------------------------------------------------------------

  private set(change: Partial<Settings>) {
    Object.assign(this.settings, change);
    this.layout();
    this.noteState();
    if ("speed" in change) this.speed.value = String(this.settings.speed);
    if ("plot" in change || "plots" in change) this.drawPlots();
    this.drawPanel();
    void this.apply();
  }

  /** Fetches what the settings ask for and draws. */
  private async apply() {
    const frame = this.frame;
    if (!frame) return;
    this.setState("loading");
    try {
      await frame.ensure(this.drawing.needs(frame, this.rough));
      if (this.frame === frame) this.redraw();
      this.setState("ready");
      this.settle();
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error));
    }
  }

  private layout() {
    this.element.classList.toggle("no-panel", !this.settings.panel);
    this.element.classList.toggle("no-plots", !this.settings.plots);
  }

  private state(): ViewState {
    return {
      run: this.id,
      frame: this.following && this.run?.live ? null : (this.indices[Math.max(this.current, 0)] ?? null),
      camera: this.moved ? this.stage.getCamera() : null,
      picked: this.picked,
      settings: this.settings,
    };
  }

  private noteState() {
    window.clearTimeout(this.hashTimer);
    this.hashTimer = window.setTimeout(() => {
      if (!this.closed) history.replaceState(null, "", `#${toHash(this.state())}`);
    }, 120);
  }

  private restyle() {
    this.stage.setTheme(THEMES[currentTheme()]);
    this.plot.setTime(this.frame?.header.time ?? 0);
  }

  private fit() {
    const place = this.picked ? this.pickedPlace() : null;
    if (place && place.radius > 0) {
      this.stage.fit(new THREE.Sphere(place.centre, Math.max(place.radius, 0.02 * this.stage.radius)));
      this.moved = true;
    } else {
      this.stage.fit();
      this.moved = false;
    }
    this.noteState();
  }

  // ---- Picking -------------------------------------------------------------------------------------------------------------------

  private async pickAt(x: number, y: number) {
    // Entries are those of what is drawn in full.
    await this.refine();
    const frame = this.frame;
    if (!frame) return;
    this.picked = this.drawing.at(frame, x, y);
    this.markPicked();
    this.noteState();
    if (this.picked && !this.settings.panel) this.set({ panel: true });
    await this.drawPicked();
    this.drawPanel();
  }

  private pickedPart(): Part | undefined {
    return this.frame?.header.parts.find((part) => part.name === this.picked?.[0]);
  }

  private pickedPlace() {
    const part = this.pickedPart();
    return part && this.picked ? this.drawing.locate(part, this.picked[1]) : null;
  }

  private markPicked() {
    this.stage.mark(this.picked ? this.pickedPlace() : null);
  }

  /** What is known of the thing that is picked. */
  private async drawPicked() {
    const [frame, part, picked] = [this.frame, this.pickedPart(), this.picked];
    if (!frame || !part || !picked) {
      this.panel.picked.replaceChildren(h("p", { class: "quiet" }, "Click a body to see its name, mass, velocity and energy."));
      return;
    }
    try {
      await frame.ensure(factsNeed(frame, part));
    } catch {
      return;
    }
    if (frame !== this.frame || picked !== this.picked) return;
    this.panel.picked.replaceChildren(table(facts(frame, part, picked[1], this.pickedPlace())));
  }

  // ---- Panel ---------------------------------------------------------------------------------------------------------------------

  private drawPanel() {
    if (this.frame) this.panel.draw(this.frame);
    this.drawRunFacts();
    void this.drawPicked();
  }

  private drawRunFacts() {
    if (this.run) this.panel.drawRun(this.run, this.indices.length, this.frame?.header.step);
  }

  private async showScene() {
    try {
      showText(this.element, await getScene(this.id));
    } catch (error) {
      this.tip(error instanceof Error ? error.message : String(error));
    }
  }

  // ---- Plots ---------------------------------------------------------------------------------------------------------------------

  private drawPlots() {
    if (!this.settings.plots) return;
    const all = groups(this.log, this.timings);
    if (all.length === 0) {
      this.tabs.replaceChildren(h("span", { class: "quiet" }, "The log of this run is empty."));
      return;
    }
    const chosen = all.find((group) => group.key === this.settings.plot) ?? all[0];
    this.tabs.replaceChildren(
      ...all.map((group) =>
        h("button", { type: "button", role: "tab", "aria-selected": String(group === chosen), "data-testid": `plot-${group.key}`, onClick: () => this.set({ plot: group.key }) }, group.title),
      ),
    );
    const end = this.run?.live && this.run.last_frame !== undefined ? this.run.last_frame * (this.run.interval ?? 0) : 0;
    this.plot.show(chosen, end);
    this.plot.setTime(this.frame?.header.time ?? 0);
  }

  // ---- Words ---------------------------------------------------------------------------------------------------------------------

  private say(text: string, failed = true, damaged = false) {
    if (failed) this.setState("error");
    this.message.hidden = false;
    this.message.replaceChildren(
      h("strong", {}, failed ? "This cannot be shown" : "A moment"),
      h("p", {}, text),
      ...(damaged ? [h("p", { class: "quiet" }, "Other frames can still be looked at.")] : []),
    );
  }

  private tip(text: string) {
    this.toast.textContent = text;
    this.toast.classList.add("shown");
    window.setTimeout(() => this.toast.classList.remove("shown"), 2200);
  }

  private toggleHelp() {
    this.help.hidden = !this.help.hidden;
  }

  private async savePicture() {
    try {
      const number = String(this.indices[this.current] ?? 0).padStart(6, "0");
      download(await this.stage.picture(), `${this.run?.info?.scene ?? "splashdown"}-${number}.png`);
      this.tip("Picture saved");
    } catch (error) {
      this.tip(error instanceof Error ? error.message : String(error));
    }
  }

  private async copyLink() {
    this.moved = true;
    const link = `${location.href.replace(/#.*/, "")}#${toHash(this.state())}`;
    history.replaceState(null, "", link);
    try {
      await navigator.clipboard.writeText(link);
      this.tip("Link copied");
    } catch {
      this.tip("The link is in the address bar");
    }
  }

  private key(event: KeyboardEvent) {
    const slice = (axis: "x" | "y" | "z") => this.set({ slice: this.settings.slice === axis ? "off" : axis });
    const step = event.shiftKey ? 10 : 1;
    const actions: Record<string, () => void> = {
      " ": () => this.player.toggle(),
      ArrowLeft: () => this.jump(this.current - step),
      ArrowRight: () => this.jump(this.current + step),
      Home: () => this.jump(0),
      End: () => this.jump(Infinity),
      "[": () => this.set({ speed: nextSpeed(this.settings.speed, -1) }),
      "]": () => this.set({ speed: nextSpeed(this.settings.speed, 1) }),
      f: () => this.fit(),
      c: () => {
        if (!this.frame) return;
        const names = colourings(this.frame).map(([name]) => name);
        this.set({ colour: names[(names.indexOf(this.settings.colour) + 1) % names.length], range: null });
      },
      v: () => this.set({ vectors: !this.settings.vectors }),
      k: () => this.set({ contacts: !this.settings.contacts }),
      x: () => slice("x"),
      y: () => slice("y"),
      z: () => slice("z"),
      g: () => this.set({ ground: !this.settings.ground }),
      e: () => this.set({ edges: !this.settings.edges }),
      p: () => this.set({ plots: !this.settings.plots }),
      i: () => this.set({ panel: !this.settings.panel }),
      s: () => void this.savePicture(),
      l: () => void this.copyLink(),
      t: toggleTheme,
      "?": () => this.toggleHelp(),
      Escape: () => {
        this.help.hidden = true;
        this.picked = null;
        this.markPicked();
        void this.drawPicked();
        this.noteState();
      },
    };
    press(event, actions, this.slider);
  }
}
