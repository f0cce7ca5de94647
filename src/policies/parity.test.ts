import { expect, test } from 'vitest';
import { createNodeRuntime } from '../cli/nodeOrt.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import { buildTransformer } from './graph/buildTransformer.ts';
import type { ModelOutput, ModelRuntime } from './modelRuntime.ts';
import { compareProviders } from './parity.ts';

const bytes = buildTransformer({ vocabulary: 5, width: 4, layers: 1, heads: 1, context: 3, seed: 1 });
const observations = { batch: 2, steps: 3, data: Int32Array.of(0, 1, 2, 3, 4, 0) };

/** A runtime whose output `name` is off by `error` in its last element. */
function faulty(runtime: ModelRuntime, name: string, error: number): ModelRuntime {
  return {
    ...runtime,
    provider: 'wasm',
    description: 'faulty',
    createSession: async (...args) => {
      const session = await runtime.createSession(...args);
      const disturb = ([key, output]: [string, ModelOutput]): [string, ModelOutput] => {
        if (key !== name || output.location !== 'host') return [key, output];
        const data = output.data.slice();
        data[data.length - 1]! += error;
        return [key, { ...output, data }];
      };
      return {
        run: async (feeds) => Object.fromEntries(Object.entries(await session.run(feeds)).map(disturb)),
        release: () => session.release(),
      };
    },
  };
}

test('equal engines agree exactly; a wrong number is found and named', async () => {
  const kernels = createCpuKernels();
  const runtime = await createNodeRuntime();
  const against = (candidate: ModelRuntime) =>
    compareProviders(bytes, observations, { runtime, kernels }, { runtime: candidate, kernels });
  expect(await against(runtime)).toMatchObject({ logits: 0, gradient: 0 });
  const wrongGradient = await against(faulty(runtime, 'grad.w1', 0.25));
  expect(wrongGradient).toMatchObject({ logits: 0, parameter: 'w1' });
  expect(wrongGradient.gradient).toBeCloseTo(0.25, 6);
  const wrongLogits = await against(faulty(runtime, 'logits', 0.5));
  expect(wrongLogits.logits).toBeCloseTo(0.5, 6);
  expect(wrongLogits.gradient).toBeGreaterThan(0);
  expect((await against(faulty(runtime, 'logits', Number.NaN))).logits).toBe(Number.POSITIVE_INFINITY);
});
