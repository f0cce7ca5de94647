import { describe, expect, it } from 'vitest';
import { bestBound, finiteSampleTerm, stageCertificate } from './certificate.ts';

describe('finiteSampleTerm', () => {
  it('is A_max/(1-gamma) sqrt(log(2n/deltaConf)/(2N)), and Hoeffding’s is twice that', () => {
    // log(2 * 1 / (2 / e^2)) = 2, so one update with N = 4 has width sqrt(2 / 8) = 1/2.
    const deltaConf = 2 / Math.E ** 2;
    const term = finiteSampleTerm([3], { gamma: 0.5, nAgents: 1, episodes: [4], deltaConf });
    expect(term.asPrinted).toBeCloseTo(3, 14);
    expect(term.hoeffding).toBeCloseTo(6, 14);
    const two = finiteSampleTerm([3, 1], { gamma: 0.5, nAgents: 1, episodes: [4, 16], deltaConf });
    expect(two.asPrinted).toBeCloseTo(3 + 0.5, 14);
  });

  it('shows the difference on fair coins of +-1: the printed width fails far more often than deltaConf', () => {
    // Exact binomial tails: 5 % claimed.
    const N = 100;
    const deltaConf = 0.05;
    const { asPrinted, hoeffding } = finiteSampleTerm([1], {
      gamma: 0,
      nAgents: 1,
      episodes: [N],
      deltaConf,
    });
    expect(twoSidedTail(N, asPrinted)).toBeGreaterThan(3 * deltaConf);
    expect(twoSidedTail(N, hoeffding)).toBeLessThan(deltaConf);
  });

  it('names what is missing', () => {
    const sampling = { gamma: 0.5, nAgents: 2, episodes: [4], deltaConf: 0.05 };
    expect(() => finiteSampleTerm([1, 1], sampling)).toThrow('episodes [4]; allowed: 2 numbers from 1');
    expect(() => finiteSampleTerm([1], { ...sampling, episodes: [0] })).toThrow('episodes [0]');
    expect(() => finiteSampleTerm([1], { ...sampling, deltaConf: 1 })).toThrow(
      'deltaConf 1; allowed: a number above 0',
    );
  });
});

describe('stageCertificate', () => {
  it('is 0 for a stage without updates, and has no finite-sample term unless there was sampling', () => {
    const stage = stageCertificate([]);
    expect(stage.dJ).toBe(0);
    expect(Object.values(stage.lowerBounds)).toEqual([0, 0, 0, 0, 0]);
    expect(stage.finiteSample).toBeUndefined();
  });
});

describe('bestBound', () => {
  it('is the largest, infinities included, and the first of equals', () => {
    const bounds = { paper: Number.NEGATIVE_INFINITY, trpo: -3, cpo: -1, coupling: -0.5, statewise: -2 };
    expect(bestBound(bounds)).toBe('coupling');
    expect(bestBound({ ...bounds, statewise: 0 })).toBe('statewise');
    expect(bestBound({ ...bounds, cpo: -0.5 })).toBe('cpo');
  });
});

/** P(|mean of N fair +-1 coins| >= t), summed over the binomial. */
function twoSidedTail(N: number, t: number): number {
  let probability = 0.5 ** N;
  let tail = 0;
  for (let heads = 0; heads <= N; heads++) {
    if (Math.abs(2 * heads - N) / N >= t) tail += probability;
    probability *= (N - heads) / (heads + 1);
  }
  return tail;
}
