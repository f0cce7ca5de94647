import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import { acceptanceConditions, measureTrustRegion, raiseBeta, relaxBeta } from './trustRegion.ts';

describe('acceptanceConditions', () => {
  it('kl: the quantile may reach the radius but not exceed it; the surrogate does not matter', () => {
    const at = (quantile: number) => acceptanceConditions('kl', { quantile, surrogate: -1 }, 0.05);
    expect(at(0.05).map((c) => c.passed)).toEqual([true]);
    expect(at(0.0500001).map((c) => c.passed)).toEqual([false]);
  });

  it('kl+surrogate: both must hold, each reported with its own limit', () => {
    const conditions = acceptanceConditions('kl+surrogate', { quantile: 0.01, surrogate: -1e-9 }, 0.05);
    expect(conditions).toEqual([
      { name: 'quantile', value: 0.01, relation: 'atMost', limit: 0.05, passed: true },
      { name: 'surrogate', value: -1e-9, relation: 'atLeast', limit: 0, passed: false },
    ]);
    expect(
      acceptanceConditions('kl+surrogate', { quantile: 0, surrogate: 0 }, 0.05).every((c) => c.passed),
    ).toBe(true);
  });

  it('an infinite or NaN quantile never passes', () => {
    for (const quantile of [Number.POSITIVE_INFINITY, Number.NaN]) {
      expect(acceptanceConditions('kl', { quantile, surrogate: 0 }, 10)[0]?.passed).toBe(false);
    }
  });
});

describe('beta', () => {
  const schedule = { start: 0.3, factor: 1.5 };

  it('falls only when the quantile is below delta / 1.5', () => {
    expect(relaxBeta(0.3, 0.033, 0.05, schedule)).toBeCloseTo(0.2, 12);
    expect(relaxBeta(0.3, 0.0334, 0.05, schedule)).toBe(0.3);
  });

  it('stays within 1e-3 and 1e6 of its start, however many checks fail or pass', () => {
    let [low, high] = [0.3, 0.3];
    for (let k = 0; k < 5000; k++) {
      low = relaxBeta(low, 0, 0.05, schedule);
      high = raiseBeta(high, schedule);
    }
    expect(low).toBeCloseTo(0.3e-3, 15);
    expect(high).toBeCloseTo(0.3e6, 6);
    expect(raiseBeta(0, { start: 0, factor: 1.5 })).toBe(0);
  });
});

describe('measureTrustRegion', () => {
  it('counts only rows where the agent acts, and agrees with KL summed by hand', async () => {
    const kernels = createCpuKernels();
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(
            fc.double({ min: -3, max: 3, noNaN: true }),
            fc.double({ min: -3, max: 3, noNaN: true }),
            fc.boolean(),
          ),
          {
            minLength: 1,
            maxLength: 20,
          },
        ),
        fc.double({ min: 0.2, max: 3, noNaN: true }),
        async (rows, temperature) => {
          const N = rows.length;
          const tar = kernels.tensor(Float64Array.from(rows.flatMap(([x]) => [x, 0])), [N, 2], 'tar');
          const cur = kernels.tensor(Float64Array.from(rows.flatMap(([, y]) => [y, 0])), [N, 2], 'cur');
          const mask = kernels.tensor(Int32Array.from(rows.map(([, , acts]) => (acts ? 1 : 0))), [N], 'mask');
          const measured = await measureTrustRegion(
            tar,
            cur,
            mask,
            { alpha: 0, delta: 0.1, temperature },
            kernels,
          );
          const sigmoid = (x: number) => 1 / (1 + Math.exp(-x / temperature));
          const byHand = rows
            .filter(([, , acts]) => acts)
            .map(([x, y]) => {
              const [p, q] = [sigmoid(x), sigmoid(y)];
              return p * Math.log(p / q) + (1 - p) * Math.log((1 - p) / (1 - q));
            });
          expect(measured.count).toBe(byHand.length);
          byHand.forEach((kl, n) => {
            expect(measured.kl[n]).toBeCloseTo(kl, 9);
          });
          if (byHand.length > 0) expect(measured.higher).toBeCloseTo(Math.max(...byHand), 9);
        },
      ),
      { numRuns: 60 },
    );
  });
});
