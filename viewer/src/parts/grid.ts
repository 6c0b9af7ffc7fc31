// Grids: smoke as a cloud, slices of any field, arrows and streamlines of the velocity; in the plane liquids and fields as areas.

import * as THREE from "three";
import { colourOf, ofLiquid, type Rgb, type Scale, scaleOf, toByte } from "../colours";
import type { ArrayRef, Field, Frame, GridPart, Part } from "../frames";
import type { Settings } from "../settings";
import { Arrows } from "./arrows";
import { fieldOf, type Look, type PartView, sizeAt } from "./view";

/** Fields that the page makes from the velocity. */
export const MADE = ["speed", "vorticity"];

/** Colour of lines over a slice. */
const INK: Rgb = [0.02, 0.02, 0.03];

const isSmoke = (field: Field) => field.name === "smoke" || field.name === "density";
const isDistance = (field: Field) => field.name.startsWith("distance to ");

/** The fields of a grid that a slice can show. */
export function sliceable(part: GridPart): string[] {
  const names = part.fields.filter((field) => field.components === 1).map((field) => field.name);
  return fieldOf(part, "velocity") ? [...MADE, ...names] : names;
}

/** What is shown when nothing was chosen: smoke or liquids if there are any, else the speed, as `splashdown render` does. */
function usual(part: GridPart): string {
  const own = part.fields.find(isSmoke) ?? part.fields.find(isDistance);
  return own?.name ?? sliceable(part)[0] ?? "";
}

export function chosenField(part: GridPart, settings: Settings): string {
  return sliceable(part).includes(settings.field) ? settings.field : usual(part);
}

const isFlat = (part: GridPart, dimension: number) => dimension === 2 || part.cells[2] === 1;

const VOLUME_VERTEX = /* glsl */ `
  out vec3 place;
  void main() {
    place = position;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  }`;

// The light of `splashdown render`: absorption along the ray, three probes towards the sun.
const VOLUME_FRAGMENT = /* glsl */ `
  precision highp sampler3D;
  uniform sampler3D cloud;
  uniform sampler2D depths;
  uniform vec2 screen;
  uniform vec3 eye;       // in the box, from 0 to 1
  uniform vec3 forward;   // direction of a parallel view, in the box
  uniform bool parallel;
  uniform vec3 cells;
  uniform vec3 sun;       // step of one cell towards the sun, in the box
  uniform mat4 toClip;
  uniform float brightness;
  uniform int most;
  in vec3 place;
  out vec4 result;
  void main() {
    vec3 direction = parallel ? forward : normalize((place - eye) * cells) / cells;
    vec3 start = parallel ? place - 4.0 * forward : eye;
    vec3 a = (vec3(0.0) - start) / direction;
    vec3 b = (vec3(1.0) - start) / direction;
    vec3 low = min(a, b), high = max(a, b);
    float near = max(max(low.x, low.y), max(low.z, 0.0));
    float far = min(high.x, min(high.y, high.z));
    // In cells: one step a cell, fewer in large grids.
    float size = parallel ? 1.0 / length(forward * cells) : 1.0;
    float reach = (far - near) / size;
    if (reach <= 0.0) discard;
    float longest = max(cells.x, max(cells.y, cells.z));
    float width = max(1.0, reach / float(most));
    float scene = 2.0 * texture(depths, gl_FragCoord.xy / screen).r - 1.0;
    float opacity = 12.0 / longest;
    vec3 colour = vec3(0.0);
    float through = 1.0;
    float jitter = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    for (float t = jitter * width; t < reach; t += width) {
      vec3 at = start + direction * (near + t * size);
      vec4 clip = toClip * vec4(at, 1.0);
      if (clip.z / clip.w > scene) break;
      float density = texture(cloud, at).r;
      if (density > 0.002) {
        float shade = texture(cloud, at + 2.0 * sun).r * 2.0 + texture(cloud, at + 5.0 * sun).r * 5.0 + texture(cloud, at + 10.0 * sun).r * 10.0;
        float lit = 0.35 + 0.65 / (1.0 + opacity * shade);
        float lost = 1.0 - pow(max(1.0 - opacity * density, 0.0), width);
        colour += through * lost * brightness * lit;
        through *= 1.0 - lost;
        if (through < 0.01) break;
      }
    }
    float alpha = 1.0 - through;
    if (alpha < 0.003) discard;
    // The screen's transfer is for the colour itself, not for its share of the pixel.
    colour /= alpha;
    colour = mix(12.92 * colour, 1.055 * pow(max(colour, vec3(1e-6)), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, colour));
    result = vec4(colour * alpha, alpha);
  }`;

