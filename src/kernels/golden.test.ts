import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { lanes, useKernels } from '../../test/support/lanes.ts';
import { compareGolden, type GoldenFile } from '../runs/golden.ts';
import { isKernelGroup, KERNEL_GROUPS, runKernelCase } from './golden.ts';

function load(group: string): GoldenFile {
  return JSON.parse(readFileSync(new URL(`../../test/golden/${group}.json`, import.meta.url), 'utf8'));
}

describe.each(lanes)('golden vectors on $name', (lane) => {
  const kernels = useKernels(lane);

  describe.each(KERNEL_GROUPS)('%s', (group) => {
    test.each(load(group).cases)('$name', async (golden) => {
      const actual = await runKernelCase(group, golden.input, kernels());
      expect(compareGolden(actual, golden.expected, golden, kernels().backend)).toEqual({ ok: true });
    });
  });
});

test('knows its groups', () => {
  expect(isKernelGroup('kl')).toBe(true);
  expect(isKernelGroup('fisher')).toBe(false);
});
