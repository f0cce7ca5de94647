import { describe, expect, test } from 'vitest';
import {
  expectClose,
  floats,
  gradientTolerance,
  ints,
  lanes,
  normals,
  numericalGradient,
  useKernels,
} from '../../test/support/lanes.ts';
import { createCpuKernels } from './cpu/index.ts';
import { type Kernels, objectiveStats } from './kernels.ts';

interface Case {
  readonly batch: number;
  readonly steps: number;
  readonly tar: ArrayLike<number>;
  readonly cur: ArrayLike<number>;
  readonly actions: readonly number[];
  readonly active?: readonly number[];
  readonly advantages: readonly number[];
  readonly klWeight?: readonly number[];
  readonly beta?: number;
  readonly temperature?: number;
  readonly epsHigh?: number;
}

async function evaluate(k: Kernels, c: Case) {
  const rows = c.batch * c.steps;
  const width = c.tar.length / rows;
  const tensors = {
    logitsTar: k.tensor(Float64Array.from(c.tar), [rows, width], 'tar'),
    logitsCur: k.tensor(Float64Array.from(c.cur), [rows, width], 'cur'),
    actions: ints(k, c.actions),
    active: ints(k, c.active ?? c.actions.map(() => 1)),
    advantages: floats(k, c.advantages),
    klWeight: floats(k, c.klWeight ?? c.actions.map(() => 1 / rows)),
  };
  const { batch, steps, beta = 0, temperature = 1, epsHigh = 0.2 } = c;
  const result = k.clippedObjective({ ...tensors, batch, steps, beta, temperature, epsLow: 0.2, epsHigh });
  const { u, ratio, ratioClipped, objective, kl, dlogits, stats } = result;
  const numbers = await k.read(u, ratio, ratioClipped, objective, kl, dlogits, stats);
  k.release(...Object.values(tensors), ...Object.values(result));
  return {
    u: numbers[0]!,
    ratio: numbers[1]!,
    ratioClipped: numbers[2]!,
    objective: numbers[3]!,
    kl: numbers[4]!,
    dlogits: numbers[5]!,
    stats: objectiveStats(numbers[6]!),
    all: numbers.flatMap((x) => [...x]),
  };
}

