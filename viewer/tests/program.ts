// Starts the program and the viewer's server for the tests.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const target = resolve(import.meta.dirname, "../../target/debug");
export const program = process.env.SPLASHDOWN ?? join(target, "splashdown");
const synthetic = process.env.SYNTHETIC_RUNS ?? join(target, "examples/synthetic_runs");

export const temporary = (): string => mkdtempSync(join(tmpdir(), "splashdown-viewer-"));
export const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** Runs a command of the program to its end. */
export const run = (...words: string[]): void => void execFileSync(program, words, { stdio: "pipe" });
/** Writes run folders that no physics has to be computed for. */
export const write = (folder: string, ...names: string[]): void => void execFileSync(synthetic, [folder, ...names], { stdio: "pipe" });

export interface Server {
  /** Address with the token, ends with a slash. */
  base: string;
  url: string;
  origin: string;
  process: ChildProcess;
  stop(): void;
}

/** Starts a command that prints the viewer's address. */
export function serve(...words: string[]): Promise<Server> {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"] });
  return new Promise((done, failed) => {
    let text = "";
    const hear = (chunk: Buffer) => {
      text += chunk.toString();
      const url = /viewer at (http:\/\/\S+)/.exec(text)?.[1];
      if (url) {
        const base = url.replace(/#.*/, "");
        done({ base, url, origin: new URL(url).origin, process: child, stop: () => child.kill("SIGKILL") });
      }
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", (code) => failed(new Error(`${words.join(" ")} ended with ${code}: ${text}`)));
  });
}
