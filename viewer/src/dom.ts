// Elements in one line.

type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;

/** Makes an element: properties that are functions listen, `class`, `title`, `aria-*` and `data-*` are attributes, others are properties. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2).toLowerCase(), value as EventListener);
    else if (name === "class" || name.includes("-") || name === "role" || name === "for") element.setAttribute(name, String(value));
    else (element as unknown as Props)[name] = value;
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false));
  return element;
}

const PATHS: Record<string, string> = {
  play: "M7 4v16l13-8z",
  pause: "M6 4h4v16H6zM14 4h4v16h-4z",
  first: "M6 5h2v14H6zM20 5v14L9 12z",
  last: "M16 5h2v14h-2zM4 5v14l11-7z",
  back: "M17 5v14L7 12z",
  next: "M7 5v14l10-7z",
  fit: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
  camera: "M9 5l-1.5 2H4a1 1 0 0 0-1 1v10a1 1 0 0 0 1 1h16a1 1 0 0 0 1-1V8a1 1 0 0 0-1-1h-3.500L15 5zM12 9a4 4 0 1 1 0 8 4 4 0 0 1 0-8z",
  link: "M10 7H7a5 5 0 0 0 0 10h3v-2H7a3 3 0 0 1 0-6h3zM14 7h3a5 5 0 0 1 0 10h-3v-2h3a3 3 0 0 0 0-6h-3zM8 11h8v2H8z",
  theme: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 2a7 7 0 0 1 0 14z",
  help: "M11 17h2v2h-2zM12 5a4 4 0 0 0-4 4h2a2 2 0 1 1 3 1.700c-1.300.900-2 1.700-2 3.300h2c0-1 .400-1.400 1.300-2A4 4 0 0 0 12 5z",
  panel: "M3 5h18v14H3zM5 7v10h9V7z",
  plots: "M4 4h2v14h14v2H4zM8 15l4-5 3 3 5-7-1.600-1.200L14.800 10 12 7l-5.500 7z",
  home: "M4 11l8-7 8 7v9h-5v-6H9v6H4z",
  stop: "M6 6h12v12H6z",
  loop: "M7 7h9V4l5 4-5 4V9H7a3 3 0 0 0 0 6h1v2H7A5 5 0 0 1 7 7z",
};

/** A button with a picture. */
export function icon(name: keyof typeof PATHS | string, label: string, onClick: () => void, id?: string): HTMLButtonElement {
  const button = h("button", { class: "icon", type: "button", title: label, "aria-label": label, onClick });
  if (id) button.dataset.testid = id;
  setIcon(button, name);
  return button;
}

export function setIcon(button: HTMLButtonElement, name: string): void {
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  picture.setAttribute("viewBox", "0 0 24 24");
  picture.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", PATHS[name]);
  path.setAttribute("fill-rule", "evenodd");
  picture.append(path);
  button.replaceChildren(picture);
}

/** A number as people write it, four digits. */
export function shown(x: number): string {
  if (!Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  return size >= 1e6 || size < 1e-3 ? x.toExponential(3) : String(Number(x.toPrecision(4)));
}

/** A text over the page, until it is closed. */
export function showText(over: HTMLElement, text: string): void {
  const dialog = h("dialog", { class: "scene-file" }, h("pre", {}, text));
  dialog.append(h("button", { type: "button", onClick: () => dialog.close() }, "Close"));
  dialog.addEventListener("close", () => dialog.remove());
  over.append(dialog);
  dialog.showModal();
}

/** Saves a file as if a link to it had been followed. */
export function download(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  window.setTimeout(() => URL.revokeObjectURL(address), 10000);
}
