// What a person does with the viewer, in a real browser with software rendering.

import { closeSync, openSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
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
  run("run", "mixed-heap", "--quiet", "--until", "2", "--out", join(folder, "heap"));
  run("run", "jelly-2d", "--quiet", "--until", "0.5", "--out", join(folder, "jelly"));
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

test("time per stage is plotted, apart from the log", async ({ page }) => {
  await open(page, "heap", "&plot=stages");
  await expect(page.getByTestId("plot-stages")).toHaveAttribute("aria-selected", "true");
  await page.getByTestId("timeline").fill("50");
  await atFrame(page, 50);
  await expect(page.locator(".plot-legend")).toContainText(/contact \d.* ms a step/);
  // A run that has not measured them has no such plot.
  await open(page, "everything");
  await expect(page.getByTestId("plot-energy")).toBeVisible();
  await expect(page.getByTestId("plot-stages")).toHaveCount(0);
});

test("contacts: where bodies press on each other, and how hard", async ({ page }) => {
  await open(page, "heap", "&frame=60&plots=0&panel=1");
  const before = await page.locator(".stage").screenshot();
  await page.keyboard.press("k");
  await ready(page);
  await expect(page.getByLabel("contacts and their forces")).toBeChecked();
  await page.waitForTimeout(600);
  expect(await difference(page, before, await page.locator(".stage").screenshot())).toBeGreaterThan(0.001);
  await expect.poll(() => page.url()).toContain("contacts=1");
});

test("solids by stress, strain and volume error", async ({ page }) => {
  await open(page, "jelly", "&frame=15");
  for (const [field, words] of [["stress", "stress (N/m)"], ["strain", "strain"], ["volume error", "volume error"]]) {
    await page.getByTestId("colour").selectOption(field);
    await expect(page.getByTestId("legend")).toContainText(words);
  }
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

test("a tablet: everything is there, and fingers turn, step and pick", async ({ browser }) => {
  const context = await browser.newContext({ viewport: { width: 820, height: 1180 }, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  await open(page, "everything", "&camera=0,0.6,6,0,0.6,0");
  for (const name of ["play", "step", "timeline", "colour", "plot", "status"]) {
    const box = await page.getByTestId(name).boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= 821 && box.y + box.height <= 1181, name).toBe(true);
  }
  // Nothing has to be scrolled sideways.
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(820);
  await page.getByTestId("step").tap();
  await atFrame(page, 1);
  const canvas = await page.locator(".stage canvas").boundingBox();
  if (!canvas) throw new Error("no canvas");
  await page.touchscreen.tap(canvas.x + canvas.width / 2, canvas.y + canvas.height / 2 + (0.1 / 5.4 / 0.3) * (canvas.height / 2));
  await expect(page.getByTestId("picked")).toContainText("box");
  const before = await page.locator(".stage canvas").screenshot();
  const touch = await context.newCDPSession(page);
  const at = (x: number) => [{ x: canvas.x + x, y: canvas.y + 200 }];
  await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: at(200) });
  for (let i = 1; i <= 5; i++) await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: at(200 + 40 * i) });
  await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await page.waitForTimeout(1200);
  expect(await difference(page, before, await page.locator(".stage canvas").screenshot())).toBeGreaterThan(0.02);
  await context.close();
});

test("every key does what the help says", async ({ page }) => {
  await open(page, "smoke", "&plots=0");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog", { name: "Keys" })).toBeHidden();
  for (const [key, word] of [["x", "slice=x"], ["v", "vectors=1"], ["g", "ground=0"], ["e", "edges=1"], ["p", "plots=0"], ["i", "panel=0"], ["]", "speed=2"]]) {
    const had = page.url().includes(word);
    await page.keyboard.press(key);
    await expect.poll(() => page.url().includes(word), key).toBe(!had);
  }
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.keyboard.press("t");
  await expect.poll(() => page.evaluate(() => getComputedStyle(document.body).backgroundColor)).not.toBe(dark);
});

