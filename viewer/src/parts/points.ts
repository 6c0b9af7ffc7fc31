// Loose points (drops, particles) as small balls: one square each, shaded as a ball where it is drawn.

import * as THREE from "three";
import { ofBody, type Rgb } from "../colours";
import type { ArrayRef, Frame, Part, PointsPart } from "../frames";
import type { Settings } from "../settings";
import { colourNeeds, fieldOf, type Look, painter, type PartView } from "./view";

const VERTEX = /* glsl */ `
  attribute vec3 color;
  attribute float radius;
  uniform float height;
  varying vec3 tint;
  void main() {
    tint = color;
    vec4 seen = modelViewMatrix * vec4(position, 1.0);
    gl_Position = projectionMatrix * seen;
    float depth = projectionMatrix[3][3] == 0.0 ? -seen.z : 1.0;
    gl_PointSize = max(2.0, height * projectionMatrix[1][1] * radius / max(depth, 1e-9));
  }`;

const FRAGMENT = /* glsl */ `
  uniform bool flatView;
  varying vec3 tint;
  void main() {
    vec2 at = 2.0 * gl_PointCoord - 1.0;
    float r = dot(at, at);
    if (r > 1.0) discard;
    vec3 normal = vec3(at.x, -at.y, sqrt(1.0 - r));
    float light = flatView ? 0.8 + 0.2 * normal.z : 0.45 + 0.65 * max(dot(normal, normalize(vec3(0.3, 0.8, 0.55))), 0.0);
    gl_FragColor = vec4(tint * light, 1.0);
    #include <colorspace_fragment>
  }`;

export class PointsView implements PartView {
  readonly object: THREE.Points;
  private readonly material: THREE.ShaderMaterial;
  private radii: Float32Array = new Float32Array();
  private positions: Float32Array = new Float32Array();

  constructor(flat: boolean) {
    this.material = new THREE.ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { height: { value: 720 }, flatView: { value: flat } },
    });
    this.object = new THREE.Points(new THREE.BufferGeometry(), this.material);
    this.object.frustumCulled = false;
    this.object.onBeforeRender = (renderer) => {
      this.material.uniforms.height.value = renderer.getDrawingBufferSize(new THREE.Vector2()).y;
    };
  }

  needs(part: Part, settings: Settings): ArrayRef[] {
    const radius = fieldOf(part, "radius");
    return [(part as PointsPart).position, ...(radius ? [radius.data] : []), ...colourNeeds(part, settings)];
  }

  update(frame: Frame, part: Part, look: Look): void {
    const points = part as PointsPart;
    this.positions = frame.f32(points.position);
    const count = this.positions.length / 3;
    const radius = fieldOf(part, "radius");
    // Without a size of their own: a third of the spacing of points that fill the scene evenly.
    const even = Math.max((0.5 * look.size) / Math.max(count, 1) ** (look.flat ? 1 / 2 : 1 / 3), 0.003 * look.size);
    this.radii = radius ? frame.f32(radius.data) : new Float32Array(count).fill(even);
    const paint = painter(frame, part, look, () => look.liquid ?? ofBody(look.number));
    const colours = new Float32Array(3 * count);
    const rgb: Rgb = [0, 0, 0];
    for (let i = 0; i < count; i++) {
      paint(i, rgb);
      colours.set(rgb, 3 * i);
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(this.positions, 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(colours, 3));
    geometry.setAttribute("radius", new THREE.BufferAttribute(this.radii, 1));
    this.object.geometry.dispose();
    this.object.geometry = geometry;
  }

  entry(hit: THREE.Intersection): number {
    return hit.index ?? -1;
  }

  locate(entry: number) {
    if (entry < 0 || entry >= this.radii.length) return null;
    return { centre: new THREE.Vector3().fromArray(this.positions, 3 * entry), radius: this.radii[entry] };
  }

  dispose(): void {
    this.object.geometry.dispose();
    this.material.dispose();
  }
}