describe.each(lanes)('clippedObjective on $name', (lane) => {
  const kernels = useKernels(lane);

  test('from equal policies: every ratio exactly 1, every KL exactly 0, the plain policy gradient', async () => {
    const logits = normals(1, 4 * 3);
    const result = await evaluate(kernels(), {
      batch: 2,
      steps: 2,
      tar: logits,
      cur: logits,
      actions: [0, 2, 1, 1],
      advantages: [1.5, -0.5],
      beta: 0.3,
      temperature: 0.8,
    });
    expect([...result.ratio, ...result.kl, ...result.u]).toEqual([1, 1, 0, 0, 0, 0, 0, 0]);
    expect(result.stats).toEqual({
      meanObjective: 0.5,
      meanKl: 0,
      loss: -0.5,
      clipFraction: 0,
      outsideFraction: 0,
    });
    const p = (n: number) => {
      const row = [...logits.slice(n * 3, n * 3 + 3)].map((x) => Math.exp(x / 0.8));
      return row.map((x) => x / row.reduce((sum, y) => sum + y, 0));
    };
    const advantage = [1.5, 1.5, -0.5, -0.5];
    const gradient = [0, 2, 1, 1].flatMap((a, n) =>
      p(n).map((x, v) => (-advantage[n]! / 2 / 0.8) * ((v === a ? 1 : 0) - x)),
    );
    expectClose(result.dlogits, gradient, lane);
  });

  test('two actions, one step: ratio, band and branches in closed form', async () => {
    // pi_cur is uniform; pi_tar's first action has log-odds x, so its ratio is 2 / (1 + e^-x).
    const ratio = (x: number) => 2 / (1 + Math.exp(-x));
    const x = [1, 1, -1, -1, 0.1];
    const advantages = [1, -1, 1, -1, 2];
    const result = await evaluate(kernels(), {
      batch: 5,
      steps: 1,
      tar: x.flatMap((odds) => [odds, 0]),
      cur: new Float64Array(10),
      actions: [0, 0, 0, 0, 0],
      advantages,
      epsHigh: 0.28,
    });
    expectClose(result.ratio, x.map(ratio), lane);
    expectClose(result.ratioClipped, [1.28, 1.28, 0.8, 0.8, ratio(0.1)], lane);
    const objective = [1.28, -ratio(1), ratio(-1), -0.8, 2 * ratio(0.1)];
    expectClose(result.objective, objective, lane);
    expectClose([result.stats.clipFraction, result.stats.outsideFraction], [0.4, 0.8], lane);
    expectClose([result.stats.meanObjective], [objective.reduce((sum, o) => sum + o, 0) / 5], lane);
    // The clipped ones have no gradient at all.
    const clipped = [...result.dlogits.slice(0, 2), ...result.dlogits.slice(6, 8)];
    expect(clipped.every((g) => g === 0)).toBe(true);
  });

  test('inactive steps: no KL, no gradient, actions ignored; a sequence without a step has objective 0', async () => {
    const result = await evaluate(kernels(), {
      batch: 2,
      steps: 2,
      tar: normals(2, 8),
      cur: normals(3, 8),
      actions: [1, -7, 99, 99],
      active: [1, 0, 0, 0],
      advantages: [1, 3],
      klWeight: [1, 0, 0, 0],
      beta: 0.1,
    });
    expect([result.u[1], result.ratio[1], result.ratioClipped[1], result.objective[1]]).toEqual([0, 1, 1, 0]);
    expect([...result.kl.slice(1)]).toEqual([0, 0, 0]);
    expect(result.dlogits.slice(2).every((g) => g === 0)).toBe(true);
    expect(result.dlogits[0]).not.toBe(0);
    expectClose([result.stats.meanObjective], [result.objective[0]! / 2], lane);
  });

  test('nobody acts: loss 0, gradient 0', async () => {
    const result = await evaluate(kernels(), {
      batch: 1,
      steps: 2,
      tar: normals(2, 6),
      cur: normals(3, 6),
      actions: [0, 0],
      active: [0, 0],
      advantages: [1],
      klWeight: [0, 0],
      beta: 1,
    });
    expect(result.stats).toEqual({
      meanObjective: 0,
      meanKl: 0,
      loss: 0,
      clipFraction: 0,
      outsideFraction: 0,
    });
    expect(result.dlogits.every((g) => g === 0)).toBe(true);
  });

  test('infinite ratios: A = 0 gives 0, no number is NaN', async () => {
    const [open, shut] = [
      [0, 0],
      [-Infinity, 0],
    ];
    const result = await evaluate(kernels(), {
      batch: 5,
      steps: 1,
      tar: [open, open, open, shut, shut].flat() as number[],
      cur: [shut, shut, shut, open, shut].flat() as number[],
      actions: [0, 0, 0, 0, 0],
      advantages: [0, 1, -1, 1, 1],
      klWeight: [0, 0, 0, 0, 0],
      beta: 0.5,
    });
    expectClose(result.u, [Infinity, Infinity, Infinity, -Infinity, 0], lane);
    expectClose(result.ratio, [Infinity, Infinity, Infinity, 0, 1], lane);
    expectClose(result.objective, [0, 1.2, -Infinity, 0, 1], lane);
    expect(result.all.some(Number.isNaN)).toBe(false);
    expect(result.stats.meanKl).toBe(0);
  });

  test('an impossible step rules the sequence out, whatever the others say', async () => {
    const result = await evaluate(kernels(), {
      batch: 1,
      steps: 2,
      tar: [0, 0, -Infinity, 0],
      cur: [-Infinity, 0, 0, 0],
      actions: [0, 0],
      advantages: [1],
      klWeight: [0, 0],
    });
    expectClose(result.u, [-Infinity], lane);
    expect([result.ratio[0], result.objective[0]]).toEqual([0, 0]);
    expect(result.all.some(Number.isNaN)).toBe(false);
  });

  test('one action: the objective is the advantage, the gradient 0', async () => {
    const result = await evaluate(kernels(), {
      batch: 2,
      steps: 1,
      tar: [3, -1e4],
      cur: [1, 1e4],
      actions: [0, 0],
      advantages: [0.75, -2],
      beta: 1,
    });
    expect([...result.objective]).toEqual([0.75, -2]);
    expect(result.dlogits.every((g) => g === 0)).toBe(true);
  });

  test('gradient agrees with finite differences of the loss', async () => {
    const [batch, steps, width] = [3, 4, 5];
    const size = batch * steps * width;
    const cur = normals(5, size);
    const change = normals(6, size, 0.15);
    const base: Omit<Case, 'tar'> = {
      batch,
      steps,
      cur,
      actions: Array.from({ length: batch * steps }, (_, n) => (n * 3) % width),
      active: [1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1],
      advantages: [1.25, -0.5, 0.75],
      klWeight: Array.from({ length: batch * steps }, (_, n) => 0.05 + 0.01 * n),
      beta: 0.7,
      temperature: 0.9,
    };
    const reference = createCpuKernels();
    const tar = cur.map((x, i) => Math.fround(x + change[i]!));
    const loss = async (x: Float64Array) => (await evaluate(reference, { ...base, tar: x })).stats.loss;
    const { dlogits } = await evaluate(kernels(), { ...base, tar });
    expectClose(dlogits, await numericalGradient(loss, tar), gradientTolerance(lane));
  });

  test('an empty batch', async () => {
    const k = kernels();
    const empty = (label: string) => k.tensor(new Float64Array(0), [0], label);
    const logits = k.tensor(new Float64Array(0), [0, 3], 'logits');
    const none = ints(k, []);
    const result = k.clippedObjective({
      batch: 0,
      steps: 4,
      logitsTar: logits,
      logitsCur: logits,
      actions: none,
      active: none,
      advantages: empty('advantages'),
      klWeight: empty('klWeight'),
      epsLow: 0.2,
      epsHigh: 0.2,
      beta: 0.1,
      temperature: 1,
    });
    const [stats, dlogits] = await k.read(result.stats, result.dlogits);
    expect([...stats!]).toEqual([0, 0, 0, 0, 0]);
    expect(dlogits).toHaveLength(0);
  });

  test('an epsilon of 1 is refused by name', async () => {
    const k = kernels();
    const logits = k.tensor(new Float64Array(2), [1, 2], 'logits');
    const args = {
      batch: 1,
      steps: 1,
      logitsTar: logits,
      logitsCur: logits,
      actions: ints(k, [0]),
      active: ints(k, [1]),
      advantages: floats(k, [1]),
      klWeight: floats(k, [1]),
      epsHigh: 0.2,
      beta: 0,
      temperature: 1,
    };
    expect(() => k.clippedObjective({ ...args, epsLow: 1 })).toThrow(
      'epsLow is 1, must be above 0 and below 1',
    );
    expect(() => k.clippedObjective({ ...args, epsLow: 0.2, batch: 2 })).toThrow(
      'clippedObjective: logitsTar is f',
    );
  });
});
