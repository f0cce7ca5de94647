import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareGolden, type GoldenFile } from '../runs/golden.ts';
import { runExactCase, runFisherCase } from './golden.ts';

const GOLDEN = join(import.meta.dirname, '../../test/golden');

describe.each([
  ['exact_mdp', 'exact_mdp', runExactCase],
  ['exact_mdp_n3', 'exact_mdp', runExactCase],
  ['exact_mdp_masked', 'exact_mdp', runExactCase],
  ['fisher', 'fisher', runFisherCase],
] as const)('%s.json', (name, group, run) => {
  const file: GoldenFile = JSON.parse(readFileSync(join(GOLDEN, `${name}.json`), 'utf8'));
  it.each(file.cases.map((golden) => [golden.name, golden] as const))('%s', (_, golden) => {
    expect(file.group).toBe(group);
    const actual = run(golden.input);
    expect(compareGolden(actual, golden.expected, golden, 'cpu').firstMismatch).toBeUndefined();
    // Neither less nor more than the file asks for.
    expect(Object.keys(actual).sort()).toEqual(Object.keys(golden.expected).sort());
  });
});

it('names a step that the order does not have', () => {
  const file: GoldenFile = JSON.parse(readFileSync(join(GOLDEN, 'fisher.json'), 'utf8'));
  const { input } = file.cases[0]!;
  expect(() => runFisherCase({ ...input, step: 0 })).toThrow(
    'step: given 0; allowed: a whole number from 1 to 2',
  );
});
