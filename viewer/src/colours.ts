// The colours of `splashdown render` (crates/render/src/colour.rs): linear red, green and blue.

export type Rgb = [number, number, number];

const BODIES: Rgb[] = [
  [0.85, 0.33, 0.1],
  [0.93, 0.69, 0.13],
  [0.2, 0.55, 0.35],
  [0.75, 0.7, 0.62],
  [0.49, 0.18, 0.45],
  [0.64, 0.08, 0.18],
  [0.4, 0.62, 0.65],
  [0.9, 0.55, 0.55],
];

export const WATER: Rgb = [0.1, 0.35, 0.62];

/** Floors and walls. */
export const SURROUNDINGS: Rgb = [0.72, 0.72, 0.71];

export const ofBody = (index: number): Rgb => BODIES[index % BODIES.length];

/** Colour of a liquid: water is blue, others are not. */
export const ofLiquid = (name: string, number: number): Rgb => (name.includes("water") ? WATER : ofBody(number + 1));

const STOPS: Rgb[] = [
  [0.05, 0.02, 0.25],
  [0.12, 0.13, 0.55],
  [0.05, 0.42, 0.55],
  [0.15, 0.65, 0.35],
  [0.65, 0.8, 0.12],
  [0.99, 0.88, 0.14],
];

/** From dark blue over green to yellow, as bright as large; for `x` from 0 to 1. */
export function ramp(x: number, out: Rgb = [0, 0, 0]): Rgb {
  const at = Number.isFinite(x) ? Math.min(Math.max(x, 0), 1) * 5 : 0;
  const cell = Math.min(Math.floor(at), 4);
  const t = at - cell;
  for (let k = 0; k < 3; k++) out[k] = STOPS[cell][k] * (1 - t) + STOPS[cell + 1][k] * t;
  return out;
}

/** Blue below 0, red above, pale between; for `x` from -1 to 1. */
export function diverging(x: number, out: Rgb = [0, 0, 0]): Rgb {
  const t = Number.isFinite(x) ? Math.min(Math.max(x, -1), 1) : 0;
  const s = Math.sqrt(Math.abs(t));
  const end: Rgb = t < 0 ? [0.03, 0.16, 0.55] : [0.6, 0.06, 0.05];
  for (let k = 0; k < 3; k++) out[k] = 0.82 + (end[k] - 0.82) * s;
  return out;
}

/** Bytes for a screen. */
export const toByte = (linear: number): number =>
  Math.round(255 * (linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055));

/** How numbers become colours: fields that have both signs get the diverging scale. */
export interface Scale {
  low: number;
  high: number;
  signed: boolean;
}

export function scaleOf(low: number, high: number): Scale {
  if (low < 0 && high > 0 && -low > 1e-3 * high) {
    const size = Math.max(-low, high);
    return { low: -size, high: size, signed: true };
  }
  return { low, high, signed: false };
}

export function colourOf(scale: Scale, value: number, out: Rgb): Rgb {
  const range = scale.high - scale.low;
  const x = range > 0 ? (value - scale.low) / range : 0;
  return scale.signed ? diverging(2 * x - 1, out) : ramp(x, out);
}

/** A CSS gradient of the scale. */
export function gradient(scale: Scale): string {
  const stops = Array.from({ length: 13 }, (_, i) => {
    const rgb = colourOf({ ...scale, low: 0, high: 12 }, i, [0, 0, 0]).map(toByte);
    return `rgb(${rgb.join(" ")})`;
  });
  return `linear-gradient(to right, ${stops.join(", ")})`;
}