test("the scene's camera is where one looks from", async ({ page }) => {
  const scene = readFileSync(join(folder, "heap/scene.toml"), "utf8");
  const camera = async () => {
    await open(page, "heap", "&frame=0");
    await page.getByTestId("link").click();
    await expect.poll(() => page.url()).toContain("camera=");
    return decodeURIComponent(/camera=([^&]*)/.exec(page.url())?.[1] ?? "").split(",").map(Number);
  };
  const usual = await camera();
  expect(usual[2] - usual[5]).toBeGreaterThan(Math.abs(usual[0] - usual[3]));
  writeFileSync(join(folder, "heap/scene.toml"), `${scene}\n[camera]\nfrom = [1.0, 0.2, 0.0]\n`);
  const other = await serve("view", join(folder, "heap"));
  try {
    await page.goto(other.url);
    await ready(page);
    await page.getByTestId("link").click();
    await expect.poll(() => page.url()).toContain("camera=");
    const eye = decodeURIComponent(/camera=([^&]*)/.exec(page.url())?.[1] ?? "").split(",").map(Number);
    expect(eye[0] - eye[3]).toBeGreaterThan(10 * Math.abs(eye[2] - eye[5]));
  } finally {
    other.stop();
    writeFileSync(join(folder, "heap/scene.toml"), scene);
  }
});

test("a film plays in the browser and shows the pictures that it was made of", async ({ page }) => {
  const [film, pictures] = [join(folder, "film.mp4"), join(folder, "pictures")];
  const size = ["--width", "320", "--height", "180", "--quiet"];
  run("render", join(folder, "heap"), "--frames", "0..20", ...size, "--out", film);
  run("render", join(folder, "heap"), "--frames", "0..20", ...size, "--out", pictures);
  const shown = await page.evaluate(async (film) => {
    const video = document.createElement("video");
    video.muted = true;
    video.src = `data:video/mp4;base64,${film}`;
    await new Promise((done, failed) => {
      video.onloadeddata = done;
      video.onerror = () => failed(new Error(video.error?.message));
    });
    // The middle of the last picture's time.
    video.currentTime = video.duration - 1 / 60;
    await new Promise((done) => (video.onseeked = done));
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
    (canvas.getContext("2d") as CanvasRenderingContext2D).drawImage(video, 0, 0);
    return { duration: video.duration, picture: canvas.toDataURL().split(",")[1] };
  }, readFileSync(film).toString("base64"));
  expect(shown.duration).toBeCloseTo(21 / 30, 2);
  const drawn = readFileSync(join(pictures, "frame-000020.png"));
  expect(await difference(page, Buffer.from(shown.picture, "base64"), drawn)).toBeLessThan(0.01);
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
  forgeHugeFrame(join(broken, "frames/frame-000003.spf"));
  const other = await serve("view", broken);
  try {
    await page.goto(other.url);
    await ready(page);
    for (const frame of [1, 2]) {
      await page.getByTestId("timeline").fill(String(frame));
      await expect(page.getByTestId("message")).toContainText(`frame ${frame} cannot be shown`);
    }
    await page.getByTestId("timeline").fill("3");
    await expect(page.getByTestId("message")).toContainText("frame 3 is too large to show");
    expect((await page.request.get(`${other.base}api/runs/0/frames/3`)).status()).toBe(413);
    await page.getByTestId("timeline").fill("0");
    await atFrame(page, 0);
    await expect(page.getByTestId("message")).toBeHidden();
    // The address, which a reload goes by, follows a moment later.
    await expect(page).not.toHaveURL(/frame=3/);
    // Frames that vanish, and a folder that does.
    rmSync(join(broken, "frames/frame-000002.spf"));
    expect((await page.request.get(`${other.base}api/runs/0/frames/2`)).status()).toBe(404);
    // A run whose description is damaged while it is looked at.
    truncateSync(join(broken, "run.json"), 10);
    const told = await (await page.request.get(`${other.base}api/runs/0`)).json();
    expect(told.error).toContain("run.json");
    expect((await page.request.get(`${other.base}api/runs/0/frames/0`)).status()).toBe(200);
    writeFileSync(join(broken, "log.jsonl"), "{\"time\": 0, \"total_energy\": 1}\nnot json\n\u0000\u0001\n");
    await page.reload();
    await ready(page);
    rmSync(broken, { recursive: true });
    expect((await page.request.get(`${other.base}api/runs/0`)).status()).toBe(200);
    expect((await page.request.get(`${other.base}api/start`)).status()).toBe(200);
  } finally {
    other.stop();
  }
});

