// Where bodies press on each other: a dot and an arrow of the force at each pair of bodies.

import * as THREE from "three";
import { colourOf, type Rgb } from "../colours";
import type { ArrayRef, Frame, Part, PointsPart } from "../frames";
import { Arrows } from "./arrows";
import { fieldOf, type Look, type PartView, sizeAt } from "./view";

/** Name of the part, as `splashdown-scene` writes it. */
export const CONTACTS = "contact points";

/** Most arrows; beyond that the strongest are shown. */
const MOST = 5000;

export class ContactsView implements PartView {
  readonly object = new THREE.Group();
  private readonly dots = new THREE.Points(
    new THREE.BufferGeometry(),
    new THREE.PointsMaterial({ size: 7, sizeAttenuation: false, vertexColors: true, depthTest: false, transparent: true }),
  );
  private readonly arrows = new Arrows();
  private positions: Float32Array = new Float32Array();
  private size = 1;

  constructor() {
    this.dots.frustumCulled = false;
    this.dots.renderOrder = 13;
    this.object.add(this.dots, this.arrows.object);
  }

  needs(part: Part): ArrayRef[] {
    const force = fieldOf(part, "contact force");
    return [(part as PointsPart).position, ...(force ? [force.data] : [])];
  }

  update(frame: Frame, part: Part, look: Look): void {
    this.positions = frame.f32((part as PointsPart).position);
    this.size = look.size;
    const count = this.positions.length / 3;
    const field = fieldOf(part, "contact force");
    const forces = field && frame.has(field.data) ? frame.f32(field.data) : new Float32Array(3 * count);
    const sizes = Float32Array.from({ length: count }, (_, i) => sizeAt(forces, 3, i));
    const largest = Math.max(field?.range?.[1] ?? 0, 1e-30);
    const order = Array.from(sizes.keys());
    if (count > MOST) order.sort((a, b) => sizes[b] - sizes[a]);
    const scale = { low: 0, high: largest, signed: false };
    const colours = new Float32Array(3 * count);
    const rgb: Rgb = [0, 0, 0];
    const [at, v] = [new THREE.Vector3(), new THREE.Vector3()];
    order.forEach((i, rank) => {
      colours.set(colourOf(scale, sizes[i], rgb), 3 * i);
      if (rank < MOST && sizes[i] > 1e-3 * largest) {
        // The square root, so that weak ones are seen beside strong ones.
        this.arrows.add(at.fromArray(this.positions, 3 * i), v.fromArray(forces, 3 * i), 0.2 * look.size * Math.sqrt(sizes[i] / largest), rgb);
      }
    });
    this.arrows.finish();
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(this.positions, 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(colours, 3));
    this.dots.geometry.dispose();
    this.dots.geometry = geometry;
  }

  entry(hit: THREE.Intersection): number {
    return hit.object === this.dots ? (hit.index ?? -1) : -1;
  }

  locate(entry: number) {
    if (entry < 0 || 3 * entry + 2 >= this.positions.length) return null;
    return { centre: new THREE.Vector3().fromArray(this.positions, 3 * entry), radius: 0.012 * this.size };
  }

  dispose(): void {
    this.dots.geometry.dispose();
    (this.dots.material as THREE.Material).dispose();
    this.arrows.dispose();
  }
}
