// Rigid bodies: one draw call for all balls, one for all boxes, one for each other shape or, if there are many shapes, one for all of those.

import * as THREE from "three";
import { mergeVertices, toCreasedNormals } from "three/addons/utils/BufferGeometryUtils.js";
import { ofBody, type Rgb, SURROUNDINGS } from "../colours";
import type { ArrayRef, BodiesPart, Field, Frame, Part, ShapeRef } from "../frames";
import type { Settings } from "../settings";
import { Arrows, arrowsOf } from "./arrows";
import { colourNeeds, fieldOf, type Look, painter, type PartView } from "./view";

type Surface = Extract<ShapeRef, { kind: "surface" }>;

/** More distinct surfaces than this are drawn together. */
const MOST_SHAPES = 48;

/** A corner is round if its faces meet at less than this, as in `splashdown render`. */
const CREASE = (40 * Math.PI) / 180;

/** Balls with two shades, so that one sees them roll. */
function ballGeometry(detail: number): THREE.BufferGeometry {
  const geometry = new THREE.IcosahedronGeometry(1, detail);
  const position = geometry.getAttribute("position");
  const shade = new Float32Array(3 * position.count);
  for (let i = 0; i < position.count; i += 3) {
    // A triangle has one shade: the side of its middle.
    let side = 0;
    for (let k = 0; k < 3; k++) side += position.getX(i + k);
    shade.fill(side > 0 ? 1 : 0.82, 3 * i, 3 * i + 9);
  }
  geometry.setAttribute("color", new THREE.BufferAttribute(shade, 3));
  geometry.deleteAttribute("uv");
  // Corners that triangles share are computed once.
  return mergeVertices(geometry);
}

