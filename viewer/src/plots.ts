// Curves of the log over time, with a line where the timeline stands.

import { getBytes, ServerError } from "./api";

/** The numbers of a run's log. */
export class Log {
  readonly time: number[] = [];
  readonly curves = new Map<string, Float64Array | number[]>();
  private bytes = 0;
  private rest = "";

  /** `log`, or `timings`: how long stages took. */
  constructor(
    private readonly run: number,
    private readonly file: "log" | "timings" = "log",
  ) {}

  /** Reads what is new of a file of `total` bytes; true if there was anything. */
  async refresh(total: number): Promise<boolean> {
    const before = this.time.length;
    if (total < this.bytes) {
      // Another run took the place of this one.
      this.bytes = 0;
      this.rest = "";
      this.time.length = 0;
      this.curves.clear();
    }
    while (this.bytes < total) {
      let got;
      try {
        got = await getBytes(`api/runs/${this.run}/${this.file}`, this.bytes);
      } catch (error) {
        if (error instanceof ServerError && (error.status === 416 || error.status === 404)) break;
        throw error;
      }
      if (got.bytes.byteLength === 0) break;
      this.bytes += got.bytes.byteLength;
      const lines = (this.rest + new TextDecoder().decode(got.bytes)).split("\n");
      this.rest = lines.pop() ?? "";
      lines.forEach((line) => this.add(line));
    }
    return this.time.length > before;
  }

  private add(line: string) {
    let record: Record<string, unknown>;
    try {
      record = JSON.parse(line);
    } catch {
      return;
    }
    if (typeof record.time !== "number") return;
    const at = this.time.length;
    // A run that was resumed goes on from its checkpoint.
    if (at > 0 && record.time <= this.time[at - 1]) return;
    this.time.push(record.time);
    const put = (name: string, value: number) => {
      let curve = this.curves.get(name) as number[] | undefined;
      if (!curve) this.curves.set(name, (curve = []));
      while (curve.length < at) curve.push(NaN);
      curve.push(value);
    };
    const walk = (value: unknown, name: string) => {
      if (typeof value === "number") put(name, value);
      else if (Array.isArray(value)) value.forEach((item, i) => walk(item, `${name}.${i}`));
      else if (value && typeof value === "object") {
        for (const [key, item] of Object.entries(value)) walk(item, name ? `${name}.${key}` : key);
      }
    };
    if (this.file === "timings") {
      const { steps, seconds } = record as { steps?: number; seconds?: Record<string, number> };
      for (const [stage, all] of Object.entries(seconds ?? {})) put(stage, (1000 * all) / Math.max(steps ?? 1, 1));
      return;
    }
    const { solves, time: _, ...plain } = record;
    walk(plain, "");
    if (Array.isArray(solves) && solves.length > 0) {
      const sum = (key: string) => solves.reduce((all: number, solve) => all + (Number(solve[key]) || 0), 0);
      put("iterations", sum("iterations"));
      put("relative residual", Math.max(...solves.map((solve) => Number(solve.relative_residual) || 0)));
    }
  }
}

export interface Group {
  log: Log;
  key: string;
  title: string;
  unit: string;
  curves: [name: string, label: string][];
}

const AXES = ["x", "y", "z"];

