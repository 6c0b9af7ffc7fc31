import { defineConfig } from "@playwright/test";

// Debian's Chromium with software rendering: what `./check` installs, and the same pictures on every machine.
export default defineConfig({
  testDir: "tests",
  timeout: 90_000,
  workers: 1,
  retries: 0,
  reporter: [["list"]],
  expect: { timeout: 30_000, toHaveScreenshot: { maxDiffPixelRatio: 0.02, threshold: 0.15 } },
  snapshotPathTemplate: "tests/pictures/{arg}{ext}",
  use: {
    viewport: { width: 1280, height: 720 },
    colorScheme: "dark",
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--use-gl=angle",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--ignore-gpu-blocklist",
        "--enable-precise-memory-info",
      ],
    },
  },
});
