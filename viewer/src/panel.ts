// The panel beside the picture: what is shown and how, what is picked, how the run stands.

import { type RunState } from "./api";
import { ofBody, ofLiquid, type Rgb, type Scale, toByte, WATER } from "./colours";
import { h, shown } from "./dom";
import type { Frame, GridPart } from "./frames";
import { chosenField, sliceable } from "./parts/grid";
import { CONTACTS } from "./parts/contacts";
import { fieldOf } from "./parts/view";
import type { Settings } from "./settings";

/** Name of the part of all rigid bodies, as `splashdown-scene` writes it. */
const RIGID_BODIES = "rigid bodies";

/** What the panel asks of the viewer. */
export interface Host {
  readonly settings: Settings;
  set(change: Partial<Settings>): void;
  /** As `set`, while a slider is being dragged: the panel stays as it is. */
  adjust(change: Partial<Settings>): void;
  scale(frame: Frame): Scale;
  stopRun(): void;
  showScene(): void;
}

export class Panel {
  readonly element = h("aside", { class: "panel", "aria-label": "View" });
  /** What is picked; filled by the viewer. */
  readonly picked = h("div", { class: "facts", "data-testid": "picked" });
  private readonly runFacts = h("div", { class: "facts" });

  constructor(private readonly host: Host) {}

  private get settings(): Settings {
    return this.host.settings;
  }

  private set(change: Partial<Settings>) {
    this.host.set(change);
  }

  /** Draws the panel for a frame; what had the keyboard's attention keeps it. */
  draw(frame: Frame): void {
    const focused = this.element.contains(document.activeElement) ? document.activeElement?.getAttribute("aria-label") : null;
    const parts = frame.header.parts;
    const sections: Node[] = [];

    const fields = colourings(frame);
    if (parts.some((part) => part.kind !== "grid")) {
      const select = h("select", { "aria-label": "Colour by", "data-testid": "colour", onChange: () => this.set({ colour: select.value, range: null }) });
      for (const [name, label] of fields) select.append(h("option", { value: name }, label));
      select.value = this.settings.colour;
      sections.push(section("Colour by", select, this.settings.colour !== "body" && this.rangeInputs(frame)));
    }
    const grid = parts.find((part): part is GridPart => part.kind === "grid");
    if (grid) sections.push(this.gridSection(grid, frame.header.dimension === 2));
    sections.push(
      section(
        "Show",
        ...parts.filter((part) => part.name !== CONTACTS).map((part) => {
          const number = parts.indexOf(part);
          const liquids = parts.map((other) => other.name).filter((name) => name.startsWith("surface of "));
          const swatch = part.kind === "grid" ? null : (liquidColour(part.name, liquids) ?? ofBody(number));
          return this.check(part.name, !this.settings.hidden.includes(part.name), (on) => {
            const hidden = this.settings.hidden.filter((name) => name !== part.name);
            this.set({ hidden: on ? hidden : [...hidden, part.name] });
          }, part.kind === "bodies" ? `${part.count}` : "", part.kind === "bodies" ? null : swatch);
        }),
        parts.some((part) => part.kind === "bodies" && fieldOf(part, "velocity")) &&
          this.check("arrows on bodies", this.settings.vectors, (on) => this.set({ vectors: on })),
        parts.some((part) => part.name === RIGID_BODIES) && this.check("contacts and their forces", this.settings.contacts, (on) => this.set({ contacts: on })),
        frame.header.dimension === 3 && this.check("ground", this.settings.ground, (on) => this.set({ ground: on })),
        frame.header.dimension === 3 && this.check("shadows", this.settings.shadows, (on) => this.set({ shadows: on })),
        parts.some((part) => part.kind === "mesh" && part.triangles) && this.check("edges of meshes", this.settings.edges, (on) => this.set({ edges: on })),
      ),
      section("Picked", this.picked),
      section("Run", this.runFacts),
    );
    this.element.replaceChildren(...sections);
    if (focused) this.element.querySelector<HTMLElement>(`[aria-label="${focused}"]`)?.focus();
  }

  private rangeInputs(frame: Frame): HTMLElement {
    const scale = this.host.scale(frame);
    const fixed = this.settings.range !== null;
    const number = (value: number, label: string) =>
      h("input", { type: "number", step: "any", value: String(Number(value.toPrecision(4))), "aria-label": label, disabled: !fixed });
    const [low, high] = [number(scale.low, "Lowest"), number(scale.high, "Highest")];
    const change = () => {
      if (Number.isFinite(low.valueAsNumber) && Number.isFinite(high.valueAsNumber)) this.set({ range: [low.valueAsNumber, high.valueAsNumber] });
    };
    low.addEventListener("change", change);
    high.addEventListener("change", change);
    return h("div", { class: "row" }, low, "to", high, this.check("fixed", fixed, (on) => this.set({ range: on ? [scale.low, scale.high] : null })));
  }

