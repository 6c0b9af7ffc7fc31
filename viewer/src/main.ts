import "./style.css";
import "./theme";
import { getStart } from "./api";
import { h } from "./dom";
import { fromHash } from "./settings";
import { StartPage } from "./start";
import { Viewer } from "./viewer";

const app = document.getElementById("app") as HTMLElement;
let viewer: Viewer | null = null;

function fail(text: string): void {
  app.replaceChildren(h("div", { class: "fatal", role: "alert", "data-testid": "message" }, h("strong", {}, "The viewer cannot start"), h("p", {}, text)));
}

/** What the address says: a run, or the start page. */
async function route(): Promise<void> {
  const state = fromHash(location.hash);
  viewer?.close();
  viewer = null;
  let canRun = false;
  try {
    const start = await getStart();
    canRun = start.can_run || start.runs.length > 1;
    if (state.run === null && start.opens !== null && !start.can_run) state.run = start.opens;
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
    return;
  }
  if (state.run === null) {
    app.replaceChildren(new StartPage((id) => (location.hash = `run=${id}`)).element);
    return;
  }
  try {
    viewer = new Viewer(state.run, state, canRun ? () => (location.hash = "") : null);
    app.replaceChildren(viewer.element);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    fail(/webgl/i.test(reason) ? `This browser gives no WebGL 2, which the pictures need. (${reason})` : reason);
  }
}

window.addEventListener("hashchange", () => void route());
void route();
