// The keyboard.

import { h } from "./dom";

/** Keys and what they do, also the text of the help. */
const KEYS: [string, string][] = [
  ["Space", "play or pause"],
  ["← →", "one frame back or on (with Shift ten)"],
  ["Home End", "first or last frame"],
  ["[ ]", "slower or faster"],
  ["F", "fit everything, or what is picked"],
  ["C", "next colouring"],
  ["V", "arrows: velocity, or the vector that colours show"],
  ["K", "contacts and their forces"],
  ["X Y Z", "slice across an axis, again: none"],
  ["G", "ground"],
  ["E", "edges of meshes"],
  ["P", "plots"],
  ["I", "panel"],
  ["S", "save a picture"],
  ["L", "copy a link to this view"],
  ["T", "dark or light"],
  ["Esc", "pick nothing"],
  ["?", "this help"],
];

export function helpDialog(): HTMLElement {
  return h(
    "div",
    { class: "help", hidden: true, role: "dialog", "aria-label": "Keys" },
    h("h2", {}, "Keys"),
    h("dl", {}, ...KEYS.flatMap(([key, what]) => [h("dt", {}, ...key.split(" ").map((k) => h("kbd", {}, k))), h("dd", {}, what)])),
    h("p", {}, "Drag to turn, right drag to pan, wheel to zoom, click to pick. On a tablet: one finger turns, two pan and zoom."),
  );
}

/** Runs the action of a key, unless the key belongs to a field that is being edited; `slider` is the timeline, whose arrows step frames. */
export function press(event: KeyboardEvent, actions: Record<string, () => void>, slider: HTMLElement): void {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && target.type !== "checkbox" && target.type !== "range")) return;
  if (target instanceof HTMLInputElement && target.type === "range" && target !== slider && event.key.startsWith("Arrow")) return;
  const action = actions[event.key] ?? actions[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  action();
}
