import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backends, expectClose, floats, ints, normals, useKernels } from '../../test/support/lanes.ts';
import type { Kernels, Trace } from './kernels.ts';

interface Case {
  readonly batch: number;
  readonly steps: number;
  readonly rewards: ArrayLike<number>;
  readonly values?: ArrayLike<number>;
  readonly logpHat?: ArrayLike<number>;
  readonly logpCur?: ArrayLike<number>;
  readonly lengths?: readonly number[];
  readonly terminated?: readonly number[];
  readonly gamma?: number;
  readonly lambda?: number;
  readonly trace?: Trace;
}

async function evaluate(k: Kernels, c: Case) {
  const { batch, steps, gamma = 0.9, lambda = 0.8, trace = 'retrace' } = c;
  const zeros = new Float64Array(batch * steps);
  const tensors = {
    rewards: floats(k, c.rewards),
    logpHat: floats(k, c.logpHat ?? zeros),
    logpCur: floats(k, c.logpCur ?? zeros),
    values: floats(k, c.values ?? new Float64Array(batch * (steps + 1))),
    lengths: ints(k, c.lengths ?? new Array(batch).fill(steps)),
    terminated: ints(k, c.terminated ?? new Array(batch).fill(1)),
  };
  const result = k.advantages({ ...tensors, batch, steps, gamma, lambda, trace });
  const numbers = await k.read(result.rho, result.c, result.delta, result.advantage, result.sequence);
  k.release(...Object.values(tensors), ...Object.values(result));
  const [rho, truncated, delta, advantage, sequence] = numbers as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  return { rho, c: truncated, delta, advantage, sequence };
}

describe.each(backends)('advantages on $name', (lane) => {
  const kernels = useKernels(lane);

  test('no critic, gamma = lambda = 1: the return to go', async () => {
    const { advantage, sequence } = await evaluate(kernels(), {
      batch: 1,
      steps: 3,
      rewards: [1, 0.5, -2],
      gamma: 1,
      lambda: 1,
    });
    expectClose(advantage, [-0.5, -1.5, -2], lane);
    expectClose(sequence, [-4], lane);
  });

  test('lambda = 0: TD errors; a cut-off episode bootstraps, an ended one does not', async () => {
    const { delta, advantage } = await evaluate(kernels(), {
      batch: 2,
      steps: 2,
      rewards: [1, 1, 1, 1],
      values: [1, 2, 3, 1, 2, 3],
      terminated: [0, 1],
      lambda: 0,
    });
    expectClose(delta, [1.8, 1.7, 1.8, -1], lane);
    expectClose(advantage, delta, { rtol: 0, atol: 0 });
  });

  test('ratios: truncated at 1, 0 where the action became impossible', async () => {
    const { rho, c, advantage } = await evaluate(kernels(), {
      batch: 1,
      steps: 3,
      rewards: [0, 0, 1],
      logpHat: [Math.log(0.5), -Infinity, -1],
      logpCur: [Math.log(0.25), -2, -1],
      gamma: 1,
      lambda: 1,
    });
    expectClose(rho, [2, 0, 1], lane);
    expectClose(c, [1, 0, 1], lane);
    // c_{t+1} cuts the trace before the impossible action, not at it.
    expectClose(advantage, [0, 1, 1], lane);
  });

  test('an overflowing ratio truncates to 1', async () => {
    const { rho, c, advantage } = await evaluate(kernels(), {
      batch: 1,
      steps: 1,
      rewards: [2],
      logpHat: [0],
      logpCur: [-1000],
    });
    expectClose(rho, [Infinity], lane);
    expect([c[0], advantage[0]]).toEqual([1, 2]);
  });

  test('vtrace is c times retrace, and padding is 0', async () => {
    const [batch, steps] = [3, 5];
    const c: Case = {
      batch,
      steps,
      rewards: normals(1, 15),
      values: normals(2, 18),
      logpHat: normals(3, 15),
      logpCur: normals(4, 15),
      lengths: [5, 1, 3],
      terminated: [0, 0, 1],
    };
    const retrace = await evaluate(kernels(), c);
    const vtrace = await evaluate(kernels(), { ...c, trace: 'vtrace' });
    expectClose(
      vtrace.advantage,
      retrace.advantage.map((a, n) => a * retrace.c[n]!),
      lane,
    );
    for (const x of [retrace.rho, retrace.c, retrace.delta, retrace.advantage, vtrace.advantage]) {
      expect([...x.slice(6, 10), ...x.slice(13)]).toEqual([0, 0, 0, 0, 0, 0]);
    }
  });
});

