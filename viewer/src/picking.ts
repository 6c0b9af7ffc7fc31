// What is known of the thing that is picked.

import type * as THREE from "three";
import { shown } from "./dom";
import type { ArrayRef, BodiesPart, Frame, Part } from "./frames";
import { CONTACTS } from "./parts/contacts";

/** Names of bodies, by their key: they are sent once. */
const names = new Map<string, string[]>();

function nameOf(frame: Frame, part: BodiesPart, body: number): string {
  let known = names.get(part.names_key);
  if (!known) names.set(part.names_key, (known = JSON.parse(frame.text(part.names)) as string[]));
  return known[body] ?? `body ${body}`;
}

/** Arrays that the facts of a part need. */
export function factsNeed(frame: Frame, part: Part): ArrayRef[] {
  const refs = part.fields.map((field) => field.data);
  const bodies = part.kind === "bodies" ? part : part.name === CONTACTS ? bodiesOf(frame) : undefined;
  return bodies ? [...refs, bodies.names] : refs;
}

const bodiesOf = (frame: Frame) => frame.header.parts.find((part): part is BodiesPart => part.kind === "bodies");

/** Rows of a table: name, mass, velocity, energy and every other field at an entry of a part. */
export function facts(frame: Frame, part: Part, entry: number, place: { centre: THREE.Vector3 } | null): [string, string][] {
  const rows: [string, string][] = [];
  const flat = frame.header.dimension === 2;
  if (part.kind === "bodies") {
    rows.push(["name", nameOf(frame, part, entry)]);
    if (entry >= part.count) rows.push(["", "not in this frame"]);
  } else rows.push(["name", part.name === CONTACTS ? "contact" : part.name], [part.kind === "mesh" ? "particle" : "point", String(entry)]);
  if (part.kind === "mesh") {
    if (part.elements) rows.push(["elements", String(part.elements)]);
    rows.push(["particles", String(part.particles)]);
  }
  if (place) rows.push(["position", `${place.centre.toArray().slice(0, frame.header.dimension).map(shown).join(", ")} m`]);
  for (const field of part.fields) {
    const n = field.components;
    if ((entry + 1) * n > field.data[1]) continue;
    const values = [...frame.f32(field.data).subarray(entry * n, entry * n + n)];
    const unit = field.unit === "1" ? "" : ` ${field.unit}`;
    if (part.name === CONTACTS && field.name === "bodies") {
      const bodies = bodiesOf(frame);
      if (bodies) rows.push(["between", values.slice(0, 2).map((body) => nameOf(frame, bodies, body)).join(" and ")]);
    } else if (n === 1) rows.push([field.name, `${shown(values[0])}${unit}`]);
    else {
      rows.push([field.name === "velocity" ? "speed" : `|${field.name}|`, `${shown(Math.hypot(...values))}${unit}`]);
      rows.push([field.name, `${(flat ? values.slice(0, 2) : values).map(shown).join(", ")}${unit}`]);
    }
  }
  return rows;
}
