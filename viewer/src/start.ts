// The start page: shipped scenes with pictures, and the runs that are there.

import { getStart, type RunState, type SceneEntry, startScene } from "./api";
import { h, icon, shown } from "./dom";
import { toggleTheme } from "./theme";
import { describe } from "./panel";

export class StartPage {
  readonly element = h("div", { class: "start" });
  private readonly cards = h("div", { class: "cards" });
  private readonly runs = h("div", { class: "runs" });
  private readonly note = h("p", { class: "message-line", role: "alert", "data-testid": "start-message" });
  private readonly search = h("input", { type: "search", placeholder: "Find a scene", "aria-label": "Find a scene" });
  private scenes: SceneEntry[] = [];
  private canRun = false;
  private filter: "all" | "2D" | "3D" = "all";

  constructor(private readonly open: (id: number) => void) {
    const filters = h("div", { class: "segments", role: "group", "aria-label": "Dimension" });
    for (const choice of ["all", "2D", "3D"] as const) {
      filters.append(
        h("button", { type: "button", "aria-pressed": String(choice === this.filter), onClick: (event: Event) => {
          this.filter = choice;
          for (const button of filters.children) button.setAttribute("aria-pressed", String(button === event.currentTarget));
          this.draw();
        } }, choice),
      );
    }
    this.search.addEventListener("input", () => this.draw());
    this.element.append(
      h("header", { class: "start-top" }, h("img", { src: "assets/icon.svg", alt: "", width: 36, height: 36 }), h("div", {}, h("h1", {}, "Splashdown"), h("p", { class: "quiet" }, "Rigid bodies, soft bodies, cloth, smoke and water in one simulator. Choose a scene, press run, watch.")), h("span", { class: "grow" }), icon("theme", "Dark or light", toggleTheme)),
      this.note,
      this.runs,
      h("div", { class: "start-bar" }, h("h2", {}, "Scenes"), h("span", { class: "grow" }), filters, this.search),
      this.cards,
    );
    void this.load();
  }

  private async load() {
    try {
      const start = await getStart();
      this.scenes = start.scenes;
      this.canRun = start.can_run;
      this.drawRuns(start.runs);
      this.draw();
      document.title = "Splashdown";
    } catch (error) {
      this.note.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  private drawRuns(runs: RunState[]) {
    if (runs.length === 0) return;
    this.runs.replaceChildren(
      h("div", { class: "start-bar" }, h("h2", {}, "Runs")),
      h("div", { class: "run-list" }, ...runs.map((run) => {
        const [word, look] = describe(run);
        const frames = run.frames.reduce((sum, [first, last]) => sum + last - first + 1, 0);
        return h("button", { type: "button", class: "run", onClick: () => this.open(run.id), "data-testid": `run-${run.name}` },
          h("strong", {}, run.name),
          h("span", { class: `chip ${look}` }, word),
          h("small", { class: "quiet" }, run.info ? `${frames} frames · t = ${shown(run.info.time)} s` : (run.error ?? "")),
        );
      })),
    );
  }

  private draw() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (scene: SceneEntry) =>
      (this.filter === "all" || this.filter === `${scene.dimension}D`) && words.every((word) => `${scene.name} ${scene.summary}`.toLowerCase().includes(word));
    const found = this.scenes.filter(fits);
    this.cards.replaceChildren(...found.map((scene) => this.card(scene)));
    if (found.length === 0) this.cards.append(h("p", { class: "quiet" }, "No scene fits."));
  }

  private card(scene: SceneEntry): HTMLElement {
    const picture = scene.picture
      ? h("img", { src: `thumbnails/${scene.name}.jpg`, alt: "", loading: "lazy", width: 320, height: 180 })
      : h("div", { class: "no-picture" }, `${scene.dimension}D`);
    const run = h("button", { type: "button", class: "primary", disabled: !this.canRun, "data-testid": `start-${scene.name}`, onClick: () => void this.start(scene.name, run) }, "Run");
    return h("article", { class: "card" }, h("div", { class: "picture" }, picture, h("span", { class: "badge" }, `${scene.dimension}D`)), h("div", { class: "card-text" }, h("h3", {}, scene.name), h("p", { class: "quiet" }, scene.summary), run));
  }

  private async start(name: string, button: HTMLButtonElement) {
    button.disabled = true;
    button.textContent = "Starting …";
    this.note.textContent = "";
    try {
      this.open(await startScene(name));
    } catch (error) {
      this.note.textContent = error instanceof Error ? error.message : String(error);
      button.disabled = false;
      button.textContent = "Run";
    }
  }
}