export class GridView implements PartView {
  readonly object = new THREE.Group();
  private cloud: THREE.Mesh<THREE.BoxGeometry, THREE.ShaderMaterial> | null = null;
  private slice: THREE.Mesh<THREE.PlaneGeometry, THREE.MeshBasicMaterial> | null = null;
  private arrows: Arrows | null = null;
  private streams: THREE.LineSegments | null = null;
  private outline: THREE.LineSegments | null = null;
  /** Scale of the slice's field, for the legend. */
  legend: { name: string; unit: string; scale: Scale } | null = null;

  constructor(
    private readonly dimension: number,
    private readonly stage: { depths(): THREE.Texture; readonly samples: number },
  ) {}

  needs(part: Part, settings: Settings): ArrayRef[] {
    const grid = part as GridPart;
    const refs: ArrayRef[] = [];
    const flat = isFlat(grid, this.dimension);
    const velocity = fieldOf(part, "velocity");
    const want = (field?: Field) => field && refs.push(field.data);
    if (!flat && settings.volume) want(grid.fields.find(isSmoke));
    if (flat || settings.slice !== "off") {
      const chosen = chosenField(grid, settings);
      if (MADE.includes(chosen)) want(velocity);
      else if (chosen.startsWith("distance to ")) grid.fields.filter(isDistance).forEach(want);
      else want(fieldOf(part, chosen));
    }
    if (settings.vectors || settings.streamlines) want(velocity);
    return refs;
  }

  update(frame: Frame, part: Part, look: Look): void {
    const grid = part as GridPart;
    const flat = isFlat(grid, this.dimension);
    this.legend = null;
    if (!flat) this.updateOutline(grid);
    this.updateCloud(frame, grid, look, flat);
    this.updateSlice(frame, grid, look, flat);
    const velocity = fieldOf(part, "velocity");
    const flow = velocity && frame.has(velocity.data) && (look.settings.vectors || look.settings.streamlines) ? frame.f32(velocity.data) : null;
    this.updateArrows(grid, flow, look, flat, velocity?.range?.[1] ?? 1);
    this.updateStreams(grid, flow, look, flat, velocity?.range?.[1] ?? 1);
  }

  private updateOutline(grid: GridPart) {
    if (!this.outline) {
      this.outline = new THREE.LineSegments(
        new THREE.EdgesGeometry(new THREE.BoxGeometry(1, 1, 1)),
        new THREE.LineBasicMaterial({ color: 0x7f8c99, transparent: true, opacity: 0.45 }),
      );
      this.outline.raycast = () => {};
      this.object.add(this.outline);
    }
    const size = grid.cells.map((n) => n * grid.spacing);
    this.outline.scale.set(size[0], size[1], size[2]);
    this.outline.position.set(...grid.origin.map((x, k) => x + 0.5 * size[k]) as [number, number, number]);
  }