/** The plots that a log can fill. */
export function groups(log: Log, timings: Log): Group[] {
  const all = [...log.curves.keys()];
  const vector = (name: string, labels = AXES) =>
    all.filter((key) => key.startsWith(`${name}.`) && /\.\d+$/.test(key)).map((key, i): [string, string] => [key, labels[i] ?? String(i)]);
  const some = (names: [string, string][]) => names.filter(([name]) => log.curves.has(name));
  const fluid = log.curves.has("fluid.kinetic_energy");
  const list: Omit<Group, "log">[] = [
    {
      key: "energy",
      title: "Energy",
      unit: "J",
      curves: some([
        ["total_energy", "total"],
        ["kinetic_energy", "kinetic"],
        ["elastic_energy", "elastic"],
        ["gravity_energy", "gravity"],
        ["fluid.kinetic_energy", "fluid kinetic"],
      ]).filter(([name]) => !fluid || name.startsWith("fluid") || nonZero(log.curves.get(name))),
    },
    { key: "momentum", title: "Momentum", unit: "kg m/s", curves: [...vector("momentum"), ...vector("fluid.momentum", AXES.map((a) => `fluid ${a}`))].filter(([name]) => nonZero(log.curves.get(name)) || !fluid) },
    { key: "angular", title: "Angular momentum", unit: "kg m²/s", curves: vector("angular_momentum", log.curves.has("angular_momentum.1") ? AXES : ["z"]) },
    { key: "speed", title: "Largest speed", unit: "m/s", curves: some([["max_speed", "solids"], ["fluid.max_speed", "fluid"]]).filter(([name]) => nonZero(log.curves.get(name)) || !fluid) },
    { key: "volume", title: "Volume", unit: "m³", curves: vector("fluid.volumes", []).map(([name], i): [string, string] => [name, `liquid ${i + 1}`]) },
    { key: "smoke", title: "Smoke", unit: "m³", curves: some([["fluid.smoke", "integral"]]).filter(([name]) => nonZero(log.curves.get(name))) },
    { key: "divergence", title: "Divergence", unit: "1/s", curves: some([["fluid.max_divergence", "largest"]]) },
    { key: "enstrophy", title: "Enstrophy", unit: "", curves: some([["fluid.enstrophy", "enstrophy"]]) },
    { key: "joints", title: "Joint errors", unit: "m, rad", curves: some([["joints.linear_error", "linear"], ["joints.angular_error", "angular"]]) },
    { key: "mass", title: "Mass", unit: "kg", curves: some([["mass", "solids"], ["fluid.mass", "fluid"]]).filter(([name]) => nonZero(log.curves.get(name))) },
    { key: "iterations", title: "Solver iterations", unit: "a step", curves: some([["iterations", "all solves"]]) },
    { key: "step", title: "Step", unit: "s", curves: some([["dt", "dt"]]) },
  ];
  const filled = list.filter((group) => group.curves.length > 0 && (group.key !== "angular" || group.curves.some(([name]) => nonZero(log.curves.get(name)))));
  return [...filled.map((group) => ({ ...group, log })), ...stages(timings)];
}

/** Most stages in one plot; the others are told as one. */
const MOST_STAGES = 7;

/** Time per stage: the longest ones. */
function stages(log: Log): Group[] {
  const sum = (name: string) => [...(log.curves.get(name) ?? [])].reduce((all, x) => all + (Number.isFinite(x) ? x : 0), 0);
  const names = [...log.curves.keys()].filter((name) => name !== "all" && nonZero(log.curves.get(name)));
  if (!log.curves.has("all")) return [];
  const longest = names.sort((a, b) => sum(b) - sum(a)).slice(0, MOST_STAGES);
  return [{ log, key: "stages", title: "Time per stage", unit: "ms a step", curves: [["all", "all"], ...longest.map((name): [string, string] => [name, name])] }];
}

const nonZero = (curve?: ArrayLike<number>) => curve !== undefined && Array.prototype.some.call(curve, (x: number) => x !== 0 && Number.isFinite(x));

const COLOURS = ["#ee7733", "#33a1de", "#22b573", "#c77dff", "#e5c03a", "#ef6a8a", "#7fb0a0", "#a0785a"];

const shortNumber = (x: number, digits = 4) => {
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-3) return x.toExponential(Math.max(digits - 2, 1)).replace("e+", "e");
  return String(Number(x.toPrecision(digits)));
};

/** A plot that is also a timeline: a click or drag on it goes there. */
export class Plot {
  readonly element = document.createElement("div");
  private readonly canvas = document.createElement("canvas");
  private readonly legend = document.createElement("div");
  private group: Group | null = null;
  private log: Log | null = null;
  private now = 0;
  private span: [number, number] = [0, 1];
  onSeek: (time: number) => void = () => {};

