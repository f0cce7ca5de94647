import { expect, test } from 'vitest';
import { validateConfig } from '../runs/config.ts';
import { doorway } from '../tasks/doorway.ts';
import { changed, configFields, editsTowards, valueAt, withEdits } from './draft.ts';

const config = validateConfig({ task: { name: 'doorway' }, sat: { delta: 0.05 }, optimiser: { lr: 0.1 } });
const fields = configFields(doorway.options);

test('every field of the table lies in a valid config', () => {
  for (const { field, option } of fields) {
    expect(valueAt(config, field), field).toBeTypeOf(
      option.kind === 'integer' ? 'number' : typeof option.default,
    );
  }
  expect(new Set(fields.map(({ field }) => field)).size).toBe(fields.length);
});

test('turning a knob back to the running value leaves no edit', () => {
  const turned = changed(config, {}, 'sat.delta', 0.1);
  expect(turned).toEqual({ 'sat.delta': 0.1 });
  expect(changed(config, turned, 'sat.delta', 0.05)).toEqual({});
});

test('edits reach nested and top-level keys of a copy', () => {
  const edited = validateConfig(withEdits(config, { 'sat.delta': 0.1, seed: 7, 'task.agents': 5 }));
  expect([edited.sat.delta, edited.seed, edited.task.agents]).toEqual([0.1, 7, 5]);
  expect([config.sat.delta, config.seed, config.task.agents]).toEqual([0.05, 0, 3]);
});

test('edits towards another config are exactly the knobs that differ', () => {
  const target = withEdits(config, { 'sat.delta': 0.2, 'optimiser.lr': 0.3 });
  const edits = editsTowards(config, target, fields);
  expect(edits).toEqual({ 'sat.delta': 0.2, 'optimiser.lr': 0.3 });
  expect(withEdits(config, edits)).toEqual(target);
});
