/** Sliders over option ranges: positions are values, or their decimal logarithms where the option says so. */
import type { NumberOption } from '../../runs/options.ts';

export interface SliderScale {
  readonly log: boolean;
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

/** Decades a logarithmic slider covers below the largest value, where the smallest is 0. */
const DECADES = 6;
/** Widest plain range that a slider can still hit exactly. */
const WIDEST = 100;

/** The scale of an option's slider; undefined where a slider would be too coarse. */
export function track(option: NumberOption): SliderScale | undefined {
  const { min, max } = option;
  if (option.log) {
    const top = Math.log10(max);
    return { log: true, min: min > 0 ? Math.log10(min) : top - DECADES, max: top, step: 0.01 };
  }
  if (max - min > WIDEST) return undefined;
  if (option.kind === 'integer') return { log: false, min, max, step: 1 };
  const step = 10 ** (Math.floor(Math.log10(max - min)) - 2);
  const inside = (excluded: boolean | undefined) => (excluded ? step : 0);
  return { log: false, min: min + inside(option.exclusiveMin), max: max - inside(option.exclusiveMax), step };
}

/** Where a value lies on the slider; values beyond its ends lie at the end. */
export function toTrack(scale: SliderScale, value: number): number {
  const position = scale.log ? Math.log10(Math.max(value, Number.MIN_VALUE)) : value;
  return Math.min(scale.max, Math.max(scale.min, position));
}

/** The value at a position, rounded to what a person would type: 3 significant digits. */
export function fromTrack(scale: SliderScale, position: number): number {
  return Number((scale.log ? 10 ** position : position).toPrecision(3));
}
