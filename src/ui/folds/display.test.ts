import { describe, expect, test } from 'vitest';
import { counted, formatChange, formatEstimate, formatNumber, formatShare } from './format.ts';
import { histogram, niceTicks } from './histogram.ts';
import { mostMoved, policyTable } from './policy.ts';
import { summariseRatios } from './ratios.ts';

describe('format', () => {
  test.each([
    [0, '0'],
    [0.022634, '0.0226'],
    [-1.5, '−1.5'],
    [1234.5, '1230'],
    [4.56e-6, '4.6e−6'],
    [2e9, '2.0e9'],
    [null, '–'],
    [undefined, '–'],
    [Number.NaN, '–'],
    [Number.NEGATIVE_INFINITY, '–'],
  ])('number %d is %s', (value, text) => {
    expect(formatNumber(value)).toBe(text);
  });

  test('changes carry their sign, shares their unit, estimates their half-width', () => {
    expect([0.2, -0.2, 0, 5e-16, null].map(formatChange)).toEqual(['+0.2', '−0.2', '0', '0', '–']);
    expect([0, 1e-7, 0.375, 1, null].map(formatShare)).toEqual(['0 %', '< 0.01 %', '37.5 %', '100 %', '–']);
    expect(formatEstimate({ value: 0.5, halfWidth: 0.1 })).toBe('0.5 ± 0.1');
    expect(formatEstimate({ value: 0.5, halfWidth: 0 })).toBe('0.5');
    expect([counted(1, 'state'), counted(2, 'state')]).toEqual(['1 state', '2 states']);
  });
});

describe('histogram', () => {
  test('counts every finite value once, those outside in the nearest bin', () => {
    const values = Float64Array.of(-1, 0, 0.5, 0.99, 1, 7, Number.NaN);
    expect(histogram(values, 0, 1, 2)).toEqual([
      { from: 0, to: 0.5, count: 2 },
      { from: 0.5, to: 1, count: 4 },
    ]);
  });

  test('adds weights', () => {
    expect(histogram(Float64Array.of(0.1, 0.9), 0, 1, 1, Float64Array.of(2, 0.5))[0]?.count).toBe(2.5);
  });

  test('refuses an empty range and no bins, saying so', () => {
    expect(() => histogram(Float64Array.of(1), 1, 1, 3)).toThrow('1 to 1; must be increasing');
    expect(() => histogram(Float64Array.of(1), 0, 1, 0)).toThrow('0 bins given');
  });

  test.each([
    [0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [-0.3, 0.3, [-0.2, 0, 0.2]],
    [0, 60, [0, 20, 40, 60]],
    [2, 2, [2]],
  ])('ticks from %d to %d', (low, high, ticks) => {
    expect(niceTicks(low, high, 5)).toEqual(ticks);
  });
});

describe('ratios', () => {
  const band = [Math.log(0.8), Math.log(1.2)] as const;

  test('clipped only on the side the advantage pulls to', () => {
    const summary = summariseRatios({
      kind: 'ratios',
      //  up, pulled up | up, pulled down | down, pulled down | down, pulled up | inside | no advantage
      u: Float64Array.of(0.5, 0.5, -0.5, -0.5, 0.1, 0.9),
      advantage: Float64Array.of(1, -1, -2, 2, 1, 0),
      weight: Float64Array.of(1, 1, 1, 1, 1, 1),
      band,
    });
    expect(summary).toEqual({ sequences: 6, clipped: 2 / 6, outside: 5 / 6, uMax: 0.9, aMax: 2 });
  });

  test('weights count, and sequences without weight do not', () => {
    const summary = summariseRatios({
      kind: 'ratios',
      u: Float64Array.of(0.5, 0, 9),
      advantage: Float64Array.of(1, 1, 1),
      weight: Float64Array.of(3, 1, 0),
      band,
    });
    expect(summary).toEqual({ sequences: 2, clipped: 0.75, outside: 0.75, uMax: 0.5, aMax: 1 });
  });

  test('the boundary of the band is inside', () => {
    const [low, high] = band;
    const edge = {
      kind: 'ratios',
      u: Float64Array.of(low, high),
      advantage: Float64Array.of(-1, 1),
      weight: Float64Array.of(1, 1),
      band,
    } as const;
    expect(summariseRatios(edge)).toMatchObject({ clipped: 0, outside: 0 });
    const none = {
      ...edge,
      u: new Float64Array(),
      advantage: new Float64Array(),
      weight: new Float64Array(),
    };
    expect(summariseRatios(none)).toMatchObject({ sequences: 0, clipped: null, outside: null });
  });
});

describe('policy', () => {
  const artifact = {
    kind: 'policy',
    agent: 0,
    states: ['s', 't'],
    actions: ['a', 'b'],
    before: Float64Array.of(0.5, 0.5, 0.25, 0.75),
    after: Float64Array.of(0.5, 0.5, 0.75, 0.25),
  } as const;

  test('rows by state, and the entry that moved most', () => {
    expect(policyTable(artifact)).toEqual({
      actions: ['a', 'b'],
      rows: [
        { state: 's', before: [0.5, 0.5], after: [0.5, 0.5] },
        { state: 't', before: [0.25, 0.75], after: [0.75, 0.25] },
      ],
      hidden: 0,
      largest: { state: 't', action: 'a', before: 0.25, after: 0.75 },
    });
    expect(mostMoved(policyTable(artifact).rows, 1).map((row) => row.state)).toEqual(['t']);
  });

  test('of many actions shows those that moved most', () => {
    const V = 30;
    const before = new Float64Array(V).fill(1 / V);
    const after = before.map((p, a) => (a === 29 ? p + 0.1 : a === 0 ? p - 0.1 : p));
    const actions = Array.from({ length: V }, (_, a) => `a${a}`);
    const table = policyTable({ kind: 'policy', agent: 0, states: ['s'], actions, before, after });
    expect(table.hidden).toBe(6);
    expect(table.actions).toHaveLength(24);
    expect([table.actions[0], table.actions.at(-1)]).toEqual(['a0', 'a29']);
  });

  test('no states, no largest move', () => {
    const none = { ...artifact, states: [], before: new Float64Array(), after: new Float64Array() };
    expect(policyTable(none)).toMatchObject({ rows: [], largest: null });
  });
});
