/** Golden files: small inputs with the values an implementation must return, and how to compare them. */
import type { Backend } from '../kernels/kernels.ts';

/** Anything a golden file holds; an infinity is the string "Infinity" or "-Infinity". */
export type GoldenValue =
  | number
  | boolean
  | string
  | readonly GoldenValue[]
  | { readonly [key: string]: GoldenValue };

export type GoldenRecord = Readonly<Record<string, GoldenValue>>;

export interface Tolerances {
  /** Float64: |x - e| <= atol + rtol |e|. */
  readonly rtol: number;
  readonly atol: number;
  /** The same for float32 code; a group without them is float64 only. */
  readonly rtol_f32?: number;
  readonly atol_f32?: number;
  /** Replaces rtol and atol for some keys of `expected`. */
  readonly tol_by_key?: Readonly<Record<string, { readonly rtol?: number; readonly atol?: number }>>;
}

export interface GoldenCase extends Tolerances {
  readonly name: string;
  readonly note?: string;
  readonly input: GoldenRecord;
  readonly expected: GoldenRecord;
}

export interface GoldenFile {
  readonly about: string;
  readonly group: string;
  readonly cases: readonly GoldenCase[];
}

/**
 * float32 tolerances of a group that states none: kernels whose results are exact there but for one rounded mean.
 * Order statistics and counts of float32-exact inputs hold to these with room to spare.
 */
const RTOL_F32_DEFAULT = 1e-6;
const ATOL_F32_DEFAULT = 1e-9;

/** In float32 an infinity may be any number of its sign with at least this magnitude. */
const INFINITE_F32 = 1e30;

/** A golden number: JSON has no infinity, so that is a string. Throws on anything else. */
export function goldenNumber(value: GoldenValue | undefined, what: string): number {
  if (value === 'Infinity') return Number.POSITIVE_INFINITY;
  if (value === '-Infinity') return Number.NEGATIVE_INFINITY;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'number') return value;
  throw new TypeError(`${what}: expected a number or "Infinity", got ${JSON.stringify(value)}`);
}

/** A nested golden array, flattened row-major, with its extents. Rows must be equally long. */
export function goldenArray(
  value: GoldenValue | undefined,
  what: string,
): { data: Float64Array; shape: number[] } {
  const data: number[] = [];
  const shape: number[] = [];
  const walk = (node: GoldenValue | undefined, depth: number): void => {
    if (!Array.isArray(node)) {
      data.push(goldenNumber(node, what));
      return;
    }
    shape[depth] ??= node.length;
    if (shape[depth] !== node.length)
      throw new RangeError(`${what}: rows of length ${node.length} and ${shape[depth]}`);
    for (const child of node) walk(child, depth + 1);
  };
  walk(value, 0);
  return { data: Float64Array.from(data), shape };
}

/** Row-major numbers as the nested arrays of a golden file; a scalar for the empty shape. */
export function nested(data: ArrayLike<number>, shape: readonly number[]): GoldenValue {
  const build = (offset: number, depth: number, stride: number): GoldenValue => {
    const extent = shape[depth];
    if (extent === undefined) return data[offset]!;
    const inner = stride / Math.max(1, extent);
    return Array.from({ length: extent }, (_, i) => build(offset + i * inner, depth + 1, inner));
  };
  return build(
    0,
    0,
    shape.reduce((product, extent) => product * extent, 1),
  );
}

export interface Mismatch {
  /** Where, e.g. `kl_tar_cur[2]`. */
  readonly path: string;
  readonly actual: GoldenValue | undefined;
  readonly expected: GoldenValue;
}

export interface Comparison {
  readonly ok: boolean;
  readonly firstMismatch?: Mismatch;
}

/** Tolerances of one key on one backend. */
function toleranceOf(tolerances: Tolerances, key: string, backend: Backend): { rtol: number; atol: number } {
  const byKey = tolerances.tol_by_key?.[key];
  if (backend === 'cpu') {
    return { rtol: byKey?.rtol ?? tolerances.rtol, atol: byKey?.atol ?? tolerances.atol };
  }
  const rtol = tolerances.rtol_f32 ?? Math.max(tolerances.rtol, RTOL_F32_DEFAULT);
  const atol = tolerances.atol_f32 ?? Math.max(tolerances.atol, ATOL_F32_DEFAULT);
  return { rtol: Math.max(rtol, byKey?.rtol ?? 0), atol: Math.max(atol, byKey?.atol ?? 0) };
}

/** A number as a value of the golden files, "Infinity" read; undefined for anything that is not one. */
function asNumber(value: GoldenValue | undefined): number | undefined {
  if (value === 'Infinity' || value === '-Infinity') return Number(value);
  return typeof value === 'number' ? value : undefined;
}

function numberMatches(
  actual: number,
  expected: number,
  rtol: number,
  atol: number,
  backend: Backend,
): boolean {
  if (Number.isFinite(expected)) return Math.abs(actual - expected) <= atol + rtol * Math.abs(expected);
  if (backend === 'cpu') return actual === expected;
  return Math.sign(actual) === Math.sign(expected) && Math.abs(actual) >= INFINITE_F32;
}

/**
 * Compares every key of `expected`, element by element. Booleans and strings match exactly; lengths of arrays must
 * agree; NaN matches nothing. Keys of `actual` that are not expected are ignored.
 */
export function compareGolden(
  actual: GoldenRecord,
  expected: GoldenRecord,
  tolerances: Tolerances,
  backend: Backend,
): Comparison {
  let firstMismatch: Mismatch | undefined;
  const walk = (
    x: GoldenValue | undefined,
    e: GoldenValue,
    path: string,
    rtol: number,
    atol: number,
  ): boolean => {
    const mismatch = () => {
      firstMismatch = { path, actual: x, expected: e };
      return false;
    };
    const wanted = asNumber(e);
    if (wanted !== undefined) {
      const given = asNumber(x);
      return (given !== undefined && numberMatches(given, wanted, rtol, atol, backend)) || mismatch();
    }
    if (Array.isArray(e)) {
      if (!Array.isArray(x) || x.length !== e.length) return mismatch();
      return e.every((child, i) => walk(x[i], child, `${path}[${i}]`, rtol, atol));
    }
    if (typeof e === 'object') {
      if (typeof x !== 'object' || Array.isArray(x)) return mismatch();
      const record = x as GoldenRecord;
      return Object.entries(e).every(([key, child]) =>
        walk(record[key], child, `${path}.${key}`, rtol, atol),
      );
    }
    return x === e || mismatch();
  };
  const ok = Object.entries(expected).every(([key, value]) => {
    const { rtol, atol } = toleranceOf(tolerances, key, backend);
    return walk(actual[key], value, key, rtol, atol);
  });
  return firstMismatch ? { ok, firstMismatch } : { ok };
}
