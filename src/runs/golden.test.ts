import { describe, expect, test } from 'vitest';
import { compareGolden, goldenArray, goldenNumber, nested } from './golden.ts';

const TOLERANCES = { rtol: 1e-9, atol: 1e-12, rtol_f32: 1e-4, atol_f32: 2e-5 };

describe('decoding', () => {
  test('reads infinities from strings and flags as 0 and 1', () => {
    expect(goldenNumber('-Infinity', 'x')).toBe(-Infinity);
    expect(goldenNumber('Infinity', 'x')).toBe(Infinity);
    expect(goldenNumber(true, 'x')).toBe(1);
  });

  test('names what is not a number', () => {
    expect(() => goldenNumber('NaN', 'eps')).toThrow('eps: expected a number or "Infinity", got "NaN"');
    expect(() => goldenNumber(undefined, 'eps')).toThrow('eps');
  });

  test('flattens row-major and back', () => {
    const value = [
      [
        [1, 2],
        [3, 4],
      ],
      [
        [5, 6],
        [7, '-Infinity'],
      ],
    ];
    const { data, shape } = goldenArray(value, 'x');
    expect(shape).toEqual([2, 2, 2]);
    expect([...data]).toEqual([1, 2, 3, 4, 5, 6, 7, -Infinity]);
    expect(nested(data, shape)).toEqual([
      [
        [1, 2],
        [3, 4],
      ],
      [
        [5, 6],
        [7, -Infinity],
      ],
    ]);
    expect(() => goldenArray([[1], [2, 3]], 'x')).toThrow('rows of length 2 and 1');
  });
});

describe('comparison', () => {
  const compare = (actual: number, expected: number | string, backend: 'cpu' | 'webgpu') =>
    compareGolden({ x: actual }, { x: expected }, TOLERANCES, backend).ok;

  test('uses the tolerances of the backend', () => {
    expect(compare(1 + 5e-10, 1, 'cpu')).toBe(true);
    expect(compare(1 + 5e-9, 1, 'cpu')).toBe(false);
    expect(compare(1 + 5e-5, 1, 'webgpu')).toBe(true);
    expect(compare(1 + 5e-4, 1, 'webgpu')).toBe(false);
  });

  test('asks float64 for infinities and float32 for magnitudes of 1e30', () => {
    expect(compare(Infinity, 'Infinity', 'cpu')).toBe(true);
    expect(compare(1e36, 'Infinity', 'cpu')).toBe(false);
    expect(compare(1e36, 'Infinity', 'webgpu')).toBe(true);
    expect(compare(-1e36, 'Infinity', 'webgpu')).toBe(false);
    expect(compare(Infinity, 1, 'webgpu')).toBe(false);
  });

  test('matches NaN with nothing', () => {
    expect(compare(Number.NaN, 0, 'cpu')).toBe(false);
    expect(compare(Number.NaN, 'Infinity', 'webgpu')).toBe(false);
  });

  test('names the first mismatch by its path', () => {
    const result = compareGolden({ kl: [[0, 1, 5]] }, { kl: [[0, 1, 2]] }, TOLERANCES, 'cpu');
    expect(result).toEqual({ ok: false, firstMismatch: { path: 'kl[0][2]', actual: 5, expected: 2 } });
  });

  test('refuses missing keys, other lengths and other flags', () => {
    expect(compareGolden({}, { x: 1 }, TOLERANCES, 'cpu').firstMismatch?.path).toBe('x');
    expect(compareGolden({ x: [1] }, { x: [1, 2] }, TOLERANCES, 'cpu').ok).toBe(false);
    expect(compareGolden({ x: [1, 2] }, { x: 1 }, TOLERANCES, 'cpu').ok).toBe(false);
    expect(compareGolden({ x: 1 }, { x: true }, TOLERANCES, 'cpu').ok).toBe(false);
    expect(compareGolden({ x: { J: 1 } }, { x: { J: 2 } }, TOLERANCES, 'cpu').firstMismatch?.path).toBe(
      'x.J',
    );
  });

  test('lets a key have its own tolerance', () => {
    const tolerances = { ...TOLERANCES, tol_by_key: { lambda: { rtol: 1e-3 } } };
    expect(compareGolden({ lambda: 1.0005 }, { lambda: 1 }, tolerances, 'cpu').ok).toBe(true);
    expect(compareGolden({ other: 1.0005 }, { other: 1 }, tolerances, 'cpu').ok).toBe(false);
  });

  test('holds a float64-only group to 1e-6 on the GPU', () => {
    const float64Only = { rtol: 1e-12, atol: 1e-15 };
    expect(compareGolden({ mean: 1 + 5e-7 }, { mean: 1 }, float64Only, 'webgpu').ok).toBe(true);
    expect(compareGolden({ mean: 1 + 5e-6 }, { mean: 1 }, float64Only, 'webgpu').ok).toBe(false);
  });
});
