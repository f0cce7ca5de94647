import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectClose, lanes, normals, useKernels } from '../../test/support/lanes.ts';
import { createCpuKernels } from './cpu/index.ts';
import type { Kernels } from './kernels.ts';
import { deriveKey } from './rng.ts';

const KEY = deriveKey(11, 'actions');

async function draw(
  k: Kernels,
  row: ArrayLike<number>,
  rows: number,
  { temperature = 1, topP = 1, firstCounter = 0 } = {},
) {
  const width = row.length;
  const logits = k.tensor(
    Float64Array.from({ length: rows * width }, (_, i) => row[i % width]!),
    [rows, width],
    'logits',
  );
  const result = k.sample({ logits, temperature, topP, key: KEY, firstCounter });
  const [actions, logProb] = await k.read(result.actions, result.logProb);
  k.release(logits, result.actions, result.logProb);
  return { actions: [...actions!], logProb: logProb! };
}

function softmax(row: ArrayLike<number>, temperature = 1): number[] {
  const weights = Array.from(row, (x) => Math.exp(x / temperature));
  const total = weights.reduce((sum, w) => sum + w, 0);
  return weights.map((w) => w / total);
}

describe.each(lanes)('sample on $name', (lane) => {
  const kernels = useKernels(lane);

  test('frequencies follow the probabilities (chi-square, fixed seed)', async () => {
    const row = [0.5, -1, 0, 1.25, -0.25, 0.75];
    const draws = lane.draws;
    const { actions } = await draw(kernels(), row, draws, { temperature: 0.8 });
    const p = softmax(row, 0.8);
    const chiSquare = p.reduce((sum, x, v) => {
      const count = actions.filter((a) => a === v).length;
      return sum + (count - draws * x) ** 2 / (draws * x);
    }, 0);
    // With 5 degrees of freedom above 20.5 once in a thousand.
    expect(chiSquare).toBeLessThan(20.5);
  });

  test('the log-probability is that of logProb at the same temperature, bit for bit, with and without a nucleus', async () => {
    const k = kernels();
    const width = 37;
    const logits = k.tensor(normals(1, 50 * width, 2), [50, width], 'logits');
    for (const topP of [1, 0.7]) {
      const sampled = k.sample({ logits, temperature: 0.8, topP, key: KEY, firstCounter: 5 });
      const again = k.logProb({ logits, actions: sampled.actions, temperature: 0.8 });
      const [first, second] = await k.read(sampled.logProb, again.logProb);
      expect(first).toEqual(second);
      k.release(...Object.values(sampled), ...Object.values(again));
    }
    k.release(logits);
  });

  test('a batch drawn in parts is the batch drawn at once', async () => {
    const row = normals(2, 9);
    const whole = await draw(kernels(), row, 100);
    const head = await draw(kernels(), row, 37);
    const tail = await draw(kernels(), row, 63, { firstCounter: 37 });
    expect([...head.actions, ...tail.actions]).toEqual(whole.actions);
  });

  test('all lanes draw the same actions', async () => {
    for (const topP of [1, 0.6]) {
      const row = normals(3, 200, 2);
      const rows = Math.min(lane.draws, 400);
      const ours = await draw(kernels(), row, rows, { topP });
      const reference = await draw(createCpuKernels(), row, rows, { topP });
      // A uniform within float32 rounding of an edge may fall on either side.
      const differing = ours.actions.filter((a, n) => a !== reference.actions[n]).length;
      expect(differing).toBeLessThanOrEqual(1);
    }
  });

  test('the nucleus is the smallest set of most likely actions with the mass asked for', async () => {
    const row = [0.1, 0.4, 0.3, 0.2].map(Math.log);
    const seen = async (topP: number) =>
      [...new Set((await draw(kernels(), row, Math.min(lane.draws, 600), { topP })).actions)].sort();
    expect(await seen(0.3)).toEqual([1]);
    expect(await seen(0.4)).toEqual([1]);
    expect(await seen(0.41)).toEqual([1, 2]);
    expect(await seen(0.7)).toEqual([1, 2]);
    expect(await seen(0.75)).toEqual([1, 2, 3]);
    expect(await seen(0.95)).toEqual([0, 1, 2, 3]);
  });

  test('equally likely actions enter the nucleus by index', async () => {
    const row = [-1, 2, 0, 2, 0, 0, -Infinity];
    const p = softmax(row);
    const two = await draw(kernels(), row, 200, { topP: p[1]! * 1.5 });
    expect([...new Set(two.actions)].sort()).toEqual([1, 3]);
    const four = await draw(kernels(), row, lane.draws, { topP: 2 * p[1]! + 1.5 * p[2]! });
    expect([...new Set(four.actions)].sort()).toEqual([1, 2, 3, 4]);
    const uniform = await draw(kernels(), [0, 0, 0, 0], 200, { topP: 0.5 });
    expect([...new Set(uniform.actions)].sort()).toEqual([0, 1]);
  });

  test('within the nucleus frequencies stay proportional', async () => {
    const row = [0.1, 0.4, 0.3, 0.2].map(Math.log);
    const draws = lane.draws;
    const { actions } = await draw(kernels(), row, draws, { topP: 0.7 });
    const share = actions.filter((a) => a === 1).length / draws;
    // Five standard errors around 4/7.
    expect(Math.abs(share - 4 / 7)).toBeLessThan(5 * Math.sqrt(((4 / 7) * (3 / 7)) / draws));
  });

  test('a masked action is never drawn', async () => {
    const logit = fc.oneof(fc.integer({ min: -8, max: 8 }), fc.constantFrom(-Infinity, -1e30, 1e4, -1e4));
    const row = fc.array(logit, { minLength: 1, maxLength: 8 }).filter((r) => r.some((x) => x > -1e30));
    await fc.assert(
      fc.asyncProperty(row, fc.constantFrom(0.01, 0.5, 1), async (logits, topP) => {
        const { actions, logProb } = await draw(kernels(), logits, 16, { topP });
        for (const a of actions) expect(logits[a]).toBeGreaterThan(-1e30);
        expect(logProb.every((x) => x <= 0 && x > -1e30)).toBe(true);
      }),
      { seed: 5, numRuns: 25 },
    );
  });

  test('one action, and none', async () => {
    const one = await draw(kernels(), [-5], 3);
    expect([...one.actions, ...one.logProb]).toEqual([0, 0, 0, 0, 0, 0]);
    for (const topP of [1, 0.5]) {
      const none = await draw(kernels(), [-Infinity, -Infinity], 1, { topP });
      expect(none.actions).toEqual([-1]);
      expectClose(none.logProb, [-Infinity], lane);
    }
  });

  test('topP of 0 is refused by name', async () => {
    await expect(draw(kernels(), [0], 1, { topP: 0 })).rejects.toThrow(
      'topP is 0, must be above 0 and up to 1',
    );
  });
});
