import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseConfig, type RunConfig, validateConfig } from '../runs/config.ts';
import { ConfigError } from '../runs/configError.ts';
import { summarise } from '../runs/summary.ts';
import { createRun } from '../sat/createRun.ts';
import { nodeKernels } from './nodeKernels.ts';
import { createNodeRuntime } from './nodeOrt.ts';
import { RunLog } from './runLog.ts';
import { oneOf, parseCommand, UsageError, wholeNumber } from './usage.ts';

/**
 * `sat run`: runs a config and writes config.yaml, events.jsonl (one event a line, no clock in it) and stage_log.jsonl
 * (one stage a line). The last line on standard output is one JSON object.
 */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const options = ['seed', 'stages', 'models', 'kernels', 'threads', 'out'];
  const { target, values } = parseCommand(argv, 'CONFIG.yaml', options);
  const threads = wholeNumber('threads', values.get('threads'), 1, MAX_THREADS) ?? 1;
  requireNodeProvider(oneOf('models', values.get('models'), ['wasm', 'webgpu'], 'wasm'));
  const backend = oneOf('kernels', values.get('kernels'), ['cpu', 'webgpu'], 'cpu');
  const config = withOverrides(parseConfig(await readConfigFile(target)), values);
  const out = values.get('out') ?? join('runs', `${config.name}-seed${config.seed}`);
  if (out === '') throw new UsageError('--out: given an empty name; allowed: a folder');

  const started = performance.now();
  const { kernels, dispose } = await nodeKernels(backend);
  const run = await createRun(config, {
    kernels,
    modelRuntime: () => createNodeRuntime({ threads }),
    readModel: (path) => readModelFile(resolve(dirname(target), path)),
  });
  const log = new RunLog(out, config);
  for await (const event of run.events()) {
    log.add(event);
    if (event.kind !== 'stageEnd') continue;
    const { J, accepted, updates } = event;
    console.error(
      `stage ${event.stage + 1}/${config.stages}: J ${J.value.toPrecision(5)}, ${accepted}/${updates} accepted`,
    );
  }
  log.close();
  await run.dispose();
  dispose();
  const { stages, J0, J, certified, klViolationRate, monotonicityViolationRate } = summarise(log.kept);
  const seconds = Number(((performance.now() - started) / 1000).toFixed(2));
  // A run whose batches never had a signal checked no state: none of no states was over the radius.
  const rates = {
    klViolationRate: klViolationRate ?? 0,
    monotonicityViolationRate: monotonicityViolationRate ?? 0,
  };
  console.log(JSON.stringify({ stages, J0, J, certified, ...rates, seconds }));
  return 0;
}

const MAX_THREADS = 64;

/** --seed and --stages replace the config's and obey the same limits. */
function withOverrides(config: RunConfig, values: ReadonlyMap<string, string>): RunConfig {
  const seed = wholeNumber('seed', values.get('seed'), 0);
  const stages = wholeNumber('stages', values.get('stages'), 1);
  return validateConfig({ ...config, seed: seed ?? config.seed, stages: stages ?? config.stages });
}

/** ONNX Runtime Web has its webgpu provider in browsers only. */
function requireNodeProvider(provider: 'wasm' | 'webgpu'): void {
  if (provider === 'webgpu') {
    throw new UsageError(
      '--models: given webgpu, which ONNX Runtime Web has in browsers only; allowed here: wasm (kernels can still be webgpu)',
    );
  }
}

async function readConfigFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    throw new UsageError(
      `CONFIG.yaml: given ${path}, which cannot be read; allowed: a YAML file, e.g. public/presets/doorway.yaml`,
    );
  }
}

/** `team.model` is relative to the config file that names it. */
async function readModelFile(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch {
    throw new ConfigError([{ field: 'team.model', given: path, allowed: 'a readable .onnx file' }]);
  }
}
