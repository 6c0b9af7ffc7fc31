// What a person does with the viewer, in a real browser with software rendering.

import { closeSync, openSync, rmSync, symlinkSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, type Page, test } from "@playwright/test";
import { remove, run, type Server, serve, temporary, write } from "./program";

let folder: string;
let server: Server;

const ready = (page: Page) => expect(page.locator(".viewer")).toHaveAttribute("data-state", "ready");
const atFrame = (page: Page, frame: number) => expect(page.locator(".viewer")).toHaveAttribute("data-frame", String(frame));
/** Number of the run with this name. */
async function id(page: Page, name: string): Promise<number> {
  const start = await (await page.request.get(`${server.base}api/start`)).json();
  return start.runs.find((run: { name: string }) => run.name === name).id;
}
async function open(page: Page, name: string, rest = "") {
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(`${server.base}#run=${await id(page, name)}${rest}`);
  await expect(page.locator(".viewer")).toHaveAttribute("data-state", /ready|error/);
  expect(errors).toEqual([]);
}

/** Share of the pixels that differ visibly. */
const difference = (page: Page, one: Buffer, other: Buffer): Promise<number> =>
  page.evaluate(
    async (pictures) => {
      const pixels = async (picture: string) => {
        const image = new Image();
        image.src = `data:image/png;base64,${picture}`;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const pen = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
        pen.drawImage(image, 0, 0);
        return pen.getImageData(0, 0, image.width, image.height).data;
      };
      const [a, b] = await Promise.all(pictures.map(pixels));
      let different = 0;
      for (let i = 0; i < a.length; i += 4) if ([0, 1, 2].some((k) => Math.abs(a[i + k] - b[i + k]) > 24)) different++;
      return a.length === b.length ? different / (a.length / 4) : 1;
    },
    [one, other].map((picture) => picture.toString("base64")),
  );

test.beforeAll(async () => {
  test.setTimeout(240_000);
  folder = temporary();
  write(folder, "everything", "pile", "smoke");
  run("run", "quickstart", "--quiet", "--out", join(folder, "quickstart"));
  run("run", "quickstart-2d", "--quiet", "--out", join(folder, "plane"));
  server = await serve("view", "--runs", folder);
});

test.afterAll(() => {
  server?.stop();
  if (folder) remove(folder);
});

test("a finished run: scrub, step, play, pause", async ({ page }) => {
  await open(page, "quickstart");
  await atFrame(page, 0);
  await expect(page.getByTestId("status")).toHaveText("finished");
  await page.getByTestId("timeline").fill("30");
  await atFrame(page, 30);
  await expect(page.getByTestId("time")).toContainText("1.000 s");
  await page.getByTestId("step").click();
  await atFrame(page, 31);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await atFrame(page, 29);
  await page.keyboard.press("End");
  await atFrame(page, 60);
  await page.keyboard.press("Home");
  await atFrame(page, 0);
  await page.keyboard.press("Space");
  await expect(page.locator(".viewer")).toHaveAttribute("data-playing", "1");
  await expect.poll(async () => Number(await page.locator(".viewer").getAttribute("data-frame"))).toBeGreaterThan(5);
  await page.getByTestId("play").click();
  await ready(page);
  const stopped = await page.locator(".viewer").getAttribute("data-frame");
  await page.waitForTimeout(400);
  expect(await page.locator(".viewer").getAttribute("data-frame")).toBe(stopped);
});

test("plots follow the timeline, and lead it", async ({ page }) => {
  await open(page, "quickstart");
  const plot = page.getByTestId("plot");
  const cursor = async () => Number(await plot.getAttribute("data-cursor"));
  const before = await cursor();
  await page.getByTestId("timeline").fill("45");
  await atFrame(page, 45);
  await expect.poll(cursor).toBeGreaterThan(before + 100);
  await page.getByTestId("plot-momentum").click();
  await expect(page.locator(".plot-legend")).toContainText("kg m/s");
  const box = await plot.boundingBox();
  if (!box) throw new Error("no plot");
  // The axis is between 64 pixels from the left and 12 from the right; a quarter of 2 s is frame 15.
  await page.mouse.click(box.x + 64 + 0.25 * (box.width - 76), box.y + 40);
  await atFrame(page, 15);
});

test("picking tells name, mass, velocity and energy", async ({ page }) => {
  await open(page, "everything", "&camera=0,0.6,6,0,0.6,0");
  const canvas = page.locator(".stage canvas");
  const box = await canvas.boundingBox();
  if (!box) throw new Error("no canvas");
  // The box is in the middle: seen from (0, 0.6, 6) its centre (0, 0.5, 0.6) is 0.1 / 5.4 / 0.3 of half the height below the middle.
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2 + (0.1 / 5.4 / 0.3) * (box.height / 2));
  const picked = page.getByTestId("picked");
  await expect(picked).toContainText("box");
  await expect(picked).toContainText("2 kg");
  await expect(picked).toContainText("kinetic energy");
  await expect(picked).toContainText("speed");
  await page.keyboard.press("Escape");
  await expect(picked).toContainText("Click a body");
});

