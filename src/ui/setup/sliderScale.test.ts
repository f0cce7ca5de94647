import { expect, test } from 'vitest';
import type { NumberOption } from '../../runs/options.ts';
import { fromTrack, toTrack, track } from './sliderScale.ts';

const option = (rest: Partial<NumberOption>): NumberOption => ({
  key: 'x',
  label: 'x',
  meaning: '',
  kind: 'number',
  default: 1,
  min: 0,
  max: 1,
  ...rest,
});

test('a logarithmic slider has its middle at the geometric mean', () => {
  const scale = track(option({ log: true, min: 0.01, max: 100 }))!;
  expect(fromTrack(scale, (scale.min + scale.max) / 2)).toBe(1);
  expect(fromTrack(scale, toTrack(scale, 0.05))).toBe(0.05);
});

test('a value that the slider cannot reach lies at its end', () => {
  const scale = track(option({ log: true, min: 0, max: 10 }))!;
  expect(toTrack(scale, 0)).toBe(scale.min);
  expect(fromTrack(scale, scale.min)).toBe(1e-5);
});

test('excluded bounds cannot be reached', () => {
  const scale = track(option({ exclusiveMin: true, exclusiveMax: true }))!;
  expect(fromTrack(scale, scale.min)).toBeGreaterThan(0);
  expect(fromTrack(scale, scale.max)).toBeLessThan(1);
});

test('wide plain ranges have no slider', () => {
  expect(track(option({ kind: 'integer', min: 1, max: 4096 }))).toBeUndefined();
});
