// The server's answers. Addresses are relative, so that the token in the path of the page is in every request.

export interface Session {
  started: string;
  ended?: string;
  threads: number;
  seconds: number;
}

export interface RunInfo {
  version: string;
  scene: string;
  dimension: number;
  status: "running" | "finished" | "interrupted" | "failed";
  message?: string;
  time: number;
  step: number;
  sessions: Session[];
}

export interface RunState {
  id: number;
  name: string;
  folder: string;
  live?: boolean;
  can_stop?: boolean;
  info?: RunInfo;
  error?: string;
  /** Numbers of the frames that are there, as ranges with both ends. */
  frames: [number, number][];
  last_frame?: number;
  interval?: number;
  log_bytes: number;
  timing_bytes: number;
  /** From where the scene wants to be looked at. */
  camera?: { from: [number, number, number]; up: [number, number, number]; zoom: number };
}

export interface SceneEntry {
  name: string;
  dimension: number;
  summary: string;
  picture: boolean;
}

export interface Start {
  version: string;
  can_run: boolean;
  opens: number | null;
  scenes: SceneEntry[];
  runs: RunState[];
}

/** An answer that is not what was asked for, with the server's own words. */
export class ServerError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

async function request(path: string, init?: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ServerError("The viewer's server does not answer. Is `splashdown view` still running?", 0);
  }
  if (answer.ok) return answer;
  let message = `${answer.status} ${answer.statusText}`;
  try {
    message = (await answer.json()).error ?? message;
  } catch {
    // Not our server's words: the status has to do.
  }
  throw new ServerError(message, answer.status);
}

export const getStart = async (): Promise<Start> => (await request("api/start")).json();
export const getRun = async (id: number): Promise<RunState> => (await request(`api/runs/${id}`)).json();
export const getScene = async (id: number): Promise<string> => (await request(`api/runs/${id}/scene`)).text();
export const startScene = async (name: string): Promise<number> =>
  (await (await request(`api/scenes/${encodeURIComponent(name)}/run`, { method: "POST" })).json()).id;
export const stopRun = async (id: number): Promise<unknown> =>
  (await request(`api/runs/${id}/stop`, { method: "POST" })).json();

/** Bytes of a frame or of the log from `start` on, up to and without `end`, and how many there are in all. */
export async function getBytes(
  path: string,
  start: number,
  end?: number,
  signal?: AbortSignal,
): Promise<{ start: number; bytes: ArrayBuffer; total: number }> {
  const last = end === undefined ? "" : String(end - 1);
  const answer = await request(path, { headers: { Range: `bytes=${start}-${last}` }, signal });
  const bytes = await answer.arrayBuffer();
  const range = /bytes (\d+)-\d+\/(\d+)/.exec(answer.headers.get("Content-Range") ?? "");
  return range
    ? { start: Number(range[1]), bytes, total: Number(range[2]) }
    : { start: 0, bytes, total: bytes.byteLength };
}