test("colourings: by body, by speed, by a field of elements", async ({ page }) => {
  await open(page, "everything");
  await expect(page.getByTestId("legend")).toBeHidden();
  await page.getByTestId("colour").selectOption("velocity");
  await expect(page.getByTestId("legend")).toContainText("speed (m/s)");
  await page.getByTestId("colour").selectOption("volume error");
  await expect(page.getByTestId("legend")).toContainText("volume error");
  await page.keyboard.press("c");
  await expect(page.getByTestId("colour")).not.toHaveValue("volume error");
});

test("an address restores the view", async ({ page }) => {
  await open(page, "everything");
  await page.getByTestId("timeline").fill("2");
  await atFrame(page, 2);
  await page.getByTestId("colour").selectOption("velocity");
  const box = await page.locator(".stage canvas").boundingBox();
  if (!box) throw new Error("no canvas");
  await page.mouse.move(box.x + 300, box.y + 150);
  await page.mouse.down();
  await page.mouse.move(box.x + 380, box.y + 180, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => page.url()).toContain("camera=");
  await page.waitForTimeout(700);
  const address = page.url();
  const before = await page.locator(".stage").screenshot();
  await page.reload();
  await atFrame(page, 2);
  await ready(page);
  await expect(page.getByTestId("colour")).toHaveValue("velocity");
  await page.waitForTimeout(700);
  expect(page.url()).toBe(address);
  expect(await difference(page, before, await page.locator(".stage").screenshot())).toBeLessThan(0.002);
});

test("pictures: space, plane, smoke, dark and light", async ({ page }) => {
  await page.setViewportSize({ width: 900, height: 560 });
  const shoot = async (name: string) => {
    await ready(page);
    await page.waitForTimeout(800);
    await expect(page.locator(".stage")).toHaveScreenshot(`${name}.png`);
  };
  await open(page, "everything", "&frame=1&plots=0&colour=volume+error");
  await shoot("everything");
  await page.keyboard.press("t");
  await shoot("everything-light");
  await open(page, "smoke", "&plots=0");
  await shoot("smoke");
  await page.keyboard.press("z");
  await page.getByTestId("field").selectOption("speed");
  await page.keyboard.press("v");
  await shoot("smoke-slice");
  await open(page, "plane", "&plots=0&frame=0");
  await shoot("plane");
});

test("saving a picture", async ({ page }) => {
  await open(page, "everything");
  const saved = page.waitForEvent("download");
  await page.getByTestId("screenshot").click();
  expect((await saved).suggestedFilename()).toBe("everything-000000.png");
});

test("a live run: new frames appear and are followed", async ({ page }) => {
  const live = await serve("run", "quickstart", "--view", "--out", join(folder, "live"), "--until", "900", "--threads", "1");
  try {
    await page.goto(live.url);
    await expect(page.getByTestId("status")).toHaveText("live");
    await ready(page);
    const frame = async () => Number(await page.locator(".viewer").getAttribute("data-frame"));
    const first = await frame();
    await expect.poll(frame).toBeGreaterThan(first + 3);
    // Looking back ends following.
    await page.keyboard.press("Home");
    await atFrame(page, 0);
    await page.waitForTimeout(1600);
    expect(await frame()).toBe(0);
    live.stop();
    await expect(page.getByTestId("status")).toHaveText(/stopped|no connection/);
  } finally {
    live.stop();
  }
});

test("the start page: choose a scene, run it, watch it", async ({ page }) => {
  await page.goto(server.base);
  await page.getByLabel("Find a scene").fill("tumbling");
  await expect(page.locator(".card")).toHaveCount(1);
  await page.getByTestId("start-tumbling-box").click();
  await ready(page);
  await expect(page.locator(".title")).toHaveText("tumbling-box");
  await expect(page.getByTestId("status")).toHaveText(/live|finished/);
  await page.getByTestId("home").click();
  await expect(page.getByTestId("run-tumbling-box")).toBeVisible();
});

test("damaged, missing and foreign files: a message, and the server stays up", async ({ page }) => {
  write(join(folder, "broken"), "everything");
  const broken = join(folder, "broken/everything");
  const file = openSync(join(broken, "frames/frame-000002.spf"), "r+");
  writeSync(file, Buffer.from("damaged"), 0, 7, 300);
  closeSync(file);
  truncateSync(join(broken, "frames/frame-000001.spf"), 100);
  const other = await serve("view", broken);
  try {
    await page.goto(other.url);
    await ready(page);
    for (const frame of [1, 2]) {
      await page.getByTestId("timeline").fill(String(frame));
      await expect(page.getByTestId("message")).toContainText(`frame ${frame} cannot be shown`);
    }
    await page.getByTestId("timeline").fill("3");
    await atFrame(page, 3);
    await expect(page.getByTestId("message")).toBeHidden();
    // A run whose description is damaged while it is looked at.
    truncateSync(join(broken, "run.json"), 10);
    const told = await (await page.request.get(`${other.base}api/runs/0`)).json();
    expect(told.error).toContain("run.json");
    expect((await page.request.get(`${other.base}api/runs/0/frames/0`)).status()).toBe(200);
  } finally {
    other.stop();
  }
});

