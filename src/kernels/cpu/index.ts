import {
  expectAdamW,
  expectCount,
  expectFloats,
  expectInts,
  expectNumber,
  expectRows,
  expectRowsOf,
  expectSameKind,
  expectSampleArgs,
  expectTemperature,
} from '../checks.ts';
import { expectAdvantageArgs, expectClippedObjectiveArgs, expectQuantileArgs } from '../checksOfArgs.ts';
import type {
  AdamWHyper,
  AdamWState,
  AdvantageArgs,
  AdvantageResult,
  ClippedObjectiveArgs,
  ClippedObjectiveResult,
  GroupNormaliseArgs,
  GroupNormaliseResult,
  Kernels,
  KlArgs,
  KlQuantile,
  KlQuantileArgs,
  KlResult,
  LogProbResult,
  SampleArgs,
  SampleResult,
  Tensor,
  TypedArray,
} from '../kernels.ts';
import { adamwStep, clipGradients } from './adamw.ts';
import { advantages } from './advantages.ts';
import { clippedObjective } from './clippedObjective.ts';
import { groupNormalise } from './groupNormalise.ts';
import { klRows } from './kl.ts';
import { klQuantile } from './klQuantile.ts';
import { logProbRows } from './logProb.ts';
import { gatherRows, scatterAddRows } from './rows.ts';
import { sampleRows } from './sample.ts';
import { CpuTensor, dataOf } from './tensor.ts';

/** The kernels in plain TypeScript: float64 arithmetic, done at once, the reference for the shaders. */
export function createCpuKernels(): Kernels {
  return new CpuKernels();
}

class CpuKernels implements Kernels {
  readonly backend = 'cpu';
  readonly description = 'TypeScript, float64';
  readonly lost = new Promise<string>(() => {});
  private disposed = false;

  private own(data: TypedArray, shape: readonly number[], label: string): Tensor {
    if (this.disposed) throw new Error(`${label}: the cpu kernels were disposed and cannot be used`);
    return new CpuTensor(data, shape, label);
  }

  tensor(data: TypedArray, shape: readonly number[], label: string): Tensor {
    return this.own(data.slice(), shape, label);
  }

  zerosLike(like: Tensor, label: string): Tensor {
    return this.own(dataOf(like).slice().fill(0), like.shape, label);
  }

  copy(source: Tensor, label: string): Tensor {
    return this.own(dataOf(source).slice(), source.shape, label);
  }

  assign(target: Tensor, source: Tensor): void {
    expectSameKind('assign', target, source);
    dataOf(target).set(dataOf(source));
  }

  async read(...tensors: readonly Tensor[]): Promise<Float64Array[]> {
    return tensors.map((tensor) => Float64Array.from(dataOf(tensor)));
  }

  release(...tensors: readonly (Tensor | undefined)[]): void {
    for (const tensor of tensors) {
      if (!tensor) continue;
      dataOf(tensor);
      (tensor as CpuTensor).release();
    }
  }

  logProb(args: { logits: Tensor; actions: Tensor; temperature: number }): LogProbResult {
    const { rows, width } = expectRows('logProb', 'logits', args.logits);
    expectInts('logProb', 'actions', args.actions, rows);
    expectTemperature('logProb', args.temperature);
    const result = logProbRows(dataOf(args.logits), dataOf(args.actions), width, args.temperature);
    return {
      logProb: this.own(result.logProb, [rows], 'logProb'),
      logsumexp: this.own(result.logsumexp, [rows], 'logsumexp'),
      entropy: this.own(result.entropy, [rows], 'entropy'),
    };
  }

  kl(args: KlArgs): KlResult {
    const { rows, width } = expectRows('kl', 'logitsTar', args.logitsTar);
    expectRowsOf('kl', 'logitsCur', args.logitsCur, rows, width);
    expectTemperature('kl', args.temperature);
    if (args.gradWeight) expectFloats('kl', 'gradWeight', args.gradWeight, rows);
    const { kl, grad } = klRows(
      dataOf(args.logitsTar),
      dataOf(args.logitsCur),
      width,
      args.temperature,
      args.direction,
      args.gradWeight && dataOf(args.gradWeight),
    );
    return {
      kl: this.own(kl, [rows], 'kl'),
      ...(grad && { grad: this.own(grad, [rows, width], 'kl.grad') }),
    };
  }

