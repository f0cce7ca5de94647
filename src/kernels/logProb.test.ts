import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectClose, ints, lanes, matrix, normals, useKernels } from '../../test/support/lanes.ts';

describe.each(lanes)('logProb on $name', (lane) => {
  const kernels = useKernels(lane);

  async function run(rows: readonly (readonly number[])[], actions: readonly number[], temperature = 1) {
    const k = kernels();
    const logits = matrix(k, rows);
    const index = ints(k, actions);
    const result = k.logProb({ logits, actions: index, temperature });
    const [logProb, logsumexp, entropy] = await k.read(result.logProb, result.logsumexp, result.entropy);
    k.release(logits, index, result.logProb, result.logsumexp, result.entropy);
    return { logProb: logProb!, logsumexp: logsumexp!, entropy: entropy! };
  }

  test('two actions: the logistic function of the difference over the temperature', async () => {
    const { logProb, logsumexp } = await run([[0, 3]], [1], 2);
    expectClose(logProb, [-Math.log1p(Math.exp(-1.5))], lane);
    expectClose(logsumexp, [1.5 + Math.log1p(Math.exp(-1.5))], lane);
  });

  test('equal logits: -log V, entropy log V', async () => {
    const { logProb, entropy } = await run([new Array(7).fill(-12.5)], [4]);
    expectClose(logProb, [-Math.log(7)], lane);
    expectClose(entropy, [Math.log(7)], lane);
  });

  test('one action: certain', async () => {
    const { logProb, logsumexp, entropy } = await run([[1e4], [-3]], [0, 0]);
    expect([...logProb, ...entropy]).toEqual([0, 0, 0, 0]);
    expectClose(logsumexp, [1e4, -3], lane);
  });

  test('masked actions are impossible and change nothing else', async () => {
    const rows = [
      [0, -Infinity, 1],
      [-Infinity, -1e30, 2],
      [0, -Infinity, 1],
    ];
    const { logProb, entropy } = await run(rows, [0, 2, 1]);
    const open = await run([[0, 1]], [0]);
    expectClose(logProb, [open.logProb[0]!, 0, -Infinity], lane);
    expectClose(entropy, [open.entropy[0]!, 0, open.entropy[0]!], lane);
  });

  test('rows of +-1e4 stay finite and keep near-ties apart', async () => {
    const rows = [
      [1e4, 1e4 - 0.5, -1e4],
      [-1e4, -1e4 - 0.5, -1e4 - 0.5],
    ];
    const { logProb } = await run(rows, [1, 1]);
    expectClose(logProb, [-0.5 - Math.log1p(Math.exp(-0.5)), -0.5 - Math.log1p(2 * Math.exp(-0.5))], lane);
  });

  test('a row without a possible action gives no NaN', async () => {
    const { logProb, logsumexp, entropy } = await run([[-Infinity, -Infinity]], [0]);
    expectClose([...logProb, ...logsumexp, ...entropy], [-Infinity, -Infinity, 0], lane);
  });

  test('probabilities sum to 1 and entropy lies in [0, log V]', async () => {
    const logit = fc.oneof(
      fc.integer({ min: -640, max: 640 }).map((x) => x / 32),
      fc.constant(-Infinity),
    );
    const row = fc.array(logit, { minLength: 1, maxLength: 9 }).filter((r) => r.some(Number.isFinite));
    await fc.assert(
      fc.asyncProperty(row, fc.constantFrom(0.5, 1, 4), async (logits, temperature) => {
        const every = logits.map((_, v) => v);
        const { logProb, entropy } = await run(
          every.map(() => logits),
          every,
          temperature,
        );
        expectClose([logProb.reduce((sum, logp) => sum + Math.exp(logp), 0)], [1], lane);
        expect(entropy[0]).toBeGreaterThanOrEqual(0);
        expect(entropy[0]).toBeLessThanOrEqual(Math.log(logits.length) + 1e-5);
      }),
      { seed: 1, numRuns: 40 },
    );
  });

  test('a large vocabulary: agrees with a plain sum', async () => {
    const width = 50257;
    const rows = [0, 1, 2].map((n) => [...normals(n, width, 3)]);
    const { logProb, logsumexp } = await run(rows, [0, width - 1, 777]);
    const exact = rows.map((row) => Math.log(row.reduce((sum, x) => sum + Math.exp(x), 0)));
    expectClose(logsumexp, exact, lane);
    expectClose(
      logProb,
      [rows[0]![0]!, rows[1]![width - 1]!, rows[2]![777]!].map((x, n) => x - exact[n]!),
      lane,
    );
  });

  test('names what does not fit', () => {
    const k = kernels();
    const logits = matrix(k, [[0, 1]]);
    const two = ints(k, [0, 1]);
    expect(() => k.logProb({ logits, actions: two, temperature: 1 })).toThrow(
      'logProb: actions is i32[2] "ints", must be i32, 1 elements',
    );
    const one = ints(k, [1]);
    expect(() => k.logProb({ logits, actions: one, temperature: 0 })).toThrow(
      'temperature is 0, must be above 0',
    );
    expect(() => k.logProb({ logits: one, actions: one, temperature: 1 })).toThrow(
      'floats [N, V] with V >= 1',
    );
    k.release(logits, two, one);
  });
});
