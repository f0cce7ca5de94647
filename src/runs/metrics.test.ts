import { expect, test } from 'vitest';
import type { BoundName } from './events.ts';
import { metrics } from './metrics.ts';

test('every metric says what it is, how it is computed, what is healthy and where it comes from', () => {
  for (const [name, metric] of Object.entries(metrics)) {
    const { label, meaning, formula, unit, healthy, source } = metric;
    for (const [field, text] of Object.entries({ label, meaning, formula, unit, healthy, source }))
      expect(text.trim(), `${name}.${field}`).not.toBe('');
    expect(meaning, `${name}.meaning is a sentence`).toMatch(/^[A-Z].*\.$/s);
  }
});

test('labels tell metrics apart, and every bound has one', () => {
  const labels = Object.values(metrics).map(({ label }) => label);
  expect(new Set(labels).size).toBe(labels.length);
  const bounds: readonly BoundName[] = ['paper', 'trpo', 'cpo', 'coupling', 'statewise'];
  expect(bounds.every((bound) => metrics[bound].label.endsWith('bound'))).toBe(true);
});