  clippedObjective(args: ClippedObjectiveArgs): ClippedObjectiveResult {
    const { batch, steps } = args;
    const width = expectClippedObjectiveArgs(args);
    const result = clippedObjective({
      ...args,
      width,
      logitsTar: dataOf(args.logitsTar),
      logitsCur: dataOf(args.logitsCur),
      actions: dataOf(args.actions),
      active: dataOf(args.active),
      advantages: dataOf(args.advantages),
      klWeight: dataOf(args.klWeight),
    });
    return {
      u: this.own(result.u, [batch], 'u'),
      ratio: this.own(result.ratio, [batch], 'ratio'),
      ratioClipped: this.own(result.ratioClipped, [batch], 'ratioClipped'),
      objective: this.own(result.objective, [batch], 'objective'),
      kl: this.own(result.kl, [batch * steps], 'objective.kl'),
      dlogits: this.own(result.dlogits, [batch * steps, width], 'dlogits'),
      stats: this.own(result.stats, [5], 'objective.stats'),
    };
  }

  advantages(args: AdvantageArgs): AdvantageResult {
    const { batch, steps } = args;
    expectAdvantageArgs(args);
    const result = advantages({
      ...args,
      rewards: dataOf(args.rewards),
      logpHat: dataOf(args.logpHat),
      logpCur: dataOf(args.logpCur),
      values: dataOf(args.values),
      lengths: dataOf(args.lengths),
      terminated: dataOf(args.terminated),
    });
    return {
      rho: this.own(result.rho, [batch * steps], 'rho'),
      c: this.own(result.c, [batch * steps], 'c'),
      delta: this.own(result.delta, [batch * steps], 'delta'),
      advantage: this.own(result.advantage, [batch * steps], 'advantage'),
      sequence: this.own(result.sequence, [batch], 'sequence'),
    };
  }

  groupNormalise(args: GroupNormaliseArgs): GroupNormaliseResult {
    const size = args.values.size;
    expectFloats('groupNormalise', 'values', args.values, size);
    expectInts('groupNormalise', 'group', args.group, size);
    expectNumber('groupNormalise', 'eps', args.eps, args.eps > 0, 'above 0');
    expectNumber('groupNormalise', 'clip', args.clip, args.clip > 0, 'above 0');
    const result = groupNormalise(dataOf(args.values), dataOf(args.group), args.eps, args.clip);
    return {
      normalised: this.own(result.normalised, [size], 'normalised'),
      clipped: this.own(result.clipped, [size], 'clipped'),
    };
  }

  async klQuantile(args: KlQuantileArgs): Promise<KlQuantile> {
    expectQuantileArgs(args);
    return klQuantile(dataOf(args.values), args.mask && dataOf(args.mask), args.alpha, args.delta);
  }

  sample(args: SampleArgs): SampleResult {
    const { rows, width } = expectRows('sample', 'logits', args.logits);
    expectSampleArgs(args);
    const { temperature, topP, key, firstCounter } = args;
    const result = sampleRows(dataOf(args.logits), width, temperature, topP, key, firstCounter);
    return {
      actions: this.own(result.actions, [rows], 'sample.actions'),
      logProb: this.own(result.logProb, [rows], 'sample.logProb'),
    };
  }

  gatherRows(table: Tensor, index: Tensor): Tensor {
    const { width } = expectRows('gatherRows', 'table', table);
    expectInts('gatherRows', 'index', index, index.size);
    return this.own(gatherRows(dataOf(table), dataOf(index), width), [index.size, width], 'gatherRows');
  }

  scatterAddRows(values: Tensor, index: Tensor, rows: number): Tensor {
    const { rows: count, width } = expectRows('scatterAddRows', 'values', values);
    expectInts('scatterAddRows', 'index', index, count);
    expectCount('scatterAddRows', 'rows', rows);
    return this.own(
      scatterAddRows(dataOf(values), dataOf(index), width, rows),
      [rows, width],
      'scatterAddRows',
    );
  }

  clipGradNorm(grads: readonly Tensor[], maxNorm: number): Tensor {
    expectNumber('clipGradNorm', 'maxNorm', maxNorm, maxNorm > 0, 'above 0');
    for (const [k, grad] of grads.entries()) expectFloats('clipGradNorm', `grads[${k}]`, grad, grad.size);
    return this.own(Float64Array.of(clipGradients(grads.map(dataOf), maxNorm)), [1], 'gradNorm');
  }

  adamw(params: readonly Tensor[], grads: readonly Tensor[], state: AdamWState, hyper: AdamWHyper): void {
    expectAdamW(params, grads, state, hyper);
    state.step += 1;
    params.forEach((param, k) => {
      adamwStep(
        dataOf(param),
        dataOf(grads[k]!),
        dataOf(state.m[k]!),
        dataOf(state.v[k]!),
        state.step,
        hyper,
      );
    });
  }

  dispose(): void {
    this.disposed = true;
  }
}
