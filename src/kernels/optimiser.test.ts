import { describe, expect, test } from 'vitest';
import {
  backends,
  expectClose,
  floats,
  ints,
  matrix,
  normals,
  useKernels,
} from '../../test/support/lanes.ts';

const HYPER = { lr: 0.01, beta1: 0.9, beta2: 0.999, eps: 1e-8, weightDecay: 0 };

describe.each(backends)('adamw and gradient clipping on $name', (lane) => {
  const kernels = useKernels(lane);

  test('the first step moves every parameter by lr against the sign of its gradient, in place', async () => {
    const k = kernels();
    const params = [floats(k, [1, -2, 3]), floats(k, [0.5])];
    const grads = [floats(k, [4, -0.125, 0]), floats(k, [1e-3])];
    const state = {
      m: params.map((p) => k.zerosLike(p, 'm')),
      v: params.map((p) => k.zerosLike(p, 'v')),
      step: 0,
    };
    k.adamw(params, grads, state, HYPER);
    expect(state.step).toBe(1);
    const [first, second] = await k.read(...params);
    expectClose(first!, [0.99, -1.99, 3], { rtol: 1e-5, atol: 0 });
    expectClose(second!, [0.49], { rtol: 1e-5, atol: 0 });
    const [m, v] = await k.read(state.m[0]!, state.v[0]!);
    expectClose(m!, [0.4, -0.0125, 0], lane);
    expectClose(v!, [0.016, 1.5625e-5, 0], { rtol: lane.rtol, atol: 0 });
    k.release(...params, ...grads, ...state.m, ...state.v);
  });

  test('decay is decoupled from the gradient', async () => {
    const k = kernels();
    const params = [floats(k, [8])];
    const grads = [floats(k, [0])];
    const state = { m: [k.zerosLike(params[0]!, 'm')], v: [k.zerosLike(params[0]!, 'v')], step: 0 };
    for (let i = 0; i < 3; i++) k.adamw(params, grads, state, { ...HYPER, lr: 0.5, weightDecay: 0.5 });
    expectClose((await k.read(...params))[0]!, [8 * 0.75 ** 3], lane);
    k.release(...params, ...grads, ...state.m, ...state.v);
  });

  test('norm over all tensors together; scaled only above the limit', async () => {
    const k = kernels();
    const grads = [floats(k, [3, 0]), matrix(k, [[4], [12]])];
    const kept = k.clipGradNorm(grads, 13.5);
    const cut = k.clipGradNorm(grads, 6.5);
    const [before, again, a, b] = await k.read(kept, cut, ...grads);
    expectClose([before![0]!, again![0]!], [13, 13], lane);
    expectClose([...a!, ...b!], [1.5, 0, 2, 6], { rtol: 1e-6, atol: 0 });
    k.release(kept, cut, ...grads);
  });

  test('norm of a large tensor, and of nothing', async () => {
    const k = kernels();
    const x = normals(1, 100_003);
    const grads = [floats(k, x)];
    const norm = k.clipGradNorm(grads, 1e9);
    const none = k.clipGradNorm([], 1);
    const [value, zero] = await k.read(norm, none);
    expectClose(
      value!,
      [Math.hypot(...x.slice(0, 50_000)) ** 2 + Math.hypot(...x.slice(50_000)) ** 2].map(Math.sqrt),
      {
        rtol: 1e-6,
        atol: 0,
      },
    );
    expect(zero![0]).toBe(0);
    k.release(norm, none, ...grads);
  });

  test('wrong arguments are named', () => {
    const k = kernels();
    const params = [floats(k, [1])];
    const state = { m: [floats(k, [0])], v: [floats(k, [0, 0])], step: 0 };
    expect(() => k.adamw(params, [], state, HYPER)).toThrow('adamw: 0 grads for 1 params');
    expect(() => k.adamw(params, params, state, HYPER)).toThrow('adamw: state.v[0] is');
    expect(() => k.clipGradNorm(params, 0)).toThrow('maxNorm is 0, must be above 0');
    expect(state.step).toBe(0);
    k.release(...params, ...state.m, ...state.v);
  });
});

describe.each(backends)('rows on $name', (lane) => {
  const kernels = useKernels(lane);

  test('gather looks rows up, scatterAdd sums them back in', async () => {
    const k = kernels();
    const table = matrix(k, [
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    const index = ints(k, [2, 0, 2, 2]);
    const gathered = k.gatherRows(table, index);
    const sums = k.scatterAddRows(gathered, index, 4);
    const [rows, back] = await k.read(gathered, sums);
    expect([...rows!]).toEqual([5, 6, 1, 2, 5, 6, 5, 6]);
    expect([...back!]).toEqual([1, 2, 0, 0, 15, 18, 0, 0]);
    expect([gathered.shape, sums.shape]).toEqual([
      [4, 2],
      [4, 2],
    ]);
    k.release(table, index, gathered, sums);
  });

  test('they are adjoint: <gather(T), Y> = <T, scatterAdd(Y)>', async () => {
    const k = kernels();
    const [tableRows, rows, width] = [7, 40, 3];
    const [t, y] = [normals(1, tableRows * width), normals(2, rows * width)];
    const table = k.tensor(t, [tableRows, width], 'table');
    const values = k.tensor(y, [rows, width], 'values');
    const index = ints(
      k,
      Array.from({ length: rows }, (_, n) => (n * n) % tableRows),
    );
    const gathered = k.gatherRows(table, index);
    const sums = k.scatterAddRows(values, index, tableRows);
    const [g, s] = await k.read(gathered, sums);
    const dot = (a: Float64Array, b: Float64Array) => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
    expectClose([dot(g!, y)], [dot(t, s!)], { rtol: 1e-5, atol: 1e-5 });
    k.release(table, values, index, gathered, sums);
  });
});