/** An outline of the plane, filled. */
export function filled(points: Float32Array, lines: Uint32Array): THREE.BufferGeometry {
  const next = new Map<number, number>();
  for (let i = 0; i + 1 < lines.length; i += 2) next.set(lines[i], lines[i + 1]);
  const position: number[] = [];
  while (next.size > 0) {
    const first = next.keys().next().value as number;
    const loop: number[] = [];
    for (let at: number | undefined = first; at !== undefined && next.has(at); ) {
      loop.push(at);
      const to: number | undefined = next.get(at);
      next.delete(at);
      at = to;
    }
    const outline = loop.map((i) => new THREE.Vector2(points[3 * i], points[3 * i + 1]));
    if (outline.length > 2) {
      for (const face of THREE.ShapeUtils.triangulateShape(outline, [])) {
        for (const corner of face) position.push(outline[corner].x, outline[corner].y, 0);
      }
    } else {
      // A line: a strip that is visible.
      for (let i = 0; i + 1 < lines.length; i += 2) {
        const [a, b] = [lines[i], lines[i + 1]];
        const [ax, ay, bx, by] = [points[3 * a], points[3 * a + 1], points[3 * b], points[3 * b + 1]];
        const length = Math.hypot(bx - ax, by - ay) || 1;
        const [nx, ny] = [(-(by - ay) / length) * 0.002 * length, ((bx - ax) / length) * 0.002 * length];
        const corners = [ax, ay, bx, by, bx - nx, by - ny, ax - nx, ay - ny];
        for (const k of [0, 1, 2, 0, 2, 3]) position.push(corners[2 * k], corners[2 * k + 1], 0);
      }
      break;
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
  geometry.computeVertexNormals();
  return geometry;
}

/** What arrows on bodies show: the field of the colours if it is a vector, else the velocity. */
function vectorOf(part: Part, settings: Settings): Field | undefined {
  const chosen = fieldOf(part, settings.colour);
  return chosen?.components === 3 ? chosen : fieldOf(part, "velocity");
}

/** Surfaces that were fetched, by their keys, for all frames. */
const surfaces = new Map<string, THREE.BufferGeometry>();

function readSurface(frame: Frame, shape: Surface): THREE.BufferGeometry {
  let geometry = surfaces.get(shape.key);
  if (geometry) return geometry;
  const points = frame.f32(shape.position);
  if (shape.lines) geometry = filled(points, frame.u32(shape.lines));
  else {
    const smooth = new THREE.BufferGeometry();
    smooth.setAttribute("position", new THREE.BufferAttribute(points.slice(), 3));
    smooth.setIndex(new THREE.BufferAttribute(shape.triangles ? frame.u32(shape.triangles).slice() : new Uint32Array(), 1));
    geometry = smooth.index && smooth.index.count > 0 ? toCreasedNormals(smooth, CREASE) : smooth.toNonIndexed();
    geometry.deleteAttribute("uv");
    if (!geometry.getAttribute("normal")) geometry.computeVertexNormals();
  }
  surfaces.set(shape.key, geometry);
  return geometry;
}

export class BodiesView implements PartView {
  readonly object = new THREE.Group();
  private balls: THREE.InstancedMesh | null = null;
  private boxes: THREE.InstancedMesh | null = null;
  /** Surfaces that many bodies share. */
  private readonly shared = new Map<string, { mesh: THREE.InstancedMesh; bodies: number[] }>();
  /** Surfaces of which there are too many for a mesh each: fragments. */
  private batch: THREE.BatchedMesh | null = null;
  private batchKey = "";
  /** Body of each instance. */
  private ofBall: number[] = [];
  private ofBox: number[] = [];
  private ofBatch: number[] = [];
  private radii: Float32Array = new Float32Array();
  private centres: Float32Array = new Float32Array();
  private arrows: Arrows | null = null;

  constructor(private readonly flat: boolean) {}

  needs(part: Part, settings: Settings): ArrayRef[] {
    const bodies = part as BodiesPart;
    const refs = [bodies.position, bodies.rotation, bodies.shape_of, ...colourNeeds(part, settings)];
    const vectors = settings.vectors ? vectorOf(part, settings) : undefined;
    if (vectors) refs.push(vectors.data);
    for (const shape of bodies.shapes) {
      if (shape.kind !== "surface" || surfaces.has(shape.key)) continue;
      refs.push(shape.position);
      if (shape.triangles) refs.push(shape.triangles);
      if (shape.lines) refs.push(shape.lines);
    }
    return refs;
  }

  private material(): THREE.Material {
    if (this.flat) return new THREE.MeshBasicMaterial({ side: THREE.DoubleSide });
    return new THREE.MeshLambertMaterial({ side: THREE.DoubleSide });
  }

  private instances(old: THREE.InstancedMesh | null, count: number, geometry: () => THREE.BufferGeometry) {
    if (old && old.instanceMatrix.count >= count) return old;
    if (old) this.remove(old);
    if (count === 0) return null;
    const made = geometry();
    const material = this.material() as THREE.MeshLambertMaterial;
    material.vertexColors = made.hasAttribute("color");
    const mesh = new THREE.InstancedMesh(made, material, Math.ceil(1.2 * count));
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.frustumCulled = false;
    this.object.add(mesh);
    return mesh;
  }

  private remove(mesh: THREE.Mesh) {
    this.object.remove(mesh);
    if (mesh instanceof THREE.InstancedMesh) mesh.geometry.dispose();
    (mesh.material as THREE.Material).dispose();
    (mesh as unknown as { dispose?: () => void }).dispose?.();
  }

  update(frame: Frame, part: Part, look: Look): void {
    const bodies = part as BodiesPart;
    const position = frame.f32(bodies.position);
    const rotation = frame.f32(bodies.rotation);
    const shapeOf = frame.u32(bodies.shape_of);
    this.centres = position;
    this.radii = new Float32Array(bodies.count);
    this.ofBall = [];
    this.ofBox = [];
    this.ofBatch = [];
    for (let body = 0; body < bodies.count; body++) {
      const kind = bodies.shapes[shapeOf[body]].kind;
      (kind === "ball" ? this.ofBall : kind === "box" ? this.ofBox : this.ofBatch).push(body);
    }
    this.balls = this.instances(this.balls, this.ofBall.length, () =>
      this.flat ? new THREE.CircleGeometry(1, 48) : ballGeometry(this.ofBall.length > 2000 ? 1 : this.ofBall.length > 200 ? 3 : 6),
    );
    this.boxes = this.instances(this.boxes, this.ofBox.length, () =>
      this.flat ? new THREE.PlaneGeometry(1, 1) : new THREE.BoxGeometry(1, 1, 1),
    );
    const distinct = new Set(this.ofBatch.map((body) => shapeOf[body]));
    for (const shared of this.shared.values()) shared.bodies = [];
    if (distinct.size <= MOST_SHAPES) {
      this.share(frame, bodies, shapeOf);
      this.ofBatch = [];
    }
    this.buildBatch(frame, bodies, shapeOf);

    const surroundings = new Set(bodies.surroundings);
    const paint = painter(frame, part, look, (body) => (surroundings.has(body) ? SURROUNDINGS : ofBody(body)));
    const matrix = new THREE.Matrix4();
    const at = new THREE.Vector3();
    const turn = new THREE.Quaternion();
    const size = new THREE.Vector3();
    const rgb: Rgb = [0, 0, 0];
    const colour = new THREE.Color();
    const place = (body: number) => {
      at.fromArray(position, 3 * body);
      turn.fromArray(rotation, 4 * body);
      const shape = bodies.shapes[shapeOf[body]];
      if (shape.kind === "ball") {
        size.setScalar(shape.radius);
        this.radii[body] = shape.radius;
      } else if (shape.kind === "box") {
        size.set(shape.edges[0], shape.edges[1], this.flat ? 1 : shape.edges[2]);
        this.radii[body] = 0.5 * Math.hypot(...shape.edges);
      } else {
        size.setScalar(1);
        const geometry = surfaces.get(shape.key);
        if (geometry && !geometry.boundingSphere) geometry.computeBoundingSphere();
        this.radii[body] = geometry?.boundingSphere?.radius ?? 0;
      }
      matrix.compose(at, turn, size);
      paint(body, rgb);
      colour.setRGB(rgb[0], rgb[1], rgb[2]);
    };
    const fill = (mesh: THREE.InstancedMesh | null, list: number[]) => {
      if (!mesh) return;
      mesh.count = list.length;
      list.forEach((body, i) => {
        place(body);
        mesh.setMatrixAt(i, matrix);
        mesh.setColorAt(i, colour);
      });
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
      mesh.boundingSphere = null;
    };
    fill(this.balls, this.ofBall);
    fill(this.boxes, this.ofBox);
    for (const { mesh, bodies: list } of this.shared.values()) fill(mesh, list);
    this.ofBatch.forEach((body, i) => {
      place(body);
      this.batch?.setMatrixAt(i, matrix);
      this.batch?.setColorAt(i, colour);
    });
    if (this.batch) this.batch.boundingSphere = null;
    this.updateArrows(frame, part, look);
  }

  private updateArrows(frame: Frame, part: Part, look: Look) {
    const field = look.settings.vectors ? vectorOf(part, look.settings) : undefined;
    if (this.arrows) this.arrows.object.visible = field !== undefined;
    if (!field || !frame.has(field.data)) return;
    if (!this.arrows) {
      this.arrows = new Arrows();
      this.object.add(this.arrows.object);
    }
    arrowsOf(this.arrows, this.centres, frame.f32(field.data), Math.max(field.range?.[1] ?? 0, 1e-30), 0.25 * look.size);
  }

  /** A mesh for each shape, with as many copies as there are bodies of it. */
  private share(frame: Frame, bodies: BodiesPart, shapeOf: Uint32Array) {
    const lists = new Map<string, number[]>();
    for (const body of this.ofBatch) {
      const shape = bodies.shapes[shapeOf[body]] as Surface;
      const list = lists.get(shape.key);
      if (list) list.push(body);
      else lists.set(shape.key, [body]);
    }
    for (const [key, list] of lists) {
      const old = this.shared.get(key)?.mesh ?? null;
      const shape = bodies.shapes[shapeOf[list[0]]] as Surface;
      const geometry = readSurface(frame, shape);
      const mesh = geometry.getAttribute("position").count > 0 ? this.instances(old, list.length, () => mergeVertices(geometry)) : null;
      if (mesh) this.shared.set(key, { mesh, bodies: list });
    }
  }

  /** Shapes other than balls and boxes; made anew only when bodies with other shapes appear. */
  private buildBatch(frame: Frame, bodies: BodiesPart, shapeOf: Uint32Array) {
    const keys = this.ofBatch.map((body) => (bodies.shapes[shapeOf[body]] as Surface).key);
    const key = keys.join();
    if (key === this.batchKey) return;
    this.batchKey = key;
    if (this.batch) this.remove(this.batch);
    this.batch = null;
    const distinct = new Map<string, THREE.BufferGeometry>();
    for (const body of this.ofBatch) {
      const shape = bodies.shapes[shapeOf[body]] as Surface;
      if (!distinct.has(shape.key)) distinct.set(shape.key, readSurface(frame, shape));
    }
    let vertices = 0;
    for (const geometry of distinct.values()) vertices += geometry.getAttribute("position").count;
    if (keys.length === 0 || vertices === 0) {
      this.ofBatch = [];
      return;
    }
    const batch = new THREE.BatchedMesh(keys.length, Math.max(vertices, 3), 0, this.material());
    batch.perObjectFrustumCulled = false;
    batch.sortObjects = false;
    batch.frustumCulled = false;
    batch.castShadow = batch.receiveShadow = true;
    const ids = new Map<string, number>();
    for (const [name, geometry] of distinct) ids.set(name, batch.addGeometry(geometry));
    for (const name of keys) batch.addInstance(ids.get(name) as number);
    this.batch = batch;
    this.object.add(batch);
  }

  entry(hit: THREE.Intersection): number {
    if (hit.object === this.balls) return this.ofBall[hit.instanceId ?? -1] ?? -1;
    if (hit.object === this.boxes) return this.ofBox[hit.instanceId ?? -1] ?? -1;
    for (const { mesh, bodies } of this.shared.values()) if (hit.object === mesh) return bodies[hit.instanceId ?? -1] ?? -1;
    if (hit.object === this.batch) return this.ofBatch[hit.batchId ?? -1] ?? -1;
    return -1;
  }

  locate(entry: number) {
    if (entry < 0 || 3 * entry + 2 >= this.centres.length) return null;
    return { centre: new THREE.Vector3().fromArray(this.centres, 3 * entry), radius: this.radii[entry] };
  }

  dispose(): void {
    this.arrows?.dispose();
    for (const { mesh } of this.shared.values()) this.remove(mesh);
    for (const mesh of [this.balls, this.boxes, this.batch]) if (mesh) this.remove(mesh);
  }
}