  private updateCloud(frame: Frame, grid: GridPart, look: Look, flat: boolean) {
    const smoke = grid.fields.find(isSmoke);
    const shown = !flat && look.settings.volume && smoke && frame.has(smoke.data);
    if (this.cloud) this.cloud.visible = Boolean(shown);
    if (!shown || !smoke) return;
    const [nx, ny, nz] = grid.cells;
    if (!this.cloud) {
      const material = new THREE.ShaderMaterial({
        glslVersion: THREE.GLSL3,
        vertexShader: VOLUME_VERTEX,
        fragmentShader: VOLUME_FRAGMENT,
        side: THREE.BackSide,
        transparent: true,
        premultipliedAlpha: true,
        blending: THREE.CustomBlending,
        blendSrc: THREE.OneFactor,
        blendDst: THREE.OneMinusSrcAlphaFactor,
        depthTest: false,
        depthWrite: false,
        uniforms: {
          cloud: { value: null },
          depths: { value: null },
          screen: { value: new THREE.Vector2(1, 1) },
          eye: { value: new THREE.Vector3() },
          forward: { value: new THREE.Vector3() },
          parallel: { value: false },
          cells: { value: new THREE.Vector3() },
          sun: { value: new THREE.Vector3() },
          toClip: { value: new THREE.Matrix4() },
          brightness: { value: 0.5 },
          most: { value: 160 },
        },
      });
      this.cloud = new THREE.Mesh(new THREE.BoxGeometry(1, 1, 1).translate(0.5, 0.5, 0.5), material);
      this.cloud.frustumCulled = false;
      this.cloud.renderOrder = 10;
      this.cloud.raycast = () => {};
      this.cloud.onBeforeRender = (renderer, _scene, camera) => this.aim(renderer, camera);
      this.cloud.userData.volume = true;
      this.object.add(this.cloud);
    }
    const values = frame.f32(smoke.data);
    const uniforms = this.cloud.material.uniforms;
    let texture = uniforms.cloud.value as THREE.Data3DTexture | null;
    if (!texture || texture.image.width !== nx || texture.image.height !== ny || texture.image.depth !== nz) {
      texture?.dispose();
      texture = new THREE.Data3DTexture(new Uint8Array(nx * ny * nz), nx, ny, nz);
      texture.format = THREE.RedFormat;
      texture.type = THREE.UnsignedByteType;
      texture.minFilter = texture.magFilter = THREE.LinearFilter;
      texture.unpackAlignment = 1;
      uniforms.cloud.value = texture;
    }
    const bytes = texture.image.data as Uint8Array;
    const largest = Math.max(smoke.range?.[1] ?? 0, 1e-30);
    for (let i = 0; i < values.length; i++) bytes[i] = Math.min(Math.max((255 * values[i]) / largest, 0), 255);
    texture.needsUpdate = true;
    uniforms.cells.value.set(nx, ny, nz);
    const s = grid.spacing;
    this.cloud.position.set(...grid.origin);
    this.cloud.scale.set(nx * s, ny * s, nz * s);
    uniforms.sun.value.set(0.45 / nx, 0.78 / ny, 0.43 / nz);
  }

