// Frames: fetched in ranges, only what is drawn, kept while there is room.

import { getBytes } from "./api";

/** Offset in bytes after the header, number of entries, type. */
export type ArrayRef = [number, number, "f32" | "u32" | "u8"];

export interface Field {
  name: string;
  unit: string;
  components: number;
  range: [number, number] | null;
  data: ArrayRef;
}

export type ShapeRef =
  | { kind: "ball"; radius: number }
  | { kind: "box"; edges: [number, number, number] }
  | { kind: "surface"; key: string; position: ArrayRef; triangles?: ArrayRef; lines?: ArrayRef };

export interface BodiesPart {
  kind: "bodies";
  name: string;
  count: number;
  names: ArrayRef;
  names_key: string;
  shapes: ShapeRef[];
  shape_of: ArrayRef;
  position: ArrayRef;
  rotation: ArrayRef;
  /** Bodies that nothing moves, or far larger than what is looked at: floors and walls. */
  surroundings?: number[];
  fields: Field[];
}
export interface PointsPart {
  kind: "points";
  name: string;
  position: ArrayRef;
  fields: Field[];
}
export interface MeshPart {
  kind: "mesh";
  name: string;
  position: ArrayRef;
  triangles?: ArrayRef;
  lines?: ArrayRef;
  particles: number;
  elements?: number;
  fields: Field[];
  /** The same with few triangles, if it is large. */
  coarse?: { position: ArrayRef; triangles: ArrayRef; fields: Field[] };
}
export interface GridPart {
  kind: "grid";
  name: string;
  origin: [number, number, number];
  spacing: number;
  cells: [number, number, number];
  fields: Field[];
}
export type Part = BodiesPart | PointsPart | MeshPart | GridPart;

export interface FrameHeader {
  dimension: number;
  index: number;
  step: number;
  time: number;
  bounds: [[number, number, number], [number, number, number]] | null;
  parts: Part[];
}

const FIRST = 256 << 10;
/** Ranges nearer than this are fetched as one. */
const GAP = 64 << 10;

/** One frame, of which some ranges of bytes are here. */
export class Frame {
  private readonly pieces: { start: number; bytes: ArrayBuffer }[] = [];

  private constructor(
    private readonly path: string,
    readonly header: FrameHeader,
    private readonly arraysAt: number,
    private readonly total: number,
  ) {}

  static async open(path: string, signal?: AbortSignal): Promise<Frame> {
    let got = await getBytes(path, 0, FIRST, signal);
    const view = new DataView(got.bytes);
    if (got.bytes.byteLength < 8 || view.getUint32(0, true) !== 0x31565053) {
      throw new Error("The server's answer is not a frame.");
    }
    const length = view.getUint32(4, true);
    if (8 + length > got.bytes.byteLength) got = await getBytes(path, 0, Math.max(8 + length, FIRST), signal);
    const text = new TextDecoder().decode(new Uint8Array(got.bytes, 8, length));
    const frame = new Frame(path, JSON.parse(text) as FrameHeader, 8 + length, got.total);
    frame.pieces.push(got);
    return frame;
  }

  /** Bytes held in memory. */
  get size(): number {
    return this.pieces.reduce((sum, piece) => sum + piece.bytes.byteLength, 0);
  }

  private place(ref: ArrayRef): [number, number] {
    const start = this.arraysAt + ref[0];
    return [start, start + ref[1] * (ref[2] === "u8" ? 1 : 4)];
  }

  private find(start: number, end: number) {
    return this.pieces.find((piece) => piece.start <= start && end <= piece.start + piece.bytes.byteLength);
  }

  /** Fetches the arrays that are not here yet. */
  async ensure(refs: ArrayRef[], signal?: AbortSignal): Promise<void> {
    const missing = refs
      .map((ref) => this.place(ref))
      .filter(([start, end]) => end > start && !this.find(start, end))
      .sort((a, b) => a[0] - b[0]);
    const ranges: [number, number][] = [];
    for (const [start, end] of missing) {
      const last = ranges[ranges.length - 1];
      if (last && start - last[1] < GAP) last[1] = Math.max(last[1], end);
      else ranges.push([start, end]);
    }
    await Promise.all(
      ranges.map(async ([start, end]) => {
        // Starts on a word, so that the numbers can be read in place.
        const got = await getBytes(this.path, start - (start % 4), Math.min(end, this.total), signal);
        this.pieces.push(got);
      }),
    );
  }

  has(ref: ArrayRef): boolean {
    const [start, end] = this.place(ref);
    return end <= start || this.find(start, end) !== undefined;
  }

  private bytes(ref: ArrayRef): [ArrayBuffer, number] {
    const [start, end] = this.place(ref);
    if (end <= start) return [new ArrayBuffer(0), 0];
    const piece = this.find(start, end);
    if (!piece) throw new Error("an array was not fetched");
    return [piece.bytes, start - piece.start];
  }

  f32(ref: ArrayRef): Float32Array<ArrayBuffer> {
    return new Float32Array(...this.bytes(ref), ref[1]);
  }

  u32(ref: ArrayRef): Uint32Array<ArrayBuffer> {
    return new Uint32Array(...this.bytes(ref), ref[1]);
  }

  text(ref: ArrayRef): string {
    return new TextDecoder().decode(new Uint8Array(...this.bytes(ref), ref[1]));
  }
}

/** Memory for frames (bytes). */
const ROOM = 384 << 20;

/** The frames of a run: asks each once, keeps the ones used last. */
export class FrameStore {
  private readonly frames = new Map<number, Promise<Frame>>();
  private sizes = new Map<number, number>();

  constructor(private readonly run: number) {}

  get(index: number): Promise<Frame> {
    let found = this.frames.get(index);
    if (!found) {
      found = Frame.open(`api/runs/${this.run}/frames/${index}`);
      found.catch(() => this.frames.delete(index));
    } else {
      this.frames.delete(index);
    }
    this.frames.set(index, found);
    return found;
  }

  has(index: number): boolean {
    return this.sizes.has(index);
  }

  /** To be called when a frame is complete: forgets the ones not used for the longest time. */
  note(index: number, frame: Frame): void {
    this.sizes.set(index, frame.size);
    let sum = 0;
    for (const size of this.sizes.values()) sum += size;
    for (const old of [...this.frames.keys()]) {
      if (sum <= ROOM) break;
      if (old === index) continue;
      sum -= this.sizes.get(old) ?? 0;
      this.sizes.delete(old);
      this.frames.delete(old);
    }
  }

  clear(): void {
    this.frames.clear();
    this.sizes.clear();
  }
}
