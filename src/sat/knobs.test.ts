import { describe, expect, it } from 'vitest';
import { collect, ofKind, tabularRun } from '../../test/support/collect.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import { Rng } from '../kernels/rng.ts';
import { sequenceAdvantages } from './advantage.ts';
import type { Rollouts } from './rollout.ts';
import { measureTrustRegion } from './trustRegion.ts';

const kernels = createCpuKernels();

describe('measureTrustRegion', () => {
  it('with alpha 0.05 picks the order statistic ceil(0.95 (N - 1)) of 120 distinct KLs, not the largest', async () => {
    const rng = Rng.of(7, 'init');
    // Every fifth row is masked, and holds a KL far above all others.
    const rows = Array.from({ length: 150 }, (_, n) => ({ x: 2 * rng.uniform(), acts: n % 5 !== 0 }));
    const column = (numbers: number[]) => Float64Array.from(numbers.flatMap((number) => [number, 0]));
    const tar = kernels.tensor(column(rows.map(({ x, acts }) => (acts ? x : 9))), [150, 2], 'tar');
    const cur = kernels.tensor(new Float64Array(300), [150, 2], 'cur');
    const mask = kernels.tensor(
      Int32Array.from(rows, ({ acts }) => (acts ? 1 : 0)),
      [150],
      'mask',
    );
    const settings = { alpha: 0.05, delta: 0.1, temperature: 1 };
    const measured = await measureTrustRegion(tar, cur, mask, settings, kernels);
    kernels.release(tar, cur, mask);
    const sorted = rows
      .filter(({ acts }) => acts)
      .map(({ x }) => {
        const p = 1 / (1 + Math.exp(-x));
        return p * Math.log(2 * p) + (1 - p) * Math.log(2 * (1 - p));
      })
      .sort((a, b) => a - b);
    expect(new Set(sorted).size).toBe(120);
    // 0.95 * 119 = 113.05
    expect(measured.higher).toBeCloseTo(sorted[114]!, 10);
    expect(sorted[115]! - sorted[114]!).toBeGreaterThan(1e-8);
    expect(sorted[114]! - sorted[113]!).toBeGreaterThan(1e-8);
    expect(measured.max).toBeCloseTo(sorted[119]!, 10);
    expect(measured.violationCount).toBe(sorted.filter((kl) => kl > 0.1).length);
  });
});

/**
 * Two trajectories of one group, T = 4: the first decides in columns 1 to 3, the second in columns 2 and 3. Prompt
 * columns hold values that would show if they were read.
 */
const rollouts: Rollouts = {
  batch: 2,
  steps: 4,
  observations: new Int32Array(8),
  actions: [new Int32Array(8), new Int32Array(8)],
  active: [Int32Array.of(0, 1, 1, 0, 0, 0, 1, 1), Int32Array.of(0, 1, 0, 1, 0, 0, 0, 1)],
  sampledLogProb: [new Float64Array(8), new Float64Array(8)],
  rewards: Float64Array.of(100, 1, 2, 4, 100, 100, 3, 8),
  lengths: Int32Array.of(4, 4),
  firstDecision: Int32Array.of(1, 2),
  ends: [
    { kind: 'terminated', why: 'solved' },
    { kind: 'truncated', why: 'horizon' },
  ],
  group: Int32Array.of(0, 0),
  returns: new Float64Array(2),
};
const logs = (...ratios: number[]) => Float64Array.from(ratios, Math.log);

describe('sequenceAdvantages', () => {
  // Agent 0 has moved; where it is inactive, and in the prompt, its ratio of 0.01 must not enter.
  const target = { role: 'target', values: logs(0.01, 0.25, 0.5, 0.01, 0.01, 0.01, 0.5, 2) } as const;
  const unmoved = { role: 'current', values: new Float64Array(8) } as const;
  const judge = (trace: 'retrace' | 'vtrace') =>
    sequenceAdvantages(
      rollouts,
      new Map([[0, target]]),
      [unmoved, unmoved],
      { gamma: 0.5, lambda: 1, trace, aClip: 0.75 },
      kernels,
    );

  it('retrace starts at the first decision and reweights later steps by the agents active there', async () => {
    const advantages = await judge('retrace');
    // First: A_3 = 4, A_2 = 2 + 1/2 * 1 * 4 = 4, A_1 = 1 + 1/2 * 1/2 * 4 = 2. Second: A_3 = 8, A_2 = 3 + 1/2 * 1 * 8 = 7.
    expect(advantages.raw[0]).toBeCloseTo(10, 10);
    expect(advantages.raw[1]).toBeCloseTo(15, 10);
    expect(advantages.normalised[0]).toBeCloseTo(-1, 7);
    expect(advantages.clipped).toEqual(Float64Array.of(-0.75, 0.75));
    expect(advantages.clippedShare).toBe(1);
    // rho over the five decisions: 1/4, 1/2, 1 and 1/2, 2.
    expect(advantages.rho.min).toBeCloseTo(0.25, 10);
    expect(advantages.rho.mean).toBeCloseTo(0.85, 10);
    expect(advantages.rho.max).toBeCloseTo(2, 10);
    expect(advantages.rho.truncatedShare).toBe(0.2);
  });

  it('vtrace reweights the step itself too', async () => {
    const { raw } = await judge('vtrace');
    // First: A_3 = 4, A_2 = 1/2 (2 + 2) = 2, A_1 = 1/4 (1 + 1) = 1/2. Second: A_3 = 8, A_2 = 1/2 (3 + 4) = 7/2.
    expect(raw[0]).toBeCloseTo(6.5, 10);
    expect(raw[1]).toBeCloseTo(11.5, 10);
  });
});

describe('beta in a run', () => {
  it('is divided by betaFactor after every stage that stays far inside the radius', async () => {
    const sat = { advantages: 'exact', gamma: 0.5, order: 'static', beta: 0.3, betaFactor: 2, delta: 10 };
    const run = await tabularRun({ stages: 2, task: { name: 'doorway' }, sat }, kernels);
    const promoted = ofKind(await collect(run), 'promote').filter((event) => event.agent === 0);
    await run.dispose();
    expect(promoted.map((event) => event.beta)).toEqual([
      { from: 0.3, to: 0.15, why: 'lowered' },
      { from: 0.15, to: 0.075, why: 'lowered' },
    ]);
  });
});
