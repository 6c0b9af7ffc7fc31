// What colours mean, in a corner of the picture.

import { gradient, type Scale, scaleOf } from "./colours";
import { h, shown } from "./dom";
import type { Frame } from "./frames";
import { GridView } from "./parts/grid";
import { fieldOf, isShown, type PartView } from "./parts/view";
import type { Settings } from "./settings";

/** The colour scale of the chosen field over the parts that are shown. */
export function colourScale(frame: Frame, settings: Settings): { scale: Scale; unit: string } {
  let [low, high] = [Infinity, -Infinity];
  let unit = "";
  for (const part of frame.header.parts) {
    const field = part.kind === "grid" ? undefined : fieldOf(part, settings.colour);
    if (!field?.range || !isShown(part, settings)) continue;
    low = Math.min(low, field.components > 1 ? 0 : field.range[0]);
    high = Math.max(high, field.range[1]);
    unit = field.unit;
  }
  if (settings.range) return { scale: { low: settings.range[0], high: settings.range[1], signed: low < 0 && high > 0 }, unit };
  return { scale: low <= high ? scaleOf(low, high) : scaleOf(0, 1), unit };
}

/** Fills the legend. */
export function drawLegend(legend: HTMLElement, frame: Frame, settings: Settings, views: Iterable<PartView>): void {
  const bars: Node[] = [];
  const bar = (name: string, unit: string, scale: Scale) => {
    const ramp = h("div", { class: "ramp" });
    ramp.style.background = gradient(scale);
    const ends = [scale.low, (scale.low + scale.high) / 2, scale.high].map((value) => h("span", {}, shown(value)));
    bars.push(h("div", { class: "bar" }, h("div", { class: "bar-name" }, unit && unit !== "1" ? `${name} (${unit})` : name), ramp, h("div", { class: "ends" }, ...ends)));
  };
  const { colour } = settings;
  if (colour !== "body" && frame.header.parts.some((part) => part.kind !== "grid" && fieldOf(part, colour))) {
    const { scale, unit } = colourScale(frame, settings);
    bar(colour === "velocity" ? "speed" : colour, unit, scale);
  }
  for (const view of views) {
    if (view instanceof GridView && view.legend && view.object.visible) bar(view.legend.name, view.legend.unit, view.legend.scale);
  }
  legend.hidden = bars.length === 0;
  legend.replaceChildren(...bars);
}
