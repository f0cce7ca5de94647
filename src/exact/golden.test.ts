import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareGolden, type GoldenFile } from '../runs/golden.ts';
import { runExactCase } from './golden.ts';

const GOLDEN = join(import.meta.dirname, '../../test/golden');

describe.each(['exact_mdp', 'exact_mdp_n3', 'exact_mdp_masked'])('%s.json', (name) => {
  const file: GoldenFile = JSON.parse(readFileSync(join(GOLDEN, `${name}.json`), 'utf8'));
  it.each(file.cases.map((golden) => [golden.name, golden] as const))('%s', (_, golden) => {
    expect(file.group).toBe('exact_mdp');
    const actual = runExactCase(golden.input);
    expect(compareGolden(actual, golden.expected, golden, 'cpu').firstMismatch).toBeUndefined();
    // Neither less nor more than the file asks for.
    expect(Object.keys(actual).sort()).toEqual(Object.keys(golden.expected).sort());
  });
});
