import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backends, floats, ints, normals, useKernels } from '../../test/support/lanes.ts';
import { dkwEpsilon } from './quantile.ts';

/** The definition, by sorting. */
function bruteForce(values: readonly number[], alpha: number, delta: number) {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : 1));
  const h = (sorted.length - 1) * (1 - alpha);
  const [low, high] = [sorted[Math.floor(h)]!, sorted[Math.ceil(h)]!];
  return {
    count: sorted.length,
    linear: low === high ? low : low + (h - Math.floor(h)) * (high - low),
    higher: high,
    violationCount: values.filter((x) => x > delta).length,
    max: sorted.at(-1)!,
  };
}

describe.each(backends)('klQuantile on $name', (lane) => {
  const kernels = useKernels(lane);

  async function quantile(values: ArrayLike<number>, alpha: number, delta = 0.05, mask?: readonly number[]) {
    const k = kernels();
    const tensor = floats(k, values);
    const rows = mask && ints(k, mask);
    const result = await k.klQuantile({ values: tensor, ...(rows && { mask: rows }), alpha, delta });
    k.release(tensor, rows);
    return result;
  }

  test('equals the definition for any sample, ties and infinities included', async () => {
    const value = fc.oneof(
      fc.integer({ min: 0, max: 20 }).map((x) => x / 16),
      fc.float({ min: 0, max: 1e6, noNaN: true }),
      fc.constantFrom(0, Infinity, Math.fround(1e-40), Math.fround(0.05)),
    );
    const sample = fc.array(fc.tuple(value, fc.integer({ min: 0, max: 3 })), { minLength: 1, maxLength: 60 });
    const alpha = fc.constantFrom(0, 0.01, 0.1, 0.25, 0.5, 0.9, 1);
    await fc.assert(
      fc.asyncProperty(sample, alpha, async (pairs, a) => {
        const mask = pairs.map(([, m]) => (m === 0 ? 0 : 1));
        fc.pre(mask.includes(1));
        const kept = pairs.map(([x]) => x).filter((_, n) => mask[n] === 1);
        const { mean, ...rest } = await quantile(
          pairs.map(([x]) => x),
          a,
          0.5,
          mask,
        );
        expect(rest).toEqual(bruteForce(kept, a, 0.5));
        const exact = kept.reduce((sum, x) => sum + x, 0) / kept.length;
        if (exact === Infinity) expect(mean).toBe(Infinity);
        else expect(Math.abs(mean - exact)).toBeLessThanOrEqual(1e-9 + 1e-6 * exact);
      }),
      { seed: 4, numRuns: 50 },
    );
  });

  test('many rows', async () => {
    const values = normals(8, 70_001).map(Math.abs);
    const { mean, ...rest } = await quantile(values, 0.01, 2);
    expect(rest).toEqual(bruteForce([...values], 0.01, 2));
    // The mean of |z| is sqrt(2 / pi); its standard error is 0.0023.
    expect(Math.abs(mean - Math.sqrt(2 / Math.PI))).toBeLessThan(0.012);
  });

  test('a violation is strict, in the float64 value of delta', async () => {
    const above = Math.fround(0.05);
    expect(above).toBeGreaterThan(0.05);
    expect((await quantile([above, 0.0625], 0.01, 0.05)).violationCount).toBe(2);
    expect((await quantile([above, 0.0625], 0.01, above)).violationCount).toBe(1);
    expect((await quantile([0, 0], 0.01, 0)).violationCount).toBe(0);
  });

  test('no row counted: every number is 0', async () => {
    const zero = { count: 0, linear: 0, higher: 0, violationCount: 0, max: 0, mean: 0 };
    expect(await quantile([3, 4], 0.01, 0.05, [0, 0])).toEqual(zero);
    expect(await quantile([], 0.01)).toEqual(zero);
  });

  test('NaN is an error, unless its row is masked', async () => {
    await expect(quantile([0.5, Number.NaN], 0.01)).rejects.toThrow('NaN, must be >= 0 or Infinity');
    expect((await quantile([0.5, Number.NaN], 0.01, 0.05, [1, 0])).max).toBe(0.5);
  });

  test('alpha beyond [0, 1] and a negative delta are refused by name', async () => {
    await expect(quantile([1], 1.5)).rejects.toThrow('alpha is 1.5, must be from 0 to 1');
    await expect(quantile([1], 0.1, -0.1)).rejects.toThrow('delta is -0.1, must be >= 0');
  });
});

test('dkwEpsilon: two-sided Dvoretzky-Kiefer-Wolfowitz half-width', () => {
  // 2 exp(-2 N eps^2) = eta
  expect(2 * Math.exp(-2 * 150 * dkwEpsilon(150, 0.05) ** 2)).toBeCloseTo(0.05, 12);
});
