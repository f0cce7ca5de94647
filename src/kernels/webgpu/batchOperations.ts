import { expectFloats, expectInts, expectNumber } from '../checks.ts';
import { expectAdvantageArgs, expectQuantileArgs } from '../checksOfArgs.ts';
import type {
  AdvantageArgs,
  AdvantageResult,
  GroupNormaliseArgs,
  GroupNormaliseResult,
  KlQuantile,
  KlQuantileArgs,
} from '../kernels.ts';
import { interpolate, quantilePosition } from '../quantile.ts';
import type { Gpu } from './gpu.ts';
import { asGpuTensor } from './tensor.ts';

/** Divergences from here on stand for Infinity. */
const INFINITE = 1e30;

export function advantages(gpu: Gpu, args: AdvantageArgs): AdvantageResult {
  expectAdvantageArgs(args);
  const { batch, steps, gamma, lambda } = args;
  const size = batch * steps;
  const lengths = asGpuTensor(args.lengths);
  const ratios = { rho: gpu.create([size], 'f32', 'rho'), c: gpu.create([size], 'f32', 'c') };
  const outputs = {
    delta: gpu.create([size], 'f32', 'delta'),
    advantage: gpu.create([size], 'f32', 'advantage'),
    sequence: gpu.create([batch], 'f32', 'sequence'),
  };
  gpu.run('advantages', [
    {
      program: 'importanceRatios',
      reduction: 'thread',
      bindings: {
        logpHat: asGpuTensor(args.logpHat),
        logpCur: asGpuTensor(args.logpCur),
        lengths,
        ...ratios,
      },
      params: { size, steps },
      rows: size,
    },
    {
      program: 'advantages',
      reduction: 'thread',
      bindings: {
        rewards: asGpuTensor(args.rewards),
        values: asGpuTensor(args.values),
        c: ratios.c,
        lengths,
        terminated: asGpuTensor(args.terminated),
        ...outputs,
      },
      params: { batch, steps, gamma, decay: gamma * lambda, vtrace: args.trace === 'vtrace' ? 1 : 0 },
      rows: batch,
    },
  ]);
  return { ...ratios, ...outputs };
}

export function groupNormalise(gpu: Gpu, args: GroupNormaliseArgs): GroupNormaliseResult {
  const size = args.values.size;
  expectFloats('groupNormalise', 'values', args.values, size);
  expectInts('groupNormalise', 'group', args.group, size);
  expectNumber('groupNormalise', 'eps', args.eps, args.eps > 0, 'above 0');
  expectNumber('groupNormalise', 'clip', args.clip, args.clip > 0, 'above 0');
  const outputs = {
    normalised: gpu.create([size], 'f32', 'normalised'),
    clipped: gpu.create([size], 'f32', 'clipped'),
  };
  gpu.run('groupNormalise', [
    {
      program: 'groupNormalise',
      reduction: 'thread',
      bindings: { values: asGpuTensor(args.values), ids: asGpuTensor(args.group), ...outputs },
      params: { size, eps: args.eps, clip: args.clip },
      rows: size,
    },
  ]);
  return outputs;
}

/** Bits of the largest float32 that is at most `x` >= 0: a float32 is above `x` exactly if its bits are larger. */
function floorBits(x: number): number {
  const rounded = new Float32Array([x]);
  const bits = new Uint32Array(rounded.buffer)[0]!;
  return rounded[0]! > x ? bits - 1 : bits;
}

/** Ranks around the quantile for every possible number of unmasked rows, which only the GPU knows. */
function rankTable(size: number, alpha: number): Uint32Array<ArrayBuffer> {
  const table = new Uint32Array(size + 1);
  for (let count = 1; count <= size; count++) {
    const { low, high } = quantilePosition(count, alpha);
    table[count] = 2 * low + (high - low);
  }
  return table;
}

export async function klQuantile(gpu: Gpu, args: KlQuantileArgs): Promise<KlQuantile> {
  expectQuantileArgs(args);
  const values = asGpuTensor(args.values);
  const size = values.size;
  const ranks = gpu.create([size + 1], 'u32', 'klQuantile.ranks');
  gpu.write(ranks, rankTable(size, args.alpha));
  const result = gpu.create([7], 'u32', 'klQuantile.result');
  gpu.run('klQuantile', [
    {
      program: 'klQuantile',
      reduction: 'workgroup',
      bindings: { values, rowMask: args.mask ? asGpuTensor(args.mask) : values, ranks, result },
      params: { size, masked: args.mask ? 1 : 0, threshold: floorBits(args.delta) },
      rows: 1,
    },
  ]);
  const [bytes] = await gpu.read([result]).finally(() => {
    ranks.release();
    result.release();
  });
  return decodeQuantile(bytes!, args.alpha);
}

/** Turns the seven words of kl_quantile.wgsl into numbers and interpolates in float64. */
function decodeQuantile(bytes: ArrayBuffer, alpha: number): KlQuantile {
  const [count = 0, , , violationCount = 0, , notNumbers = 0] = new Uint32Array(bytes);
  const floats = Array.from(new Float32Array(bytes), (x) => (x >= INFINITE ? Number.POSITIVE_INFINITY : x));
  const [, low = 0, high = 0, , max = 0, , sum = 0] = floats;
  if (notNumbers > 0)
    throw new Error(`klQuantile: ${notNumbers} divergences are NaN, must be >= 0 or Infinity`);
  if (count === 0) return { count, linear: 0, higher: 0, violationCount: 0, max: 0, mean: 0 };
  const { fraction } = quantilePosition(count, alpha);
  return {
    count,
    linear: interpolate(low, high, fraction),
    higher: high,
    violationCount,
    max,
    mean: sum / count,
  };
}
