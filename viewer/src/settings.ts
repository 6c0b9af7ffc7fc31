// What is looked at and how: everything that a link to a view restores.

export interface Settings {
  /** `body`, or the name of a field on bodies, points or meshes. */
  colour: string;
  /** Ends of the colour scale; `null` follows the frames. */
  range: [number, number] | null;
  /** Names of parts that are not shown. */
  hidden: string[];
  /** Field of the grid that the slice shows; empty for the obvious one. */
  field: string;
  /** Axis across which the grid is cut. */
  slice: "off" | "x" | "y" | "z";
  /** Where it is cut, from 0 to 1. */
  at: number;
  volume: boolean;
  vectors: boolean;
  /** Contacts and their forces. */
  contacts: boolean;
  streamlines: boolean;
  ground: boolean;
  shadows: boolean;
  edges: boolean;
  plots: boolean;
  panel: boolean;
  plot: string;
  speed: number;
  loop: boolean;
}

export const DEFAULTS: Settings = {
  colour: "body",
  range: null,
  hidden: [],
  field: "",
  slice: "off",
  at: 0.5,
  volume: true,
  vectors: false,
  contacts: false,
  streamlines: false,
  ground: true,
  shadows: true,
  edges: false,
  plots: true,
  panel: true,
  plot: "energy",
  speed: 1,
  loop: true,
};

export interface ViewState {
  run: number | null;
  frame: number | null;
  /** Eye and target, and for parallel views the half height. */
  camera: number[] | null;
  /** Part and index of what is picked. */
  picked: [string, number] | null;
  settings: Settings;
}

const short = (x: number) => String(Number(x.toPrecision(6)));

/** The part of the address after `#`: only what differs from the defaults. */
export function toHash(state: ViewState): string {
  const out = new URLSearchParams();
  if (state.run !== null) out.set("run", String(state.run));
  if (state.frame !== null) out.set("frame", String(state.frame));
  if (state.camera) out.set("camera", state.camera.map(short).join(","));
  if (state.picked) out.set("picked", `${state.picked[1]}:${state.picked[0]}`);
  for (const key of Object.keys(DEFAULTS) as (keyof Settings)[]) {
    const value = state.settings[key];
    if (JSON.stringify(value) === JSON.stringify(DEFAULTS[key])) continue;
    if (typeof value === "boolean") out.set(key, value ? "1" : "0");
    else if (Array.isArray(value)) out.set(key, JSON.stringify(value));
    else out.set(key, String(value));
  }
  return out.toString();
}

function numbers(text: string | null): number[] | null {
  if (!text) return null;
  const found = text.split(",").map(Number);
  return found.every(Number.isFinite) ? found : null;
}

/** Reads an address; whatever makes no sense is as if it were not there. */
export function fromHash(hash: string): ViewState {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const whole = (key: string) => {
    const text = given.get(key);
    return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
  };
  const settings: Settings = { ...DEFAULTS };
  const into = settings as unknown as Record<string, unknown>;
  for (const key of Object.keys(DEFAULTS) as (keyof Settings)[]) {
    const text = given.get(key);
    if (text === null) continue;
    const usual = DEFAULTS[key];
    if (typeof usual === "boolean") into[key] = text === "1";
    else if (typeof usual === "number") {
      if (text !== "" && Number.isFinite(Number(text))) into[key] = Number(text);
    } else if (key === "range" || key === "hidden") {
      try {
        const value: unknown = JSON.parse(text);
        const kind = key === "range" ? "number" : "string";
        if (Array.isArray(value) && value.every((item) => typeof item === kind) && (key !== "range" || value.length === 2)) {
          into[key] = value;
        }
      } catch {
        // Not a list.
      }
    } else into[key] = text;
  }
  if (!["off", "x", "y", "z"].includes(settings.slice)) settings.slice = "off";
  settings.at = Math.min(Math.max(settings.at, 0), 1);
  settings.speed = Math.min(Math.max(settings.speed, 0.01), 100);
  const camera = numbers(given.get("camera"));
  const picked = /^(\d{1,12}):(.*)$/s.exec(given.get("picked") ?? "");
  return {
    run: whole("run"),
    frame: whole("frame"),
    camera: camera && (camera.length === 6 || camera.length === 7) ? camera : null,
    picked: picked ? [picked[2], Number(picked[1])] : null,
    settings,
  };
}
