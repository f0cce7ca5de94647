import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  expectClose,
  floats,
  gradientTolerance,
  lanes,
  matrix,
  normals,
  numericalGradient,
  useKernels,
} from '../../test/support/lanes.ts';
import { createCpuKernels } from './cpu/index.ts';
import type { Kernels, KlDirection } from './kernels.ts';
import { k1, k2, k3 } from './klEstimators.ts';

type Rows = readonly (readonly number[])[];

async function klOf(
  k: Kernels,
  tar: Rows,
  cur: Rows,
  direction: KlDirection,
  { temperature = 1, weight = tar.map(() => 1) } = {},
) {
  const [logitsTar, logitsCur, gradWeight] = [matrix(k, tar), matrix(k, cur), floats(k, weight)];
  const { kl, grad } = k.kl({ logitsTar, logitsCur, temperature, direction, gradWeight });
  const bare = k.kl({ logitsTar, logitsCur, temperature, direction });
  expect(bare.grad).toBeUndefined();
  const [values, gradient, again] = await k.read(kl, grad!, bare.kl);
  expect(again).toEqual(values);
  k.release(logitsTar, logitsCur, gradWeight, kl, grad, bare.kl);
  return { kl: values!, grad: gradient! };
}

const DIRECTIONS: readonly KlDirection[] = ['tar-cur', 'cur-tar'];

describe.each(lanes)('kl on $name', (lane) => {
  const kernels = useKernels(lane);

  test('two actions: the Bernoulli divergence, each way', async () => {
    const [p, q] = [1 / (1 + Math.exp(-1)), 1 / (1 + Math.exp(0.5))];
    const bernoulli = (a: number, b: number) => a * Math.log(a / b) + (1 - a) * Math.log((1 - a) / (1 - b));
    const tar = [[1, 0]];
    const cur = [[-0.5, 0]];
    expectClose((await klOf(kernels(), tar, cur, 'tar-cur')).kl, [bernoulli(p, q)], lane);
    expectClose((await klOf(kernels(), tar, cur, 'cur-tar')).kl, [bernoulli(q, p)], lane);
  });

  test('equal logits: exactly 0, gradient exactly 0', async () => {
    const rows = [[...normals(1, 5)], [3, -Infinity, 1e4, -1e4, 0]];
    for (const direction of DIRECTIONS) {
      const { kl, grad } = await klOf(kernels(), rows, rows, direction, { temperature: 0.7 });
      expect([...kl]).toEqual([0, 0]);
      expect(grad.every((g) => g === 0)).toBe(true);
    }
  });

  test('a step of 2^-10: half the variance of the step, not lost to rounding', async () => {
    const step = [1, -2, 0, 3];
    const cur = [[0.5, -0.25, 0, 1]];
    const tar = [cur[0]!.map((x, v) => x + step[v]! * 2 ** -10)];
    const weights = cur[0]!.map(Math.exp);
    const total = weights.reduce((sum, w) => sum + w, 0);
    const mean = step.reduce((sum, s, v) => sum + (s * weights[v]!) / total, 0);
    const variance = step.reduce((sum, s, v) => sum + ((s - mean) ** 2 * weights[v]!) / total, 0);
    const { kl } = await klOf(kernels(), tar, cur, 'tar-cur');
    // The next term of the expansion is of relative order 2^-10.
    expect(Math.abs(kl[0]! / (variance * 2 ** -21) - 1)).toBeLessThan(3e-3);
  });

  test('mass on an action impossible under the second policy: infinite, no gradient, no NaN', async () => {
    const open = [[0, 1, 2]];
    const masked = [[0, -Infinity, 2]];
    const infinite = await klOf(kernels(), open, masked, 'tar-cur');
    expectClose(infinite.kl, [Infinity], lane);
    expect([...infinite.grad]).toEqual([0, 0, 0]);
    const reverse = await klOf(kernels(), masked, open, 'cur-tar');
    expectClose(reverse.kl, [Infinity], lane);
    expect([...reverse.grad]).toEqual([0, 0, 0]);
  });

  test('less support than the second policy: -log of the mass that is left', async () => {
    const { kl, grad } = await klOf(kernels(), [[0, -Infinity, 2]], [[0, 1, 2]], 'tar-cur');
    const left = (1 + Math.exp(2)) / (1 + Math.exp(1) + Math.exp(2));
    expectClose(kl, [-Math.log(left)], lane);
    expect(grad[1]).toBe(0);
  });

  test('opposite certainties at +-1e4 differ by 2e4 nats; one action by nothing', async () => {
    const { kl } = await klOf(kernels(), [[1e4, -1e4]], [[-1e4, 1e4]], 'tar-cur');
    expectClose(kl, [2e4], lane);
    const one = await klOf(kernels(), [[5]], [[-7]], 'tar-cur');
    expect([one.kl[0], one.grad[0]]).toEqual([0, 0]);
  });

  test('no possible action: 0', async () => {
    const none = [[-Infinity, -Infinity]];
    const { kl, grad } = await klOf(kernels(), none, none, 'tar-cur');
    expect([kl[0], ...grad]).toEqual([0, 0, 0]);
  });

  test.each(DIRECTIONS)('gradient %s agrees with finite differences', async (direction) => {
    const [rows, width, temperature] = [3, 6, 0.8];
    const split = (x: Float64Array) =>
      Array.from({ length: rows }, (_, n) => [...x.slice(n * width, (n + 1) * width)]);
    const cur = split(normals(2, rows * width));
    const weight = [0.5, -1, 2];
    const reference = createCpuKernels();
    const scalar = async (x: Float64Array) => {
      const { kl } = await klOf(reference, split(x), cur, direction, { temperature });
      return kl.reduce((sum, value, n) => sum + weight[n]! * value, 0);
    };
    const x = normals(3, rows * width);
    const { grad } = await klOf(kernels(), split(x), cur, direction, { temperature, weight });
    expectClose(grad, await numericalGradient(scalar, x), gradientTolerance(lane));
  });

  test('never negative, and never NaN', async () => {
    const logit = fc.oneof(
      fc.integer({ min: -4096, max: 4096 }).map((x) => x / 256),
      fc.constantFrom(-Infinity, 1e4, -1e4),
    );
    const rows = fc.array(fc.tuple(logit, logit), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(rows, fc.constantFrom(...DIRECTIONS), async (pairs, direction) => {
        const { kl, grad } = await klOf(
          kernels(),
          [pairs.map(([a]) => a)],
          [pairs.map(([, b]) => b)],
          direction,
        );
        expect(kl[0]).toBeGreaterThanOrEqual(0);
        expect(grad.some(Number.isNaN)).toBe(false);
      }),
      { seed: 2, numRuns: 60 },
    );
  });
});

