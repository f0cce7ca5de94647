import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runExactCase, runFisherCase } from '../exact/golden.ts';
import { KERNEL_GROUPS, runKernelCase } from '../kernels/golden.ts';
import type { Backend, Kernels } from '../kernels/kernels.ts';
import { runTransformerCase } from '../policies/golden.ts';
import { compareGolden, type GoldenCase, type GoldenRecord, type Mismatch } from '../runs/golden.ts';
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
  const fail = (where: string, problem: string) => {
    count.failed++;
    console.log(`${where}: ${problem}`);
  };
  for (const { file, content } of files) {
    if (typeof content === 'string') {
      fail(file, content);
      continue;
    }
    const runner = runners.get(content.group);
    if (runner === undefined) {
      count.skipped += content.cases.length;
      console.log(
        `${file}: ${content.cases.length} skipped, nothing here computes the group ${content.group}`,
      );
      continue;
    }
    for (const [index, golden] of content.cases.entries()) {
      const problem = isGoldenCase(golden)
        ? await check(golden, runner)
        : 'a case needs "input", "expected" with at least one key, "rtol" and "atol"';
      if (problem === undefined) count.passed++;
      else fail(`${file} ${isGoldenCase(golden) ? golden.name : `case ${index}`}`, problem);
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
    ['fisher', { precision: 'cpu', run: async ({ input }) => runFisherCase(input) }],
    [
      'transformer',
      { precision: 'webgpu', run: async ({ input }) => runTransformerCase(input, await runtime, kernels) },
    ],
  ]);
}

/** Every .json file of the folder; one that is no golden file stands as the reason why. */
async function goldenFiles(folder: string): Promise<{ file: string; content: Untested | string }[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => {
    throw new UsageError(
      `DIR: given ${folder}, which cannot be read; allowed: a folder of golden .json files`,
    );
  });
  const names = entries
    .filter((entry) => !entry.isDirectory() && entry.name.endsWith('.json'))
    .map(({ name }) => name);
  if (names.length === 0) {
    throw new UsageError(
      `DIR: given ${folder}, which holds no .json file; allowed: a folder of golden files`,
    );
  }
  const files = [];
  for (const file of names.sort()) {
    files.push({ file, content: parseGoldenFile(await readFile(join(folder, file), 'utf8')) });
  }
  return files;
}

/** A golden file whose cases have not been looked at. */
interface Untested {
  readonly group: string;
  readonly cases: readonly unknown[];
}

function parseGoldenFile(text: string): Untested | string {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    return `it is not JSON (${error instanceof Error ? error.message : error})`;
  }
  return isGoldenFile(content) ? content : 'it has no "group" and "cases", as its README describes them';
}

function isGoldenFile(content: unknown): content is Untested {
  if (typeof content !== 'object' || content === null) return false;
  return (
    'group' in content &&
    typeof content.group === 'string' &&
    'cases' in content &&
    Array.isArray(content.cases)
  );
}

function isGoldenCase(value: unknown): value is GoldenCase {
  if (typeof value !== 'object' || value === null) return false;
  const { name, input, expected, rtol, atol }: Partial<Record<string, unknown>> = { ...value };
  const isRecord = (part: unknown) => typeof part === 'object' && part !== null && !Array.isArray(part);
  return (
    typeof name === 'string' &&
    isRecord(input) &&
    isRecord(expected) &&
    Object.keys(expected ?? {}).length > 0 &&
    typeof rtol === 'number' &&
    typeof atol === 'number'
  );
}
