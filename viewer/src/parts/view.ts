// What every kind of part has in common.

import * as THREE from "three";
import { colourOf, type Rgb, type Scale } from "../colours";
import type { ArrayRef, Field, Frame, Part } from "../frames";
import type { Settings } from "../settings";

/** What a part is drawn with. */
export interface Look {
  settings: Settings;
  /** Colour scale of the chosen field. */
  scale: Scale;
  /** Number of the part in the frame, for its colour. */
  number: number;
  /** Colour of a liquid, if the part is one. */
  liquid: Rgb | null;
  flat: boolean;
  /** Radius of the scene (m). */
  size: number;
  /** Coarse copies of large surfaces, while things move. */
  rough: boolean;
}

/** Is a part drawn? Contacts are, when they are asked for. */
export const isShown = (part: Part, settings: Settings): boolean =>
  part.name === "contact points" ? settings.contacts : !settings.hidden.includes(part.name);

/** Draws one part of the frames. */
export interface PartView {
  readonly object: THREE.Object3D;
  /** Arrays that drawing needs. */
  needs(part: Part, settings: Settings, rough: boolean): ArrayRef[];
  update(frame: Frame, part: Part, look: Look): void;
  /** Entry of the part's fields that was hit; negative for none. */
  entry(hit: THREE.Intersection): number;
  /** Where an entry is, and how large. */
  locate(entry: number): { centre: THREE.Vector3; radius: number } | null;
  dispose(): void;
}

export const fieldOf = (part: Part, name: string): Field | undefined => part.fields.find((field) => field.name === name);

/** Arrays of the chosen colouring. */
export function colourNeeds(part: Part, settings: Settings): ArrayRef[] {
  const field = settings.colour === "body" ? undefined : fieldOf(part, settings.colour);
  return field ? [field.data] : [];
}

/** A number, or the length of a vector. */
export function sizeAt(data: Float32Array, components: number, entry: number): number {
  if (components === 1) return data[entry];
  let sum = 0;
  for (let k = 0; k < components; k++) sum += data[entry * components + k] ** 2;
  return Math.sqrt(sum);
}

/** What has no such field. */
const GREY: Rgb = [0.5, 0.5, 0.5];

/** The colour of every entry under the settings: a function that fills `out`. */
export function painter(
  frame: Frame,
  part: Part,
  look: Look,
  own: (entry: number) => Rgb,
): (entry: number, out: Rgb) => Rgb {
  if (look.settings.colour === "body") {
    return (entry, out) => {
      const colour = own(entry);
      out[0] = colour[0];
      out[1] = colour[1];
      out[2] = colour[2];
      return out;
    };
  }
  const field = fieldOf(part, look.settings.colour);
  if (!field || !frame.has(field.data)) {
    const plain = look.liquid ?? GREY;
    return (_, out) => {
      out[0] = plain[0];
      out[1] = plain[1];
      out[2] = plain[2];
      return out;
    };
  }
  const data = frame.f32(field.data);
  return (entry, out) => colourOf(look.scale, sizeAt(data, field.components, entry), out);
}

/** Edges where faces meet at more than 40 degrees stay sharp, as in `splashdown render`: there the normal is that of the face. */
export function keepEdges<M extends THREE.Material>(material: M): M {
  material.onBeforeCompile = (shader) => {
    shader.fragmentShader = shader.fragmentShader.replace(
      "#include <normal_fragment_begin>",
      `#include <normal_fragment_begin>
      vec3 flatNormal = normalize(cross(dFdx(vViewPosition), dFdy(vViewPosition)));
      if (abs(dot(flatNormal, normal)) < 0.8) normal = flatNormal;`,
    );
  };
  return material;
}
