import { expectAdamW, expectCount, expectFloats, expectInts, expectNumber, expectRows } from '../checks.ts';
import type { AdamWHyper, AdamWState, Tensor } from '../kernels.ts';
import type { Dispatch, Gpu } from './gpu.ts';
import { asGpuTensor } from './tensor.ts';

/** Elements that one thread of the gradient norm sums at least, and the most threads a tensor gets. */
const NORM_STRIDE = 64;
const NORM_THREADS = 1024;

export function gatherRows(gpu: Gpu, table: Tensor, index: Tensor): Tensor {
  const { rows: tableRows, width: columns } = expectRows('gatherRows', 'table', table);
  expectInts('gatherRows', 'index', index, index.size);
  const gathered = gpu.create([index.size, columns], 'f32', 'gatherRows');
  gpu.run('gatherRows', [
    {
      program: 'gatherRows',
      reduction: 'thread',
      bindings: { table: asGpuTensor(table), index: asGpuTensor(index), gathered },
      params: { size: gathered.size, columns, tableRows },
      rows: gathered.size,
    },
  ]);
  return gathered;
}

export function scatterAddRows(gpu: Gpu, values: Tensor, index: Tensor, rows: number): Tensor {
  const { rows: count, width: columns } = expectRows('scatterAddRows', 'values', values);
  expectInts('scatterAddRows', 'index', index, count);
  expectCount('scatterAddRows', 'rows', rows);
  const sums = gpu.create([rows, columns], 'f32', 'scatterAddRows');
  gpu.run('scatterAddRows', [
    {
      program: 'scatterAddRows',
      reduction: 'thread',
      bindings: { values: asGpuTensor(values), index: asGpuTensor(index), sums },
      params: { size: sums.size, columns, rows: count },
      rows: sums.size,
    },
  ]);
  return sums;
}

export function clipGradNorm(gpu: Gpu, gradients: readonly Tensor[], maxNorm: number): Tensor {
  expectNumber('clipGradNorm', 'maxNorm', maxNorm, maxNorm > 0, 'above 0');
  for (const [k, grad] of gradients.entries()) expectFloats('clipGradNorm', `grads[${k}]`, grad, grad.size);
  const grads = gradients.map(asGpuTensor);
  const threads = grads.map(({ size }) => Math.min(NORM_THREADS, Math.ceil(size / NORM_STRIDE)));
  const count = threads.reduce((sum, n) => sum + n, 0);
  const partialSquares = gpu.create([count], 'f32', 'gradNorm.partials');
  const norm = gpu.create([1], 'f32', 'gradNorm');
  let offset = 0;
  const partials = grads.map((grad, k): Dispatch => {
    const params = { size: grad.size, threads: threads[k]!, offset };
    offset += threads[k]!;
    const bindings = { grad, partialSquares };
    return { program: 'gradNormPartials', reduction: 'thread', bindings, params, rows: threads[k]! };
  });
  const total: Dispatch = {
    program: 'gradNorm',
    reduction: 'workgroup',
    bindings: { partialSquares, norm },
    params: { count },
    rows: 1,
  };
  const scale = grads.map((grad): Dispatch => {
    const params = { size: grad.size, maxNorm };
    return { program: 'gradScale', reduction: 'thread', bindings: { norm, grad }, params, rows: grad.size };
  });
  gpu.run('clipGradNorm', [...partials, total, ...scale]);
  partialSquares.release();
  return norm;
}

export function adamw(
  gpu: Gpu,
  weights: readonly Tensor[],
  grads: readonly Tensor[],
  state: AdamWState,
  hyper: AdamWHyper,
): void {
  expectAdamW(weights, grads, state, hyper);
  state.step += 1;
  const { lr, beta1, beta2, eps, weightDecay } = hyper;
  const constants = {
    beta1,
    rate1: 1 - beta1,
    beta2,
    rate2: 1 - beta2,
    keep: 1 - lr * weightDecay,
    stepSize: lr / (1 - beta1 ** state.step),
    correction2: Math.sqrt(1 - beta2 ** state.step),
    eps,
  };
  gpu.run(
    'adamw',
    weights.map((tensor, k) => ({
      program: 'adamw',
      reduction: 'thread',
      bindings: {
        grad: asGpuTensor(grads[k]!),
        weights: asGpuTensor(tensor),
        m: asGpuTensor(state.m[k]!),
        v: asGpuTensor(state.v[k]!),
      },
      params: { size: tensor.size, ...constants },
      rows: tensor.size,
    })),
  );
}