describe.each(backends)('groupNormalise on $name', (lane) => {
  const kernels = useKernels(lane);

  async function normalise(
    values: ArrayLike<number>,
    group: readonly number[],
    { eps = 1e-8, clip = 5 } = {},
  ) {
    const k = kernels();
    const tensors = { values: floats(k, values), group: ints(k, group) };
    const result = k.groupNormalise({ ...tensors, eps, clip });
    const [normalised, clipped] = await k.read(result.normalised, result.clipped);
    k.release(...Object.values(tensors), ...Object.values(result));
    return { normalised: normalised!, clipped: clipped! };
  }

  test('two different values: -1 and 1; interleaved groups with any ids', async () => {
    const { normalised } = await normalise([3, 10, 5, 30, 7], [-4, 1000000, -4, 1000000, 0]);
    const [small, large] = [1 / (1 + 1e-8), 10 / (10 + 1e-8)];
    expectClose(normalised, [-small, -large, small, large, 0], lane);
  });

  test('equal values: exactly 0, also where their mean is not exact', async () => {
    const { normalised, clipped } = await normalise([0.1, 0.1, 0.1, -7, 1e-30, 1e-30], [1, 1, 1, 2, 3, 3]);
    expect([...normalised, ...clipped]).toEqual(new Array(12).fill(0));
  });

  test('values that differ in the last bit are not equal', async () => {
    const { normalised } = await normalise([1, 1 + 2 ** -23], [1, 1], { eps: 1e-12 });
    expectClose(normalised, [-1, 1], { rtol: 1e-4, atol: 0 });
  });

  test('spreads far below and above 1 neither vanish nor overflow', async () => {
    const small = [0, 1, 2].map((x) => x * 2 ** -90);
    const large = [0, 1, 2].map((x) => x * 2 ** 90);
    const { normalised } = await normalise([...small, ...large], [1, 1, 1, 2, 2, 2], { eps: 2 ** -120 });
    const unit = Math.sqrt(1.5);
    expectClose(normalised, [-unit, 0, unit, -unit, 0, unit], { rtol: 1e-5, atol: 1e-6 });
  });

  test('clips', async () => {
    const { clipped } = await normalise([0, 0, 0, 8], [1, 1, 1, 1], { clip: 1 });
    const low = -2 / (Math.sqrt(12) + 1e-8);
    expectClose(clipped, [low, low, low, 1], lane);
  });

  test('mean 0, standard deviation 1, bounded by sqrt(G - 1)', async () => {
    const value = fc.integer({ min: -100, max: 100 }).map((x) => x / 8);
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 2, maxLength: 12 }), async (values) => {
        fc.pre(new Set(values).size > 1);
        const { normalised } = await normalise(
          values,
          values.map(() => 9),
        );
        const size = values.length;
        expectClose([normalised.reduce((sum, x) => sum + x, 0) / size], [0], { rtol: 0, atol: 1e-5 });
        expectClose([normalised.reduce((sum, x) => sum + x * x, 0) / size], [1], { rtol: 1e-5, atol: 0 });
        for (const x of normalised) expect(Math.abs(x)).toBeLessThanOrEqual(Math.sqrt(size - 1) + 1e-5);
      }),
      { seed: 3, numRuns: 40 },
    );
  });
});
