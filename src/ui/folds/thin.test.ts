import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countUpTo, thin } from './thin.ts';

interface Row {
  readonly at: number;
  readonly value: number | null;
}

const rowsOf = (values: readonly (number | null)[]): Row[] => values.map((value, at) => ({ at, value }));
const read = [(row: Row) => row.value];

describe('thin', () => {
  test('a short series is left alone', () => {
    const rows = rowsOf([1, 2, 3]);
    expect(thin(rows, read)).toBe(rows);
  });

  test('keeps ends, a spike either way and a gap', () => {
    const values = Array.from({ length: 10_000 }, (_, at): number | null => Math.sin(at / 500));
    values[4321] = 50;
    values[7777] = -50;
    values[1234] = null;
    const kept = thin(rowsOf(values), read);
    expect(kept.length).toBeLessThanOrEqual(300);
    const places = kept.map((row) => row.at);
    expect(places).toEqual(expect.arrayContaining([0, 1234, 4321, 7777, 9999]));
  });

  test('is an ordered part of the rows with the same extremes, whatever the series', () => {
    const value = fc.option(fc.double({ noNaN: true, min: -1e9, max: 1e9 }), { nil: null });
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 400 }),
        fc.integer({ min: 8, max: 40 }),
        (values, max) => {
          const rows = rowsOf(values);
          const kept = thin(rows, read, max);
          const places = kept.map((row) => row.at);
          expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
          expect(kept.every((row) => rows[row.at] === row)).toBe(true);
          expect(kept.length).toBeLessThanOrEqual(Math.max(max, 5));
          const numbers = (some: readonly Row[]) => some.flatMap((row) => row.value ?? []);
          expect(Math.max(...numbers(kept))).toBe(Math.max(...numbers(rows)));
          expect(Math.min(...numbers(kept))).toBe(Math.min(...numbers(rows)));
          expect(kept.some((row) => row.value === null)).toBe(values.includes(null));
        },
      ),
    );
  });

  test('keeps the extremes of every series', () => {
    const rows = Array.from({ length: 1000 }, (_, at) => ({ a: at === 500 ? 9 : 0, b: at === 501 ? -9 : 0 }));
    const kept = thin(rows, [(row) => row.a, (row) => row.b], 100);
    expect(kept.length).toBeLessThanOrEqual(100);
    expect(kept).toEqual(expect.arrayContaining([rows[500], rows[501]]));
  });
});

test.each([
  [0, 0],
  [3, 0],
  [4, 1],
  [9, 2],
  [10, 3],
  [99, 3],
])('to the first %i events belong %i rows', (shown, count) => {
  expect(countUpTo([{ seq: 3 }, { seq: 5 }, { seq: 9 }], shown)).toBe(count);
});
