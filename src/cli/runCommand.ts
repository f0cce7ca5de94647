import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { parseConfig, type RunConfig } from '../runs/config.ts';
import { ConfigError } from '../runs/configError.ts';
import type { SatEvent } from '../runs/events.ts';
import { stageLogLine } from '../runs/stageLog.ts';
import { summarise } from '../runs/summary.ts';
import { createRun } from '../sat/createRun.ts';
import { nodeKernels } from './nodeKernels.ts';
import { createNodeRuntime } from './nodeOrt.ts';
import { oneOf, parseCommand, UsageError, wholeNumber } from './usage.ts';

/**
 * `sat run`: runs a config and writes config.yaml, events.jsonl (one event a line, no clock in it) and stage_log.jsonl
 * (one stage a line). The last line on standard output is one JSON object.
 */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const { target, values } = parseCommand(argv, 'CONFIG.yaml', [
    'seed',
    'stages',
    'models',
    'kernels',
    'threads',
    'out',
  ]);
  const seed = wholeNumber('seed', values.get('seed'), 0);
  const stages = wholeNumber('stages', values.get('stages'), 1);
  const threads = wholeNumber('threads', values.get('threads'), 1) ?? 1;
  requireNodeProvider(oneOf('models', values.get('models'), ['wasm', 'webgpu'], 'wasm'));
  const backend = oneOf('kernels', values.get('kernels'), ['cpu', 'webgpu'], 'cpu');
  const parsed = parseConfig(await readConfigFile(target));
  const config: RunConfig = { ...parsed, seed: seed ?? parsed.seed, stages: stages ?? parsed.stages };
  const out = values.get('out') ?? join('runs', `${config.name}-seed${config.seed}`);

  const started = performance.now();
  const { kernels, dispose } = await nodeKernels(backend);
  const run = await createRun(config, {
    kernels,
    modelRuntime: () => createNodeRuntime({ threads }),
    readModel: (path) => readModelFile(resolve(dirname(target), path)),
  });
  const events = await log(run.events(), config, out);
  await run.dispose();
  dispose();
  const { stages: done, J0, J, certified, klViolationRate, monotonicityViolationRate } = summarise(events);
  const seconds = Number(((performance.now() - started) / 1000).toFixed(2));
  console.log(
    JSON.stringify({ stages: done, J0, J, certified, klViolationRate, monotonicityViolationRate, seconds }),
  );
  return 0;
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

/** Writes every event as it happens, so that a run that stops keeps what it had. */
async function log(events: AsyncGenerator<SatEvent>, config: RunConfig, out: string): Promise<SatEvent[]> {
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'config.yaml'), stringify(config));
  const eventLog = createWriteStream(join(out, 'events.jsonl'));
  const stageLog = createWriteStream(join(out, 'stage_log.jsonl'));
  const all: SatEvent[] = [];
  try {
    for await (const event of events) {
      all.push(event);
      eventLog.write(`${JSON.stringify(event)}\n`);
      if (event.kind === 'stageEnd') {
        const line = stageLogLine(all, event.stage, config);
        stageLog.write(`${JSON.stringify(line)}\n`);
        console.error(
          `stage ${event.stage + 1}/${config.stages}: J ${event.J.value.toPrecision(5)}, ${event.accepted}/${event.updates} accepted`,
        );
      }
    }
  } finally {
    await Promise.all([close(eventLog), close(stageLog)]);
  }
  return all;
}

function close(stream: WriteStream): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once('error', reject);
    stream.end(resolve);
  });
}
