import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runExactCase } from '../exact/golden.ts';
import { KERNEL_GROUPS, runKernelCase } from '../kernels/golden.ts';
import type { Backend, Kernels } from '../kernels/kernels.ts';
import { runTransformerCase } from '../policies/golden.ts';
import {
  compareGolden,
  type GoldenCase,
  type GoldenFile,
  type GoldenRecord,
  type Mismatch,
} from '../runs/golden.ts';
import { nodeKernels } from './nodeKernels.ts';
import { createNodeRuntime } from './nodeOrt.ts';
import { oneOf, parseCommand, UsageError } from './usage.ts';

/** What runs a group's cases, and the arithmetic it runs in, which decides the tolerance. */
interface GroupRunner {
  readonly precision: Backend;
  run(golden: GoldenCase): Promise<GoldenRecord>;
}

/**
 * `sat golden`: runs every case of every file in a folder. Groups that nothing here computes count as skipped. The last
 * line on standard output is {"passed","failed","skipped"}; exit 1 if any failed.
 */
export async function goldenCommand(argv: readonly string[]): Promise<number> {
  const { target, values } = parseCommand(argv, 'DIR', ['kernels']);
  const backend = oneOf('kernels', values.get('kernels'), ['cpu', 'webgpu'], 'cpu');
  const files = await goldenFiles(target);
  const { kernels, dispose } = await nodeKernels(backend);
  const runners = groupRunners(kernels);
  const count = { passed: 0, failed: 0, skipped: 0 };
  for (const { file, content } of files) {
    const runner = runners.get(content.group);
    if (runner === undefined) {
      count.skipped += content.cases.length;
      console.log(
        `${file}: ${content.cases.length} skipped, nothing here computes the group ${content.group}`,
      );
      continue;
    }
    for (const golden of content.cases) {
      const problem = await check(golden, runner);
      if (problem === undefined) count.passed++;
      else {
        count.failed++;
        console.log(`${file} ${golden.name}: ${problem}`);
      }
    }
  }
  dispose();
  console.log(JSON.stringify(count));
  return count.failed > 0 ? 1 : 0;
}

async function check(golden: GoldenCase, runner: GroupRunner): Promise<string | undefined> {
  try {
    const actual = await runner.run(golden);
    const { ok, firstMismatch } = compareGolden(actual, golden.expected, golden, runner.precision);
    return ok ? undefined : inWords(firstMismatch);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function inWords(mismatch: Mismatch | undefined): string {
  if (mismatch === undefined) return 'differs';
  return `${mismatch.path} is ${JSON.stringify(mismatch.actual)}, expected ${JSON.stringify(mismatch.expected)}`;
}

/** Kernels run on the chosen backend; exact MDPs always in float64; models always in ONNX Runtime's float32. */
function groupRunners(kernels: Kernels): ReadonlyMap<string, GroupRunner> {
  const runtime = createNodeRuntime();
  // The runtime loads while other groups run; a failure belongs to the cases that need it.
  runtime.catch(() => undefined);
  return new Map<string, GroupRunner>([
    ...KERNEL_GROUPS.map((group): [string, GroupRunner] => [
      group,
      { precision: kernels.backend, run: ({ input }) => runKernelCase(group, input, kernels) },
    ]),
    ['exact_mdp', { precision: 'cpu', run: async ({ input }) => runExactCase(input) }],
    [
      'transformer',
      { precision: 'webgpu', run: async ({ input }) => runTransformerCase(input, await runtime, kernels) },
    ],
  ]);
}

async function goldenFiles(folder: string): Promise<{ file: string; content: GoldenFile }[]> {
  const names = await readdir(folder).catch(() => {
    throw new UsageError(
      `DIR: given ${folder}, which cannot be read; allowed: a folder of golden .json files`,
    );
  });
  const files = [];
  for (const file of names.filter((name) => name.endsWith('.json')).sort()) {
    const content = parseGoldenFile(file, await readFile(join(folder, file), 'utf8'));
    files.push({ file, content });
  }
  if (files.length === 0)
    throw new UsageError(
      `DIR: given ${folder}, which holds no .json file; allowed: a folder of golden files`,
    );
  return files;
}

function parseGoldenFile(file: string, text: string): GoldenFile {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `${file}: given text that is not JSON (${error instanceof Error ? error.message : error}); allowed: a golden file`,
    );
  }
  if (!isGoldenFile(content)) {
    throw new UsageError(
      `${file}: given JSON without "group" and "cases"; allowed: a golden file as its README describes`,
    );
  }
  return content;
}

function isGoldenFile(content: unknown): content is GoldenFile {
  if (typeof content !== 'object' || content === null) return false;
  return (
    'group' in content &&
    typeof content.group === 'string' &&
    'cases' in content &&
    Array.isArray(content.cases)
  );
}