  /** Tells the cloud where it is seen from. */
  private aim(renderer: THREE.WebGLRenderer, camera: THREE.Camera) {
    if (!this.cloud) return;
    const uniforms = this.cloud.material.uniforms;
    const toBox = this.cloud.matrixWorld.clone().invert();
    uniforms.depths.value = this.stage.depths();
    uniforms.most.value = this.stage.samples;
    renderer.getDrawingBufferSize(uniforms.screen.value);
    uniforms.parallel.value = (camera as THREE.OrthographicCamera).isOrthographicCamera === true;
    uniforms.eye.value.setFromMatrixPosition(camera.matrixWorld).applyMatrix4(toBox);
    const axis = new THREE.Vector3();
    camera.getWorldDirection(axis);
    uniforms.forward.value.copy(axis.transformDirection(toBox));
    uniforms.toClip.value.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse).multiply(this.cloud.matrixWorld);
  }

  private updateSlice(frame: Frame, grid: GridPart, look: Look, flat: boolean) {
    const axis = flat ? 2 : ["x", "y", "z"].indexOf(look.settings.slice);
    const name = chosenField(grid, look.settings);
    const velocity = fieldOf(grid, "velocity");
    const source = MADE.includes(name) ? velocity : fieldOf(grid, name);
    const shown = axis >= 0 && source && frame.has(source.data);
    if (this.slice) this.slice.visible = Boolean(shown);
    if (!shown || !source) return;
    const [u, v] = [(axis + 1) % 3, (axis + 2) % 3].sort();
    const [nu, nv] = [grid.cells[u], grid.cells[v]];
    const layer = flat ? 0 : Math.min(Math.floor(look.settings.at * grid.cells[axis]), grid.cells[axis] - 1);
    const stride = [1, grid.cells[0], grid.cells[0] * grid.cells[1]];
    const cell = (i: number, j: number) => i * stride[u] + j * stride[v] + layer * stride[axis];
    const distances = grid.fields.filter(isDistance);
    const liquid = name.startsWith("distance to ") && distances.every((field) => frame.has(field.data));
    // The edge of a liquid is sharper than a cell.
    const fine = liquid ? Math.min(Math.max(Math.floor(900 / Math.max(nu, nv)), 1), 8) : 1;
    const bytes = new Uint8Array(4 * nu * nv * fine * fine);
    const rgb: Rgb = [0, 0, 0];
    const put = (at: number, colour: Rgb, alpha = 255) => {
      for (let k = 0; k < 3; k++) bytes[4 * at + k] = toByte(Math.min(Math.max(colour[k], 0), 1));
      bytes[4 * at + 3] = alpha;
    };
    if (liquid) {
      this.paintLiquids(frame, grid, distances, look, nu, nv, fine, cell, put);
    } else {
      const data = frame.f32(source.data);
      const values = new Float32Array(nu * nv);
      for (let j = 0; j < nv; j++) {
        for (let i = 0; i < nu; i++) {
          values[i + nu * j] =
            name === "vorticity" ? curl(data, grid, [u, v], cell, i, j) : sizeAt(data, source.components, cell(i, j));
        }
      }
      const smoke = flat && isSmoke(source) && look.settings.field === "";
      let [low, high] = [Infinity, -Infinity];
      for (const value of values) if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
      if (!MADE.includes(name) && source.range) [low, high] = source.range;
      const scale = look.settings.range && look.settings.colour === "body" ? { ...scaleOf(low, high), low: look.settings.range[0], high: look.settings.range[1] } : scaleOf(Math.min(low, 0), high);
      for (let at = 0; at < values.length; at++) {
        if (smoke) {
          const t = Math.min(Math.max(values[at] / Math.max(high, 1e-30), 0), 1);
          for (let k = 0; k < 3; k++) rgb[k] = 0.94 + t * (0.06 - 0.94);
          put(at, rgb);
        } else put(at, colourOf(scale, values[at], rgb));
      }
      if (!smoke) this.legend = { name, unit: name === "vorticity" ? "1/s" : source.unit, scale };
    }
    if (!this.slice) {
      this.slice = new THREE.Mesh(
        new THREE.PlaneGeometry(1, 1),
        new THREE.MeshBasicMaterial({ side: THREE.DoubleSide, toneMapped: false }),
      );
      this.slice.raycast = () => {};
      this.object.add(this.slice);
    }
    let texture = this.slice.material.map as THREE.DataTexture | null;
    if (!texture || texture.image.width !== fine * nu || texture.image.height !== fine * nv) {
      texture?.dispose();
      texture = new THREE.DataTexture(bytes, fine * nu, fine * nv, THREE.RGBAFormat);
      texture.colorSpace = THREE.SRGBColorSpace;
      texture.minFilter = texture.magFilter = THREE.LinearFilter;
      this.slice.material.map = texture;
      this.slice.material.needsUpdate = true;
    } else (texture.image.data as Uint8Array).set(bytes);
    texture.needsUpdate = true;
    const s = grid.spacing;
    const centre = grid.origin.map((x, k) => x + 0.5 * s * grid.cells[k]);
    centre[axis] = flat ? -1e-3 * look.size : grid.origin[axis] + s * (layer + 0.5);
    const to = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
    to[0].setComponent(u, nu * s);
    to[1].setComponent(v, nv * s);
    to[2].setComponent(axis, 1);
    this.slice.matrixAutoUpdate = false;
    this.slice.matrix.makeBasis(to[0], to[1], to[2]).setPosition(centre[0], centre[1], centre[2]);
  }

  private paintLiquids(
    frame: Frame,
    grid: GridPart,
    distances: Field[],
    look: Look,
    nu: number,
    nv: number,
    fine: number,
    cell: (i: number, j: number) => number,
    put: (at: number, colour: Rgb, alpha?: number) => void,
  ) {
    const data = distances.map((field) => frame.f32(field.data));
    const colours = distances.map((field, k) => ofLiquid(field.name.slice("distance to ".length), k));
    const paper: Rgb = look.flat ? [0.94, 0.94, 0.95] : [0.5, 0.5, 0.5];
    const rgb: Rgb = [0, 0, 0];
    // Linear between cell centres.
    const along = (p: number, n: number): [number, number, number] => {
      const x = Math.min(Math.max((p + 0.5) / fine - 0.5, 0), n - 1);
      const low = Math.min(Math.floor(x), Math.max(n - 2, 0));
      return [low, Math.min(low + 1, n - 1), x - low];
    };
    for (let q = 0; q < fine * nv; q++) {
      const [j, j1, s] = along(q, nv);
      for (let p = 0; p < fine * nu; p++) {
        const [i, i1, r] = along(p, nu);
        const [a, b, c, d] = [cell(i, j), cell(i1, j), cell(i, j1), cell(i1, j1)];
        let nearest = 0;
        let distance = Infinity;
        for (let k = 0; k < data.length; k++) {
          const phi = data[k];
          const here = (1 - s) * ((1 - r) * phi[a] + r * phi[b]) + s * ((1 - r) * phi[c] + r * phi[d]);
          if (here < distance) [nearest, distance] = [k, here];
        }
        const t = Math.min(Math.max(0.5 - (fine * distance) / grid.spacing, 0), 1);
        for (let k = 0; k < 3; k++) rgb[k] = paper[k] + t * (colours[nearest][k] - paper[k]);
        put(p + fine * nu * q, rgb);
      }
    }
  }

  /** Lines; on a slice they are drawn over it. */
  private lines(old: THREE.LineSegments | null, shown: boolean, over: boolean): THREE.LineSegments | null {
    if (old) {
      old.visible = shown;
      (old.material as THREE.Material).depthTest = !over;
    }
    if (old || !shown) return old;
    const made = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ vertexColors: true, depthTest: !over, transparent: true }));
    made.frustumCulled = false;
    made.renderOrder = 11;
    made.raycast = () => {};
    this.object.add(made);
    return made;
  }

  /** Cells on which arrows stand or streamlines start: a lattice of about `n` across the longest edge, in the slice if there is one. */
  private seeds(grid: GridPart, look: Look, flat: boolean, n: number): number[][] {
    const axis = flat ? 2 : ["x", "y", "z"].indexOf(look.settings.slice);
    const step = Math.max(1, Math.round(Math.max(...grid.cells) / n));
    const along = (k: number) => {
      if (k === axis) return [flat ? 0 : Math.min(Math.floor(look.settings.at * grid.cells[k]), grid.cells[k] - 1)];
      const wide = axis < 0 ? 3 * step : step;
      return Array.from({ length: Math.ceil(grid.cells[k] / wide) }, (_, i) => Math.min(Math.floor((i + 0.5) * wide), grid.cells[k] - 1));
    };
    const seeds: number[][] = [];
    for (const k of along(2)) for (const j of along(1)) for (const i of along(0)) seeds.push([i, j, k]);
    return seeds;
  }

  private updateArrows(grid: GridPart, flow: Float32Array | null, look: Look, flat: boolean, fastest: number) {
    const shown = look.settings.vectors && flow !== null;
    if (this.arrows) this.arrows.object.visible = shown;
    if (!shown || !flow) return;
    if (!this.arrows) {
      this.arrows = new Arrows();
      this.object.add(this.arrows.object);
    }
    const over = flat || look.settings.slice !== "off";
    const step = Math.max(1, Math.round(Math.max(...grid.cells) / 40)) * grid.spacing;
    const [tail, v, cell] = Array.from({ length: 3 }, () => new THREE.Vector3());
    const scale = { low: 0, high: fastest, signed: false };
    const rgb: Rgb = [0, 0, 0];
    for (const [i, j, k] of this.seeds(grid, look, flat, 40)) {
      v.fromArray(flow, 3 * (i + grid.cells[0] * (j + grid.cells[1] * k)));
      const speed = v.length();
      if (!(speed > 0.004 * fastest)) continue;
      tail.set(...grid.origin).addScaledVector(cell.set(i + 0.5, j + 0.5, flat ? 0 : k + 0.5), grid.spacing);
      if (flat) tail.z = 1e-3 * look.size;
      // Ink on a slice, which has colours already; the scale of speed elsewhere.
      this.arrows.add(tail, v, (over ? 1.4 : 3) * step * Math.sqrt(speed / fastest), over ? INK : colourOf(scale, speed, rgb));
    }
    this.arrows.finish();
  }

  private updateStreams(grid: GridPart, flow: Float32Array | null, look: Look, flat: boolean, fastest: number) {
    const shown = look.settings.streamlines && flow !== null;
    const over = flat || look.settings.slice !== "off";
    this.streams = this.lines(this.streams, shown, over);
    if (!shown || !flow || !this.streams) return;
    const position: number[] = [];
    const colour: number[] = [];
    const scale = { low: 0, high: fastest, signed: false };
    const longest = Math.max(...grid.cells);
    const seeds = this.seeds(grid, look, flat, flat ? 18 : 24);
    const [v, w, at, next] = Array.from({ length: 4 }, () => new THREE.Vector3());
    const s = grid.spacing;
    for (const seed of seeds) {
      for (const sign of [1, -1]) {
        at.set(seed[0], seed[1], seed[2]);
        for (let steps = 0; steps < 1.2 * longest; steps++) {
          if (!sample(flow, grid.cells, at, v)) break;
          const speed = v.length();
          if (!(speed > 0.004 * fastest)) break;
          // The midpoint rule in lengths of half a cell.
          next.copy(at).addScaledVector(v, (0.25 * sign) / speed);
          if (!sample(flow, grid.cells, next, w)) break;
          const there = w.length();
          if (!(there > 0)) break;
          next.copy(at).addScaledVector(w, (0.5 * sign) / there);
          for (const point of [at, next]) {
            position.push(grid.origin[0] + s * (point.x + 0.5), grid.origin[1] + s * (point.y + 0.5), flat ? 1e-3 * look.size : grid.origin[2] + s * (point.z + 0.5));
            const rgb = over ? INK : colourOf(scale, speed, [0, 0, 0]);
            colour.push(...rgb);
          }
          at.copy(next);
        }
      }
    }
    replace(this.streams, position, colour);
  }

  entry(): number {
    return -1;
  }

  locate() {
    return null;
  }

  dispose(): void {
    this.arrows?.dispose();
    (this.cloud?.material.uniforms.cloud.value as THREE.Texture | null)?.dispose();
    this.slice?.material.map?.dispose();
    for (const object of [this.cloud, this.slice, this.streams, this.outline]) {
      object?.geometry.dispose();
      (object?.material as THREE.Material | undefined)?.dispose();
    }
  }
}

