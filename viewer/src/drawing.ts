// The parts of a frame in the picture: one view for each, made when it first appears.

import * as THREE from "three";
import type { ArrayRef, Frame, Part } from "./frames";
import { colourScale } from "./legend";
import { liquidColour } from "./panel";
import { BodiesView } from "./parts/bodies";
import { CONTACTS, ContactsView } from "./parts/contacts";
import { GridView } from "./parts/grid";
import { MeshView } from "./parts/mesh";
import { PointsView } from "./parts/points";
import { isShown, type PartView } from "./parts/view";
import type { Settings } from "./settings";
import type { Stage } from "./stage";

const keyOf = (part: Part) => `${part.kind}:${part.name}`;

export class Drawing {
  private readonly known = new Map<string, PartView>();

  constructor(
    private readonly stage: Stage,
    private readonly settings: Settings,
  ) {}

  views(): Iterable<PartView> {
    return this.known.values();
  }

  private viewOf(frame: Frame, part: Part): PartView {
    const key = keyOf(part);
    let view = this.known.get(key);
    if (!view) {
      const flat = frame.header.dimension === 2;
      if (part.kind === "bodies") view = new BodiesView(flat);
      else if (part.kind === "points") view = part.name === CONTACTS ? new ContactsView() : new PointsView(flat);
      else if (part.kind === "mesh") view = new MeshView(flat);
      else view = new GridView(frame.header.dimension, this.stage);
      this.known.set(key, view);
      this.stage.content.add(view.object);
    }
    return view;
  }

  /** Arrays that drawing a frame needs; `rough` with coarse copies of large surfaces. */
  needs(frame: Frame, rough: boolean): ArrayRef[] {
    const parts = frame.header.parts.filter((part) => isShown(part, this.settings));
    return parts.flatMap((part) => this.viewOf(frame, part).needs(part, this.settings, rough));
  }

  draw(frame: Frame, rough: boolean): void {
    const { scale } = colourScale(frame, this.settings);
    const liquids = frame.header.parts.map((part) => part.name).filter((name) => name.startsWith("surface of "));
    const drawn = new Set<string>();
    frame.header.parts.forEach((part, number) => {
      if (!isShown(part, this.settings)) return;
      const view = this.viewOf(frame, part);
      drawn.add(keyOf(part));
      view.object.visible = true;
      view.update(frame, part, {
        settings: this.settings,
        scale,
        number,
        liquid: liquidColour(part.name, liquids),
        flat: frame.header.dimension === 2,
        size: this.stage.radius,
        rough,
      });
    });
    for (const [key, view] of this.known) if (!drawn.has(key)) view.object.visible = false;
  }

  hide(): void {
    for (const view of this.known.values()) view.object.visible = false;
  }

  /** Part and entry that is drawn at a point of the window. */
  at(frame: Frame, x: number, y: number): [string, number] | null {
    for (const hit of this.stage.hit(x, y)) {
      if (!isVisible(hit.object)) continue;
      for (const part of frame.header.parts) {
        const view = this.known.get(keyOf(part));
        const entry = view && isInside(hit.object, view.object) ? view.entry(hit) : -1;
        if (entry >= 0) return [part.name, entry];
      }
    }
    return null;
  }

  locate(part: Part, entry: number): { centre: THREE.Vector3; radius: number } | null {
    return this.known.get(keyOf(part))?.locate(entry) ?? null;
  }
}

function isInside(object: THREE.Object3D, group: THREE.Object3D): boolean {
  for (let at: THREE.Object3D | null = object; at; at = at.parent) if (at === group) return true;
  return false;
}

function isVisible(object: THREE.Object3D): boolean {
  for (let at: THREE.Object3D | null = object; at; at = at.parent) if (!at.visible) return false;
  return true;
}
