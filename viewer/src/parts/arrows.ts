// Arrows: what a vector field says at some places.

import * as THREE from "three";
import { colourOf, type Rgb, type Scale } from "../colours";

/** Lines that are drawn over what is behind them. */
export class Arrows {
  readonly object = new THREE.LineSegments(
    new THREE.BufferGeometry(),
    new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }),
  );
  private readonly position: number[] = [];
  private readonly colour: number[] = [];

  constructor() {
    this.object.frustumCulled = false;
    this.object.renderOrder = 12;
    this.object.raycast = () => {};
  }

  /** An arrow of this length in the direction of `v`. */
  add(tail: THREE.Vector3, v: THREE.Vector3, length: number, rgb: Rgb): void {
    const size = v.length();
    if (!(size > 0)) return;
    const head = tail.clone().addScaledVector(v, length / size);
    const aside = new THREE.Vector3(v.y, -v.x, Math.abs(v.z) > 0.9 * size ? v.y : 0);
    if (aside.lengthSq() === 0) aside.set(1, 0, 0);
    aside.normalize();
    const ends = [-1, 1].map((sign) => head.clone().addScaledVector(v, (-0.25 * length) / size).addScaledVector(aside, 0.12 * sign * length));
    for (const [a, b] of [[tail, head], [head, ends[0]], [head, ends[1]]]) {
      this.position.push(a.x, a.y, a.z, b.x, b.y, b.z);
      this.colour.push(...rgb, ...rgb);
    }
  }

  /** Shows what was added since the last time. */
  finish(): void {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(this.position, 3));
    geometry.setAttribute("color", new THREE.Float32BufferAttribute(this.colour, 3));
    this.object.geometry.dispose();
    this.object.geometry = geometry;
    this.position.length = 0;
    this.colour.length = 0;
  }

  dispose(): void {
    this.object.geometry.dispose();
    (this.object.material as THREE.Material).dispose();
  }
}

/** Most bodies that get an arrow. */
const MOST = 4000;

/** One arrow for each entry of a field, the longest `longest` (m). */
export function arrowsOf(arrows: Arrows, centres: Float32Array, vectors: Float32Array, largest: number, longest: number): void {
  const [at, v] = [new THREE.Vector3(), new THREE.Vector3()];
  const scale: Scale = { low: 0, high: largest, signed: false };
  const rgb: Rgb = [0, 0, 0];
  const count = centres.length / 3;
  const step = Math.max(1, Math.ceil(count / MOST));
  for (let i = 0; i < count; i += step) {
    v.fromArray(vectors, 3 * i);
    const size = v.length();
    if (!(size > 1e-3 * largest)) continue;
    arrows.add(at.fromArray(centres, 3 * i), v, longest * Math.sqrt(size / largest), colourOf(scale, size, rgb));
  }
  arrows.finish();
}
