// Meshes: cloth and the skin of soft bodies, surfaces of liquids, chains and strings.

import * as THREE from "three";
import { ofBody, type Rgb } from "../colours";
import type { ArrayRef, Frame, MeshPart, Part } from "../frames";
import type { Settings } from "../settings";
import { colourNeeds, keepEdges, type Look, painter, type PartView } from "./view";

/** More lines than this are drawn thin. */
const MOST_RODS = 20000;

/** The mesh itself, or its coarse copy if there is one. */
const detailed = (mesh: MeshPart, rough: boolean): MeshPart => (rough && mesh.coarse ? { ...mesh, ...mesh.coarse } : mesh);

export class MeshView implements PartView {
  readonly object = new THREE.Group();
  private skin: THREE.Mesh | null = null;
  private edges: THREE.LineSegments | null = null;
  private rods: THREE.InstancedMesh | null = null;
  private knots: THREE.InstancedMesh | null = null;
  private lines: THREE.LineSegments | null = null;
  private indexKey = "";
  private positions: Float32Array = new Float32Array();
  private size = 1;

  constructor(private readonly flat: boolean) {}

  needs(part: Part, settings: Settings, rough: boolean): ArrayRef[] {
    const mesh = detailed(part as MeshPart, rough);
    const refs = [mesh.position, ...colourNeeds(mesh, settings)];
    if (mesh.triangles) refs.push(mesh.triangles);
    if (mesh.lines) refs.push(mesh.lines);
    return refs;
  }

  update(frame: Frame, part: Part, look: Look): void {
    const mesh = detailed(part as MeshPart, look.rough);
    this.positions = frame.f32(mesh.position);
    this.size = look.size;
    const paint = painter(frame, mesh, look, () => look.liquid ?? ofBody(look.number));
    const count = mesh.position[1] / 3;
    const colours = new Float32Array(3 * count);
    const rgb: Rgb = [0, 0, 0];
    for (let i = 0; i < count; i++) {
      paint(i, rgb);
      colours.set(rgb, 3 * i);
    }
    if (mesh.triangles) this.updateSkin(frame.u32(mesh.triangles), colours, look);
    if (mesh.lines) this.updateLines(frame.u32(mesh.lines), colours, look);
  }

