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

/** Axis in 0..rank-1 from a possibly negative one. Throws `RangeError` for an axis that the rank does not have. */
export function normaliseAxis(axis: number, rank: number): number {
  if (!(axis >= -rank && axis < rank)) {
    throw new RangeError(`axis ${axis} does not exist in a tensor of rank ${rank}`);
  }
  return axis < 0 ? axis + rank : axis;
}

/** Far above what models have, and small enough that shapes cost no memory worth speaking of. */
const MAX_RANK = 64;
/** 1 GiB of float32. */
const MAX_ELEMENTS = 2 ** 28;
/** Longer symbols are of no use to tell dimensions equal. */
export const MAX_SYMBOL_LENGTH = 256;

/**
 * `shape` with symbols that have grown too long to be useful replaced by fresh ones. Throws `RangeError` for a dimension
 * that is no size, and for a rank or a number of elements that no model for this engine has.
 */
export function plausibleShape(shape: Shape, fresh: () => string): Shape {
  if (shape.length > MAX_RANK) {
    throw new RangeError(`a result has rank ${shape.length}, at most ${MAX_RANK} is supported`);
  }
  if (!shape.every((dim) => typeof dim === 'string' || (Number.isSafeInteger(dim) && dim >= 0))) {
    throw new RangeError(`a result has the dimensions [${shape.join(', ')}]`);
  }
  const elements = shape.reduce<number>((product, dim) => product * (typeof dim === 'number' ? dim : 1), 1);
  if (elements > MAX_ELEMENTS) {
    throw new RangeError(`a result [${shape.join(', ')}] has more than ${MAX_ELEMENTS} elements`);
  }
  return shape.map((dim) => (typeof dim === 'string' && dim.length > MAX_SYMBOL_LENGTH ? fresh() : dim));
}