function replace(lines: THREE.LineSegments, position: number[], colour: number[]) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
  geometry.setAttribute("color", new THREE.Float32BufferAttribute(colour, 3));
  lines.geometry.dispose();
  lines.geometry = geometry;
}

/** The velocity between cell centres, `at` in cells; false outside. */
function sample(flow: Float32Array, cells: readonly number[], at: THREE.Vector3, out: THREE.Vector3): boolean {
  const low = [0, 0, 0];
  const weight = [0, 0, 0];
  for (let k = 0; k < 3; k++) {
    const x = at.getComponent(k);
    if (!(x >= -0.5 && x <= cells[k] - 0.5)) return false;
    const inside = Math.min(Math.max(x, 0), cells[k] - 1);
    low[k] = Math.min(Math.floor(inside), Math.max(cells[k] - 2, 0));
    weight[k] = inside - low[k];
  }
  out.set(0, 0, 0);
  for (let corner = 0; corner < 8; corner++) {
    let share = 1;
    let index = 0;
    let stride = 1;
    for (let k = 0; k < 3; k++) {
      const up = (corner >> k) & 1;
      share *= up ? weight[k] : 1 - weight[k];
      index += stride * Math.min(low[k] + up, cells[k] - 1);
      stride *= cells[k];
    }
    if (share > 0) {
      out.x += share * flow[3 * index];
      out.y += share * flow[3 * index + 1];
      out.z += share * flow[3 * index + 2];
    }
  }
  return true;
}

/** Vorticity across a slice, by central differences (1/s). */
function curl(
  flow: Float32Array,
  grid: GridPart,
  [u, v]: number[],
  cell: (i: number, j: number) => number,
  i: number,
  j: number,
): number {
  const [nu, nv] = [grid.cells[u], grid.cells[v]];
  const difference = (component: number, a: number, b: number, distance: number) =>
    distance > 0 ? (flow[3 * b + component] - flow[3 * a + component]) / (distance * grid.spacing) : 0;
  const [i0, i1, j0, j1] = [Math.max(i - 1, 0), Math.min(i + 1, nu - 1), Math.max(j - 1, 0), Math.min(j + 1, nv - 1)];
  return difference(v, cell(i0, j), cell(i1, j), i1 - i0) - difference(u, cell(i, j0), cell(i, j1), j1 - j0);
}
