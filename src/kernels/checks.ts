/** Shape checks that both backends share, so that a wrong call fails with the same words on either. */
import type { AdamWHyper, AdamWState, SampleArgs, Tensor } from './kernels.ts';

/** Logits at or below this are impossible actions. */
export const MASKED_LOGIT = -1e30;

/** Number of elements of `shape`; throws a RangeError unless every extent is a whole number >= 0. */
export function sizeOfShape(shape: readonly number[], label: string): number {
  for (const extent of shape) {
    if (!Number.isSafeInteger(extent) || extent < 0) {
      throw new RangeError(
        `${label}: shape [${shape.join(', ')}] has an extent that is not a whole number >= 0`,
      );
    }
  }
  return shape.reduce((product, extent) => product * extent, 1);
}

function fail(operation: string, name: string, tensor: Tensor, allowed: string): never {
  const given = `${tensor.dtype}[${tensor.shape.join(', ')}] "${tensor.label}"`;
  throw new RangeError(`${operation}: ${name} is ${given}, must be ${allowed}`);
}

function isFloat(tensor: Tensor): boolean {
  return tensor.dtype === 'f32' || tensor.dtype === 'f64';
}

/** `tensor` holds `size` floats, whatever its shape. */
export function expectFloats(operation: string, name: string, tensor: Tensor, size: number): void {
  if (!isFloat(tensor) || tensor.size !== size) fail(operation, name, tensor, `floats, ${size} elements`);
}

/** `tensor` holds `size` i32, whatever its shape. */
export function expectInts(operation: string, name: string, tensor: Tensor, size: number): void {
  if (tensor.dtype !== 'i32' || tensor.size !== size) fail(operation, name, tensor, `i32, ${size} elements`);
}

/** Rows N and width V of a float tensor: all extents but the last are rows. V >= 1. */
export function expectRows(operation: string, name: string, tensor: Tensor): { rows: number; width: number } {
  const width = tensor.shape.at(-1) ?? 0;
  if (!isFloat(tensor) || tensor.shape.length < 2 || width < 1) {
    fail(operation, name, tensor, 'floats [N, V] with V >= 1');
  }
  return { rows: tensor.size / width, width };
}

/** `tensor` is floats [rows, width], or the same with rows split over several extents. */
export function expectRowsOf(
  operation: string,
  name: string,
  tensor: Tensor,
  rows: number,
  width: number,
): void {
  if (!isFloat(tensor) || tensor.shape.at(-1) !== width || tensor.size !== rows * width) {
    fail(operation, name, tensor, `floats [${rows}, ${width}]`);
  }
}

/** Throws a RangeError unless `ok`. `allowed` completes "must be". */
export function expectNumber(
  operation: string,
  name: string,
  value: number,
  ok: boolean,
  allowed: string,
): void {
  if (!ok) throw new RangeError(`${operation}: ${name} is ${value}, must be ${allowed}`);
}

export function expectTemperature(operation: string, temperature: number): void {
  expectNumber(
    operation,
    'temperature',
    temperature,
    temperature > 0 && temperature < Infinity,
    'above 0 and finite',
  );
}

/** A count that sizes a tensor: a whole number >= 0. */
export function expectCount(operation: string, name: string, value: number): void {
  expectNumber(operation, name, value, Number.isSafeInteger(value) && value >= 0, 'a whole number >= 0');
}

/** The scalar arguments of `sample`. */
export function expectSampleArgs(args: SampleArgs): void {
  expectTemperature('sample', args.temperature);
  expectNumber('sample', 'topP', args.topP, args.topP > 0 && args.topP <= 1, 'above 0 and up to 1');
  expectCount('sample', 'firstCounter', args.firstCounter);
}

/** Same shape and dtype, as `assign` needs. */
export function expectSameKind(operation: string, target: Tensor, source: Tensor): void {
  const same = target.dtype === source.dtype && target.shape.join() === source.shape.join();
  if (!same)
    fail(operation, 'source', source, `${target.dtype}[${target.shape.join(', ')}] like "${target.label}"`);
}

/** One gradient, first and second moment a parameter, each of its size. */
export function expectAdamW(
  params: readonly Tensor[],
  grads: readonly Tensor[],
  state: AdamWState,
  hyper: AdamWHyper,
): void {
  for (const [name, list] of Object.entries({ grads, 'state.m': state.m, 'state.v': state.v })) {
    if (list.length !== params.length) {
      throw new RangeError(`adamw: ${list.length} ${name} for ${params.length} params, must be one a param`);
    }
    params.forEach((param, k) => {
      expectFloats('adamw', `${name}[${k}]`, list[k]!, param.size);
    });
  }
  expectNumber('adamw', 'lr', hyper.lr, Number.isFinite(hyper.lr), 'finite');
  for (const name of ['beta1', 'beta2'] as const) {
    expectNumber('adamw', name, hyper[name], hyper[name] >= 0 && hyper[name] < 1, 'from 0 and below 1');
  }
  expectNumber('adamw', 'eps', hyper.eps, hyper.eps > 0, 'above 0');
}
