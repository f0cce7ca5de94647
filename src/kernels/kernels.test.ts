import { describe, expect, test } from 'vitest';
import { backends, expectClose, floats, ints, useKernels } from '../../test/support/lanes.ts';
import { createCpuKernels } from './cpu/index.ts';
import type { Tensor } from './kernels.ts';

describe.each(backends)('tensors on $name', (lane) => {
  const kernels = useKernels(lane);

  test('read gives back what was put in, several at once, integers as doubles', async () => {
    const k = kernels();
    const x = floats(k, [0.1, -2.5, 1e4]);
    const i = ints(k, [-7, 2 ** 31 - 1]);
    const u = k.tensor(Uint32Array.of(2 ** 32 - 1), [1], 'u');
    const none = k.tensor(new Float32Array(0), [0, 3], 'none');
    const [a, b, c, d] = await k.read(x, i, u, none);
    expectClose(a!, [0.1, -2.5, 1e4], { rtol: 1e-7, atol: 0 });
    expect([...b!, ...c!, ...d!]).toEqual([-7, 2 ** 31 - 1, 2 ** 32 - 1]);
    expect([x.dtype === 'i32', i.dtype, u.dtype, none.size, none.shape]).toEqual([
      false,
      'i32',
      'u32',
      0,
      [0, 3],
    ]);
    k.release(x, i, u, none, undefined);
  });

  test('reads that overlap do not mix', async () => {
    const k = kernels();
    const tensors = Array.from({ length: 5 }, (_, n) => floats(k, [n, n + 0.5]));
    const results = await Promise.all(tensors.map((t) => k.read(t)));
    expect(results.map(([x]) => [...x!])).toEqual(tensors.map((_, n) => [n, n + 0.5]));
    k.release(...tensors);
  });

  test('a copy is independent; assign overwrites bit for bit; zerosLike is zero', async () => {
    const k = kernels();
    const source = floats(k, [1, 2, 3]);
    const copy = k.copy(source, 'copy');
    const zeros = k.zerosLike(source, 'zeros');
    k.assign(source, zeros);
    const [a, b, c] = await k.read(source, copy, zeros);
    expect([...a!, ...b!, ...c!]).toEqual([0, 0, 0, 1, 2, 3, 0, 0, 0]);
    k.assign(source, copy);
    k.assign(source, source);
    expect([...(await k.read(source))[0]!]).toEqual([1, 2, 3]);
    k.release(source, copy, zeros);
  });

  test('the source array can change after tensor() returns', async () => {
    const k = kernels();
    const data = Int32Array.of(1, 2);
    const tensor = k.tensor(data, [2], 'data');
    data.fill(9);
    expect([...(await k.read(tensor))[0]!]).toEqual([1, 2]);
    k.release(tensor);
  });

  test('use after release, a second release, and a foreign tensor are errors that name the tensor', async () => {
    const k = kernels();
    const tensor = floats(k, [1], 'weights');
    k.release(tensor);
    await expect(k.read(tensor)).rejects.toThrow('"weights" was released and cannot be used');
    expect(() => k.release(tensor)).toThrow('"weights" was released');
    const foreign: Tensor = {
      backend: k.backend === 'cpu' ? 'webgpu' : 'cpu',
      shape: [1],
      size: 1,
      dtype: 'f32',
      label: 'stranger',
    };
    await expect(k.read(foreign)).rejects.toThrow(`"stranger" belongs to the ${foreign.backend} backend`);
  });

  test('shapes that do not fit are refused', () => {
    const k = kernels();
    expect(() => k.tensor(new Float32Array(5), [2, 3], 'm')).toThrow(
      'm: 5 numbers do not fill shape [2, 3] (6)',
    );
    expect(() => k.tensor(new Float32Array(1), [-1], 'm')).toThrow('not a whole number >= 0');
    const [a, b] = [floats(k, [1, 2], 'a'), floats(k, [1], 'b')];
    expect(() => k.assign(a, b)).toThrow(RangeError);
    k.release(a, b);
  });
});

test('disposed cpu kernels make no tensors', () => {
  const k = createCpuKernels();
  k.dispose();
  expect(() => floats(k, [1], 'late')).toThrow('late: the cpu kernels were disposed');
});