  constructor() {
    this.element.className = "plot";
    this.legend.className = "plot-legend";
    this.canvas.dataset.testid = "plot";
    this.element.append(this.legend, this.canvas);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    const seek = (event: PointerEvent) => {
      const box = this.canvas.getBoundingClientRect();
      const x = (event.clientX - box.left - LEFT) / Math.max(box.width - LEFT - RIGHT, 1);
      this.onSeek(this.span[0] + Math.min(Math.max(x, 0), 1) * (this.span[1] - this.span[0]));
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      seek(event);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons === 1) seek(event);
    });
  }

  show(group: Group, end: number): void {
    const { log } = group;
    this.log = log;
    this.group = group;
    this.span = [0, Math.max(end, log.time[log.time.length - 1] ?? 0, 1e-12)];
    this.draw();
  }

  setTime(time: number): void {
    this.now = time;
    this.draw();
  }

  private draw(): void {
    const { log, group, canvas } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!log || !group || width < 60 || height < 30) return;
    const ratio = Math.min(window.devicePixelRatio, 2);
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    if (!pen) return;
    const style = getComputedStyle(this.element);
    const [ink, faint] = [style.getPropertyValue("--text-2"), style.getPropertyValue("--line")];
    pen.scale(ratio, ratio);
    pen.font = "11px system-ui, sans-serif";
    let [low, high] = [Infinity, -Infinity];
    for (const [name] of group.curves) {
      const curve = log.curves.get(name) ?? [];
      for (let i = 0; i < curve.length; i++) {
        if (Number.isFinite(curve[i])) [low, high] = [Math.min(low, curve[i]), Math.max(high, curve[i])];
      }
    }
    if (!(low <= high)) [low, high] = [0, 1];
    if (low > 0 && low < 0.4 * high) low = 0;
    const room = 0.06 * (high - low) || Math.abs(high) * 1e-3 || 1;
    [low, high] = [low - (low === 0 ? 0 : room), high + room];
    const x = (t: number) => LEFT + ((t - this.span[0]) / (this.span[1] - this.span[0])) * (width - LEFT - RIGHT);
    const y = (value: number) => height - BOTTOM - ((value - low) / (high - low)) * (height - BOTTOM - TOP);
    pen.strokeStyle = faint;
    pen.fillStyle = ink;
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const lines = ticks(low, high, Math.max(2, Math.floor(height / 34)));
    // As many digits as tell neighbours apart.
    const relative = Math.max(Math.abs(low), Math.abs(high)) / (lines.length > 1 ? lines[1] - lines[0] : 1);
    const digits = Math.min(Math.max(Math.ceil(Math.log10(relative)) + 1, 4), 9);
    for (const value of lines) {
      pen.beginPath();
      pen.moveTo(LEFT, Math.round(y(value)) + 0.5);
      pen.lineTo(width - RIGHT, Math.round(y(value)) + 0.5);
      pen.stroke();
      pen.fillText(shortNumber(value, digits), LEFT - 6, y(value));
    }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const time of ticks(this.span[0], this.span[1], Math.max(2, Math.floor(width / 90)))) {
      pen.fillText(shortNumber(time), x(time), height - BOTTOM + 4);
    }
    group.curves.forEach(([name], k) => {
      const curve = log.curves.get(name) ?? [];
      pen.strokeStyle = COLOURS[k % COLOURS.length];
      pen.lineWidth = 1.6;
      pen.beginPath();
      let drawing = false;
      // At most about two points a pixel: the extremes of what falls on it.
      const step = Math.max(1, Math.floor(curve.length / (2 * width)));
      for (let i = 0; i < curve.length; i += step) {
        let value = curve[i];
        for (let j = i; j < Math.min(i + step, curve.length); j++) if (Math.abs(curve[j]) > Math.abs(value)) value = curve[j];
        if (!Number.isFinite(value)) {
          drawing = false;
          continue;
        }
        if (drawing) pen.lineTo(x(log.time[i]), y(value));
        else pen.moveTo(x(log.time[i]), y(value));
        drawing = true;
      }
      pen.stroke();
    });
    pen.strokeStyle = ink;
    pen.beginPath();
    pen.moveTo(x(this.now), TOP);
    pen.lineTo(x(this.now), height - BOTTOM);
    pen.stroke();
    this.tell();
    canvas.dataset.cursor = x(this.now).toFixed(1);
  }

  /** The values where the timeline stands. */
  private tell() {
    const { log, group } = this;
    if (!log || !group) return;
    let at = 0;
    let end = log.time.length - 1;
    while (at < end) {
      const middle = (at + end + 1) >> 1;
      if (log.time[middle] <= this.now + 1e-9) at = middle;
      else end = middle - 1;
    }
    this.legend.replaceChildren(
      ...group.curves.map(([name, label], k) => {
        const item = document.createElement("span");
        const dot = document.createElement("i");
        dot.style.background = COLOURS[k % COLOURS.length];
        const value = log.curves.get(name)?.[at];
        item.append(dot, `${label} ${value === undefined || Number.isNaN(value) ? "–" : shortNumber(value)} ${group.unit}`);
        return item;
      }),
    );
  }
}

const [LEFT, RIGHT, TOP, BOTTOM] = [64, 12, 6, 20];

function ticks(low: number, high: number, count: number): number[] {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((candidate) => candidate >= rough) ?? 10 * power;
  const found: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= high && found.length < 50; k++) found.push(k * step);
  return found;
}