  private updateSkin(triangles: Uint32Array, colours: Float32Array, look: Look) {
    if (!this.skin) {
      const side = THREE.DoubleSide;
      const material = this.flat
        ? new THREE.MeshBasicMaterial({ vertexColors: true, side })
        : look.liquid
          ? keepEdges(new THREE.MeshPhongMaterial({
              vertexColors: true,
              transparent: true,
              opacity: 0.8,
              shininess: 90,
              specular: 0x556677,
            }))
          : keepEdges(new THREE.MeshLambertMaterial({ vertexColors: true, side }));
      this.skin = new THREE.Mesh(new THREE.BufferGeometry(), material);
      this.skin.castShadow = !this.flat;
      this.skin.receiveShadow = !this.flat && !look.liquid;
      this.skin.frustumCulled = false;
      this.object.add(this.skin);
    }
    const geometry = this.skin.geometry;
    set(geometry, "position", this.positions);
    set(geometry, "color", colours);
    const key = `${triangles.length}:${this.positions.length}:${checksum(triangles)}`;
    if (key !== this.indexKey) {
      this.indexKey = key;
      geometry.setIndex(new THREE.BufferAttribute(triangles.slice(), 1));
    }
    geometry.computeVertexNormals();
    geometry.boundingSphere = null;
    geometry.boundingBox = null;
    if (look.settings.edges) {
      if (!this.edges) {
        this.edges = new THREE.LineSegments(
          new THREE.BufferGeometry(),
          new THREE.LineBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.35 }),
        );
        this.edges.frustumCulled = false;
        this.edges.raycast = () => {};
        this.object.add(this.edges);
      }
      this.edges.geometry.setAttribute("position", geometry.getAttribute("position"));
      this.edges.geometry.setIndex(new THREE.BufferAttribute(edgesOf(triangles), 1));
    }
    if (this.edges) this.edges.visible = look.settings.edges;
  }

  private updateLines(lines: Uint32Array, colours: Float32Array, look: Look) {
    if (look.liquid) {
      // The surface of a liquid in the plane; the grid shows its area.
      this.updateThin(lines, colours);
      return;
    }
    if (lines.length / 2 > MOST_RODS) {
      this.updateThin(lines, colours);
      return;
    }
    const count = lines.length / 2;
    const knots = this.positions.length / 3;
    if (!this.rods || this.rods.instanceMatrix.count < count) {
      if (this.rods) this.drop(this.rods);
      const rod = this.flat ? new THREE.PlaneGeometry(1, 1) : new THREE.CylinderGeometry(1, 1, 1, 8, 1, true);
      this.rods = new THREE.InstancedMesh(rod, this.plain(), Math.max(count, 1));
      this.rods.castShadow = !this.flat;
      this.rods.frustumCulled = false;
      this.object.add(this.rods);
    }
    if (!this.knots || this.knots.instanceMatrix.count < knots) {
      if (this.knots) this.drop(this.knots);
      const knot = this.flat ? new THREE.CircleGeometry(1, 16) : new THREE.IcosahedronGeometry(1, 2);
      this.knots = new THREE.InstancedMesh(knot, this.plain(), Math.max(knots, 1));
      this.knots.castShadow = !this.flat;
      this.knots.frustumCulled = false;
      this.object.add(this.knots);
    }
    const thick = 0.004 * look.size;
    const matrix = new THREE.Matrix4();
    const [a, b, middle, along, size] = Array.from({ length: 5 }, () => new THREE.Vector3());
    const turn = new THREE.Quaternion();
    const up = new THREE.Vector3(0, 1, 0);
    const colour = new THREE.Color();
    for (let i = 0; i < count; i++) {
      a.fromArray(this.positions, 3 * lines[2 * i]);
      b.fromArray(this.positions, 3 * lines[2 * i + 1]);
      middle.addVectors(a, b).multiplyScalar(0.5);
      along.subVectors(b, a);
      const length = along.length();
      turn.setFromUnitVectors(up, length > 0 ? along.divideScalar(length) : up);
      const wide = this.flat ? 2 * thick : thick;
      matrix.compose(middle, turn, size.set(wide, length, this.flat ? 1 : thick));
      this.rods.setMatrixAt(i, matrix);
      this.rods.setColorAt(i, colour.fromArray(colours, 3 * lines[2 * i]));
    }
    turn.identity();
    const knotSize = (2 * knots > 3 * count + 20 ? 2.2 : 1.6) * thick;
    for (let i = 0; i < knots; i++) {
      matrix.compose(a.fromArray(this.positions, 3 * i), turn, size.setScalar(knotSize));
      this.knots.setMatrixAt(i, matrix);
      this.knots.setColorAt(i, colour.fromArray(colours, 3 * i));
    }
    for (const [instances, n] of [
      [this.rods, count],
      [this.knots, knots],
    ] as const) {
      instances.count = n;
      instances.instanceMatrix.needsUpdate = true;
      if (instances.instanceColor) instances.instanceColor.needsUpdate = true;
      instances.boundingSphere = null;
    }
  }

  private updateThin(lines: Uint32Array, colours: Float32Array) {
    if (!this.lines) {
      this.lines = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ vertexColors: true }));
      this.lines.frustumCulled = false;
      this.object.add(this.lines);
    }
    set(this.lines.geometry, "position", this.positions);
    set(this.lines.geometry, "color", colours);
    this.lines.geometry.setIndex(new THREE.BufferAttribute(lines.slice(), 1));
    this.lines.geometry.boundingSphere = null;
  }

  private plain(): THREE.Material {
    return this.flat ? new THREE.MeshBasicMaterial({ side: THREE.DoubleSide }) : new THREE.MeshLambertMaterial();
  }

  private drop(mesh: THREE.Mesh | THREE.LineSegments) {
    this.object.remove(mesh);
    mesh.geometry.dispose();
    (mesh.material as THREE.Material).dispose();
  }

  entry(hit: THREE.Intersection): number {
    if (hit.object === this.knots) return hit.instanceId ?? -1;
    const corners = hit.face ? [hit.face.a, hit.face.b, hit.face.c] : hit.index !== undefined ? [hit.index] : [];
    if (hit.object === this.rods) {
      let best = -1;
      let nearest = Infinity;
      const p = new THREE.Vector3();
      for (let i = 0; 3 * i + 2 < this.positions.length; i++) {
        const distance = p.fromArray(this.positions, 3 * i).distanceToSquared(hit.point);
        if (distance < nearest) [best, nearest] = [i, distance];
      }
      return best;
    }
    let best = -1;
    let nearest = Infinity;
    const p = new THREE.Vector3();
    for (const corner of corners) {
      const distance = p.fromArray(this.positions, 3 * corner).distanceToSquared(hit.point);
      if (distance < nearest) [best, nearest] = [corner, distance];
    }
    return best;
  }

  locate(entry: number) {
    if (entry < 0 || 3 * entry + 2 >= this.positions.length) return null;
    return { centre: new THREE.Vector3().fromArray(this.positions, 3 * entry), radius: 0.012 * this.size };
  }

  dispose(): void {
    for (const mesh of [this.skin, this.edges, this.rods, this.knots, this.lines]) if (mesh) this.drop(mesh);
  }
}

/** Sets an attribute, in place when it fits. */
function set(geometry: THREE.BufferGeometry, name: string, data: Float32Array) {
  const old = geometry.getAttribute(name) as THREE.BufferAttribute | undefined;
  if (old && old.array.length === data.length) {
    (old.array as Float32Array).set(data);
    old.needsUpdate = true;
  } else {
    const made = new THREE.BufferAttribute(data.slice(), 3);
    made.setUsage(THREE.DynamicDrawUsage);
    geometry.setAttribute(name, made);
    geometry.deleteAttribute("normal");
  }
}

function checksum(indices: Uint32Array): number {
  let sum = 0;
  for (let i = 0; i < indices.length; i++) sum = (Math.imul(sum, 31) + indices[i]) | 0;
  return sum;
}

/** Each edge of the triangles once. */
function edgesOf(triangles: Uint32Array): Uint32Array<ArrayBuffer> {
  const seen = new Set<number>();
  const edges: number[] = [];
  for (let i = 0; i < triangles.length; i += 3) {
    for (let k = 0; k < 3; k++) {
      const [a, b] = [triangles[i + k], triangles[i + ((k + 1) % 3)]];
      const key = Math.min(a, b) * 0x4000000 + Math.max(a, b);
      if (!seen.has(key)) {
        seen.add(key);
        edges.push(a, b);
      }
    }
  }
  return new Uint32Array(edges);
}

