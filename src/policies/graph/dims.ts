/** Arithmetic on dimensions that may be symbols. */

import type { Dim } from './ir.ts';

export type Shape = readonly Dim[];

export function broadcast(shapes: readonly (Shape | undefined)[], fresh: () => string): Shape | undefined {
  let result: Shape = [];
  for (const shape of shapes) {
    if (!shape) return undefined;
    const rank = Math.max(result.length, shape.length);
    const left = padLeft(result, rank);
    const right = padLeft(shape, rank);
    result = left.map((dim, axis) => broadcastDim(dim, right[axis]!, fresh));
  }
  return result;
}

/** `shape` with ones in front, up to `rank` dimensions. */
export function padLeft(shape: Shape, rank: number): Shape {
  return [...Array.from({ length: rank - shape.length }, () => 1), ...shape];
}

function broadcastDim(a: Dim, b: Dim, fresh: () => string): Dim {
  if (a === b || b === 1) return a;
  if (a === 1) return b;
  if (typeof a === 'number') return a;
  return typeof b === 'number' ? b : fresh();
}

/** A canonical dimension for a product: equal products of symbols give equal symbols. */
export function productOf(dims: Shape): Dim {
  const numbers = dims.filter((dim) => typeof dim === 'number').reduce((product, dim) => product * dim, 1);
  const symbols = dims.filter((dim) => typeof dim === 'string').sort();
  if (symbols.length === 0 || numbers === 0) return numbers;
  return [...(numbers === 1 ? [] : [String(numbers)]), ...symbols].join('*');
}

/** The numbers and symbols that a canonical product multiplies. */
function factorsOf(dim: Dim): Dim[] {
  if (typeof dim === 'number') return [dim];
  return dim.split('*').map((factor) => (/^\d+$/.test(factor) ? Number(factor) : factor));
}

/** `product / divisor` where every factor of the divisor is among those of the product. */
export function quotientOf(product: Shape, divisor: Shape, fresh: () => string): Dim {
  const factors = product.flatMap(factorsOf);
  let number = 1;
  for (const dim of divisor.flatMap(factorsOf)) {
    const index = factors.indexOf(dim);
    if (typeof dim === 'number') number *= dim;
    else if (index >= 0) factors.splice(index, 1);
    else return fresh();
  }
  const total = factors.filter((f) => typeof f === 'number').reduce((p, f) => p * f, 1) / number;
  if (!Number.isInteger(total)) return fresh();
  return productOf([total, ...factors.filter((f) => typeof f === 'string')]);
}

/**
 * Length of dim[start:end:step]. A symbolic end from start 0 is taken to lie within the dimension, as a sequence length
 * does within a table of positions.
 */
export function sliceDim(dim: Dim, start: Dim, end: Dim, step: number | undefined, fresh: () => string): Dim {
  if (step !== 1 || typeof start === 'string') return fresh();
  if (start === 0 && typeof end === 'string') return dim === 1 ? fresh() : end;
  if (start === 0 && end === Number.MAX_SAFE_INTEGER) return dim;
  if (typeof dim === 'string' || typeof end === 'string') return fresh();
  const clamp = (at: number) => Math.max(0, Math.min(dim, at < 0 ? at + dim : at));
  return Math.max(0, clamp(end) - clamp(start));
}

/** Axis in 0..rank-1 from a possibly negative one. */
export function normaliseAxis(axis: number, rank: number): number {
  return axis < 0 ? axis + rank : axis;
}