describe('estimators', () => {
  test('averaged over the first policy they are the divergence (k1, k3) and half the mean square (k2)', () => {
    const p = [0.5, 0.3, 0.2];
    const q = [0.2, 0.2, 0.6];
    const exact = p.reduce((sum, x, a) => sum + x * Math.log(x / q[a]!), 0);
    const expectation = (f: (d: number) => number) =>
      p.reduce((sum, x, a) => sum + x * f(Math.log(x / q[a]!)), 0);
    expect(expectation((d) => k1(d, 'tar-cur'))).toBeCloseTo(exact, 12);
    expect(expectation((d) => k3(d, 'tar-cur'))).toBeCloseTo(exact, 12);
    expect(expectation((d) => k1(-d, 'cur-tar'))).toBeCloseTo(exact, 12);
    expect(expectation((d) => k3(-d, 'cur-tar'))).toBeCloseTo(exact, 12);
    expect(expectation(k2)).toBeCloseTo(
      p.reduce((sum, x, a) => sum + (x * Math.log(x / q[a]!) ** 2) / 2, 0),
      12,
    );
  });

  test('k3 keeps its digits for tiny differences', () => {
    expect(k3(1e-9, 'tar-cur')).toBeGreaterThanOrEqual(0);
    expect(k3(1e-4, 'cur-tar')).toBeCloseTo(5e-9, 12);
  });
});