/** Writes into a frame that one of its arrays has 10^11 entries; its checksum is right. */
function forgeHugeFrame(path: string) {
  const file = readFileSync(path);
  const length = file.readUInt32LE(12);
  const header = JSON.parse(file.subarray(16, 16 + length).toString());
  header.parts[0].arrays[0].shape[0] = 1e11;
  const text = Buffer.from(JSON.stringify(header));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(text.length);
  const start = Buffer.concat([file.subarray(0, 12), size, text]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32(start));
  writeFileSync(path, Buffer.concat([start, sum, file.subarray(16 + length + 4)]));
}

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
  // Runs have numbers once they have been asked for.
  expect((await request.get(`${server.base}api/start`)).status()).toBe(200);
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

test("a large surface comes coarsely first, and in full when it stands still", async ({ page }) => {
  test.setTimeout(240_000);
  const large = join(folder, "large");
  write(large, "surface");
  const other = await serve("view", join(large, "surface"));
  try {
    // What is large waits until the coarse picture was seen, however fast the machine.
    const LARGE = 4e6;
    const [early, late]: [number[], number[]] = [[], []];
    let coarseSeen = () => {};
    const wait = new Promise<void>((resolve) => {
      coarseSeen = resolve;
    });
    await page.route(/\/frames\/0/, async (route) => {
      const [from, to] = (route.request().headers().range ?? "bytes=0-Infinity").replace("bytes=", "").split("-").map(Number);
      const size = to - from + 1;
      (size > LARGE ? late : early).push(size);
      if (size > LARGE) await wait;
      await route.continue();
    });
    await page.goto(`${other.url}&plots=0`);
    const viewer = page.locator(".viewer");
    await expect(viewer).toHaveAttribute("data-detail", "coarse");
    coarseSeen();
    await expect(viewer).toHaveAttribute("data-detail", "full");
    const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0);
    expect(sum(late)).toBeGreaterThan(0);
    expect(sum(early)).toBeLessThan(0.1 * (sum(early) + sum(late)));
    await ready(page);
    // While it plays it is coarse.
    await page.keyboard.press("Space");
    await expect(viewer).toHaveAttribute("data-detail", "coarse");
    await page.keyboard.press("Space");
    await expect(viewer).toHaveAttribute("data-detail", "full");
  } finally {
    other.stop();
  }
});

test("10 000 bodies, 128^3 cells of smoke and 2 million triangles open and move", async ({ page }) => {
  test.setTimeout(400_000);
  write(folder, "surface");
  for (const name of ["pile", "smoke", "surface"]) {
    await page.goto("about:blank");
    const started = Date.now();
    await page.goto(`${server.base}#run=${await id(page, name)}&plots=0`);
    await atFrame(page, 0);
    const seen = Date.now() - started;
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
      `${name}: seen after ${(seen / 1000).toFixed(1)} s, in full after ${(opened / 1000).toFixed(1)} s; software rendering ${rate.first.toFixed(1)} frames/s in full, ${rate.steady.toFixed(1)} while turning; ${Math.round(memory / 1e6)} MB of JavaScript heap`,
    );
    expect(opened).toBeLessThan(60_000);
    expect(rate.steady).toBeGreaterThan(0.2);
  }
});