test("who has no token gets nothing, and no path leads out", async ({ request }) => {
  const status = async (path: string) => (await request.get(server.origin + path)).status();
  expect(await status("/")).toBe(403);
  expect(await status("/0123456789abcdef0123456789abcdef/")).toBe(403);
  expect(await status("/0123456789abcdef0123456789abcdef/api/start")).toBe(403);
  const token = new URL(server.base).pathname;
  for (const path of [
    "api/runs/0/frames/..%2f..%2frun.json",
    "api/runs/0/frames/%2e%2e/%2e%2e/run.json",
    "api/runs/..%2f..%2f/frames/0",
    "assets/..%2f..%2fCargo.toml",
    "assets/%2fetc%2fpasswd",
    "thumbnails/..%2f..%2fREADME.md",
    "api/runs/99/frames/0",
    "api/runs/0/frames/-1",
    "api/runs/0/frames/99999",
    "nowhere",
  ]) {
    expect(await status(token + path), path).toBe(404);
  }
  const scene = await request.post(`${server.base}api/scenes/..%2f..%2fetc%2fpasswd/run`);
  expect(scene.status()).toBe(404);
});

test("links that lead out of the run's folder are not followed", async ({ request }) => {
  write(join(folder, "linked"), "everything");
  const linked = join(folder, "linked/everything");
  const outside = join(folder, "secret.txt");
  writeFileSync(outside, "secret");
  for (const name of ["log.jsonl", "scene.original.toml", "frames/frame-000001.spf"]) {
    rmSync(join(linked, name));
    symlinkSync(outside, join(linked, name));
  }
  const other = await serve("view", linked);
  try {
    for (const path of ["log", "scene", "frames/1"]) {
      const answer = await request.get(`${other.base}api/runs/0/${path}`);
      expect(answer.status(), path).toBe(404);
      expect(await answer.text()).not.toContain("secret");
    }
    expect((await request.get(`${other.base}api/runs/0/frames/0`)).status()).toBe(200);
  } finally {
    other.stop();
  }
});

test("ranges and tags", async ({ request }) => {
  const address = `${server.base}api/runs/0/frames/0`;
  const whole = await request.get(address);
  const body = await whole.body();
  const tag = whole.headers().etag;
  const part = await request.get(address, { headers: { Range: "bytes=4-11" } });
  expect(part.status()).toBe(206);
  expect((await part.body()).equals(body.subarray(4, 12))).toBe(true);
  expect((await request.get(address, { headers: { Range: `bytes=${body.length}-` } })).status()).toBe(416);
  expect((await request.get(address, { headers: { "If-None-Match": tag } })).status()).toBe(304);
});

test("a wrong address shows words, not a blank page", async ({ page }) => {
  await page.goto(`${server.base}#run=77`);
  await expect(page.getByTestId("message")).toContainText("no run of that number");
});

test("10 000 bodies and 128^3 cells of smoke open and move", async ({ page }) => {
  test.setTimeout(240_000);
  for (const name of ["pile", "smoke"]) {
    const started = Date.now();
    await open(page, name, "&plots=0");
    await ready(page);
    const opened = Date.now() - started;
    // Turned by the keyboard's frame loop: one small step of the camera a picture.
    const rate = await page.evaluate(async () => {
      const canvas = document.querySelector(".stage canvas") as HTMLCanvasElement;
      const gl = canvas.getContext("webgl2") as WebGL2RenderingContext;
      const point = (type: string, x: number) =>
        canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: x, clientY: 300, button: 0, buttons: 1, bubbles: true }));
      canvas.setPointerCapture = () => {};
      canvas.releasePointerCapture = () => {};
      point("pointerdown", 300);
      const wait = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const pixel = new Uint8Array(4);
      const times: number[] = [];
      for (let i = 1; i <= 14; i++) {
        const before = performance.now();
        point("pointermove", 300 + 4 * i);
        await wait();
        // Reading a pixel waits until the picture is there.
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
        times.push(performance.now() - before);
      }
      point("pointerup", 360);
      return { first: 1000 / times[0], steady: 7000 / times.slice(-7).reduce((a, b) => a + b) };
    });
    const memory = await page.evaluate(() => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize);
    console.log(
      `${name}: open after ${(opened / 1000).toFixed(1)} s; software rendering ${rate.first.toFixed(1)} frames/s in full, ${rate.steady.toFixed(1)} while turning; ${Math.round(memory / 1e6)} MB of JavaScript heap`,
    );
    expect(opened).toBeLessThan(60_000);
    expect(rate.steady).toBeGreaterThan(0.2);
  }
});