  private gridSection(grid: GridPart, flat: boolean): HTMLElement {
    const names = sliceable(grid);
    const select = h("select", { "aria-label": "Field", "data-testid": "field", onChange: () => this.set({ field: select.value }) });
    for (const name of names) {
      const unit = fieldOf(grid, name)?.unit;
      select.append(h("option", { value: name }, unit && unit !== "1" ? `${name} (${unit})` : name));
    }
    select.value = chosenField(grid, this.settings);
    const axes = h("div", { class: "segments", role: "group", "aria-label": "Slice across" });
    for (const axis of ["off", "x", "y", "z"] as const) {
      const button = h("button", { type: "button", "aria-pressed": String(this.settings.slice === axis), onClick: () => this.set({ slice: axis }) }, axis === "off" ? "none" : axis);
      axes.append(button);
    }
    const at = h("input", { type: "range", min: "0", max: "1", step: "0.005", value: String(this.settings.at), "aria-label": "Where it is cut" });
    at.addEventListener("input", () => {
      this.host.adjust({ at: Number(at.value) });
    });
    const smoke = grid.fields.some((field) => field.name === "smoke" || field.name === "density");
    const sliced = flat || this.settings.slice !== "off";
    return section(
      "Fluid",
      !flat && smoke && this.check("smoke", this.settings.volume, (on) => this.set({ volume: on })),
      !flat && h("label", { class: "row" }, "slice", axes),
      sliced && h("label", { class: "row" }, flat ? "field" : "of", select),
      !flat && sliced && h("label", { class: "row" }, "at", at),
      fieldOf(grid, "velocity") && this.check("velocity arrows", this.settings.vectors, (on) => this.set({ vectors: on })),
      fieldOf(grid, "velocity") && this.check("streamlines", this.settings.streamlines, (on) => this.set({ streamlines: on })),
    );
  }

  private check(label: string, on: boolean, change: (on: boolean) => void, note = "", swatch: Rgb | null = null): HTMLElement {
    const box = h("input", { type: "checkbox", checked: on, "aria-label": label, onChange: () => change(box.checked) });
    const dot = swatch ? h("i", { class: "swatch" }) : null;
    if (dot && swatch) dot.style.background = `rgb(${swatch.map(toByte).join(" ")})`;
    return h("label", { class: "check" }, box, h("span", { class: "grow" }, label), note && h("small", {}, note), dot);
  }

  /** How the run stands. */
  drawRun(run: RunState, frames: number, step?: number): void {
    if (!run.info) return;
    const { info } = run;
    const rows: [string, string][] = [
      ["scene", info.scene],
      ["status", describe(run)[0]],
      ["frames", `${frames}${run.last_frame !== undefined ? ` of ${run.last_frame + 1}` : ""}`],
      ["steps", String(step ?? info.step)],
    ];
    const seconds = info.sessions.reduce((sum, session) => sum + (session.seconds || 0), 0);
    if (seconds > 0) rows.push(["computed in", `${shown(seconds)} s`]);
    rows.push(["folder", run.folder]);
    this.runFacts.replaceChildren(table(rows));
    if (info.message) this.runFacts.append(h("p", { class: "warning" }, info.message));
    if (run.can_stop) {
      this.runFacts.append(h("button", { type: "button", class: "wide", onClick: () => this.host.stopRun() }, "Stop the run"));
    }
    this.runFacts.append(h("button", { type: "button", class: "wide", onClick: () => this.host.showScene() }, "Scene file"));
  }
}

/** Everything that bodies, meshes and points can be coloured by. */
export function colourings(frame: Frame): [string, string][] {
  const found = new Map<string, string>([["body", "body"]]);
  for (const part of frame.header.parts) {
    if (part.kind === "grid" || part.name === CONTACTS) continue;
    for (const field of part.fields) {
      if (field.name === "normal" || field.name === "radius") continue;
      const label = field.name === "velocity" ? "speed" : field.components > 1 ? `size of ${field.name}` : field.name;
      found.set(field.name, field.unit === "1" ? label : `${label} (${field.unit})`);
    }
  }
  return [...found];
}

/** Colour of a part that is a liquid. */
export function liquidColour(name: string, surfaces: string[]): Rgb | null {
  const liquid = /^(?:surface|drops) of (.*)$/s.exec(name)?.[1];
  if (liquid !== undefined) return ofLiquid(liquid, Math.max(surfaces.indexOf(`surface of ${liquid}`), 0));
  return ["water", "liquid", "surface"].some((word) => name.includes(word)) ? WATER : null;
}

/** How a run stands: words and a look. */
export function describe(run: RunState): [string, string] {
  if (run.error && !run.info) return ["not readable", "failed"];
  switch (run.info?.status) {
    case "finished":
      return ["finished", "good"];
    case "interrupted":
      return ["interrupted", "paused"];
    case "failed":
      return ["failed", "failed"];
    default:
      return run.live ? ["live", "live"] : ["stopped", "paused"];
  }
}

function section(title: string, ...children: (Node | string | null | undefined | false)[]): HTMLElement {
  return h("section", { class: "section" }, h("h3", {}, title), ...children);
}

export function table(rows: [string, string][]): HTMLElement {
  return h("table", {}, h("tbody", {}, ...rows.map(([name, value]) => h("tr", {}, h("th", {}, name), h("td", {}, value)))));
}

