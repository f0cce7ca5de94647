import { expect, test } from 'vitest';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import { Rng } from '../kernels/rng.ts';
import { createTabularPolicy, TabularPolicy } from './tabular.ts';

const kernels = createCpuKernels();
const table = Float64Array.of(0, 1, 10, 11, 20, 21);

test('forward looks rows up, backward adds their cotangents up', async () => {
  const policy = new TabularPolicy(kernels, kernels.tensor(table, [3, 2], 'table'));
  const observations = { batch: 2, steps: 2, data: Int32Array.of(2, 0, 2, 2) };
  const logits = await policy.forward(observations);
  expect(logits.shape).toEqual([4, 2]);
  const dlogits = kernels.tensor(Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8), [4, 2], 'dlogits');
  const [gradient] = await policy.backward(observations, dlogits);
  const [values, sums] = await kernels.read(logits, gradient!);
  expect([...values!]).toEqual([20, 21, 0, 1, 20, 21, 20, 21]);
  expect([...sums!]).toEqual([3, 4, 0, 0, 13, 16]);
  expect(policy).toMatchObject({ nActions: 2, parameterCount: 6, kind: 'tabular' });
  await policy.dispose();
});

test('initial logits are the bias plus scaled normal draws, float64, by seed', async () => {
  const make = async (seed: number, scale: number) => {
    const rng = Rng.of(seed, 'init', 0);
    const policy = createTabularPolicy({ states: 500, actions: 2, kernels, rng, scale, bias: [3, -1] });
    expect(policy.parameters[0]!.tensor.dtype).toBe('f64');
    const [values] = await kernels.read(policy.parameters[0]!.tensor);
    return values!;
  };
  expect([...(await make(1, 0))].slice(0, 4)).toEqual([3, -1, 3, -1]);
  expect(await make(1, 0.5)).toEqual(await make(1, 0.5));
  expect(await make(1, 0.5)).not.toEqual(await make(2, 0.5));
  const noise = (await make(1, 0.5)).map((value, index) => value - [3, -1][index % 2]!);
  const mean = noise.reduce((sum, value) => sum + value, 0) / 1000;
  const variance = noise.reduce((sum, value) => sum + value * value, 0) / 1000;
  // Five standard errors of 1000 draws.
  expect(Math.abs(mean)).toBeLessThan((5 * 0.5) / Math.sqrt(1000));
  expect(Math.abs(variance / 0.25 - 1)).toBeLessThan(5 * Math.sqrt(2 / 1000));
});

test('misfits are named', () => {
  const rng = Rng.of(1, 'init', 0);
  expect(() => createTabularPolicy({ states: 1, actions: 2, kernels, rng, scale: 1, bias: [1] })).toThrow(
    /1 biases, expected 2/,
  );
  expect(() => new TabularPolicy(kernels, kernels.tensor(table, [6], 't'))).toThrow(
    /shape \[6\], expected \[states, actions\]/,
  );
});
