import {
  expectFloats,
  expectInts,
  expectRows,
  expectRowsOf,
  expectSampleArgs,
  expectTemperature,
} from '../checks.ts';
import { expectClippedObjectiveArgs } from '../checksOfArgs.ts';
import type {
  ClippedObjectiveArgs,
  ClippedObjectiveResult,
  KlArgs,
  KlResult,
  LogProbResult,
  SampleArgs,
  SampleResult,
  Tensor,
} from '../kernels.ts';
import { NUCLEUS_SLACK } from '../nucleus.ts';
import type { Gpu } from './gpu.ts';
import { asGpuTensor } from './tensor.ts';

/** Numbers a sequence leaves in the summary of clipped_objective.wgsl, besides the KL of its steps. */
const SUMMARY_PER_SEQUENCE = 6;

export function logProb(
  gpu: Gpu,
  args: { logits: Tensor; actions: Tensor; temperature: number },
): LogProbResult {
  const { rows, width: columns } = expectRows('logProb', 'logits', args.logits);
  expectInts('logProb', 'actions', args.actions, rows);
  expectTemperature('logProb', args.temperature);
  const outputs = {
    logProb: gpu.create([rows], 'f32', 'logProb'),
    logsumexp: gpu.create([rows], 'f32', 'logsumexp'),
    entropy: gpu.create([rows], 'f32', 'entropy'),
  };
  gpu.run('logProb', [
    {
      program: 'logProb',
      reduction: gpu.reductionFor(columns),
      bindings: { logits: asGpuTensor(args.logits), actions: asGpuTensor(args.actions), ...outputs },
      params: { rows, columns, temperature: args.temperature },
      rows,
    },
  ]);
  return outputs;
}

export function kl(gpu: Gpu, args: KlArgs): KlResult {
  const { rows, width: columns } = expectRows('kl', 'logitsTar', args.logitsTar);
  expectRowsOf('kl', 'logitsCur', args.logitsCur, rows, columns);
  expectTemperature('kl', args.temperature);
  if (args.gradWeight) expectFloats('kl', 'gradWeight', args.gradWeight, rows);
  const divergence = gpu.create([rows], 'f32', 'kl');
  const grad = args.gradWeight && gpu.create([rows, columns], 'f32', 'kl.grad');
  gpu.run('kl', [
    {
      program: grad ? 'klGradient' : 'kl',
      reduction: gpu.reductionFor(columns),
      bindings: {
        logitsTar: asGpuTensor(args.logitsTar),
        logitsCur: asGpuTensor(args.logitsCur),
        kl: divergence,
        ...(args.gradWeight && grad && { weight: asGpuTensor(args.gradWeight), grad }),
      },
      params: {
        rows,
        columns,
        temperature: args.temperature,
        reversed: args.direction === 'cur-tar' ? 1 : 0,
      },
      rows,
    },
  ]);
  return grad ? { kl: divergence, grad } : { kl: divergence };
}

export function clippedObjective(gpu: Gpu, args: ClippedObjectiveArgs): ClippedObjectiveResult {
  const columns = expectClippedObjectiveArgs(args);
  const { batch, steps, beta, temperature } = args;
  const rows = batch * steps;
  const summary = gpu.create([SUMMARY_PER_SEQUENCE * batch + rows], 'f32', 'objective.summary');
  const klWeight = asGpuTensor(args.klWeight);
  const dlogits = gpu.create([rows, columns], 'f32', 'dlogits');
  const unpacked = {
    u: gpu.create([batch], 'f32', 'u'),
    ratio: gpu.create([batch], 'f32', 'ratio'),
    ratioClipped: gpu.create([batch], 'f32', 'ratioClipped'),
    objective: gpu.create([batch], 'f32', 'objective'),
    kl: gpu.create([rows], 'f32', 'objective.kl'),
    stats: gpu.create([5], 'f32', 'objective.stats'),
  };
  gpu.run('clippedObjective', [
    {
      program: 'clippedObjective',
      reduction: gpu.reductionFor(columns),
      bindings: {
        logitsTar: asGpuTensor(args.logitsTar),
        logitsCur: asGpuTensor(args.logitsCur),
        actions: asGpuTensor(args.actions),
        acting: asGpuTensor(args.active),
        advantages: asGpuTensor(args.advantages),
        klWeight,
        summary,
        dlogits,
      },
      params: {
        batch,
        steps,
        columns,
        temperature,
        beta,
        bandLow: Math.log1p(-args.epsLow),
        bandHigh: Math.log1p(args.epsHigh),
      },
      rows: batch,
    },
    {
      program: 'clippedObjectiveStats',
      reduction: 'workgroup',
      bindings: { summary, klWeight, ...unpacked },
      params: { batch, rows, beta },
      rows: 1,
    },
  ]);
  summary.release();
  return { ...unpacked, dlogits };
}

export function sample(gpu: Gpu, args: SampleArgs): SampleResult {
  const { rows, width: columns } = expectRows('sample', 'logits', args.logits);
  expectSampleArgs(args);
  const outputs = {
    actions: gpu.create([rows], 'i32', 'sample.actions'),
    logProb: gpu.create([rows], 'f32', 'sample.logProb'),
  };
  gpu.run('sample', [
    {
      program: 'sample',
      reduction: gpu.reductionFor(columns),
      bindings: { logits: asGpuTensor(args.logits), ...outputs },
      params: {
        rows,
        columns,
        temperature: args.temperature,
        topP: args.topP,
        slack: NUCLEUS_SLACK,
        keyLow: args.key[0],
        keyHigh: args.key[1],
        firstCounter: args.firstCounter,
      },
      rows,
    },
  ]);
  return outputs;
}
