/** The headless command from outside: exit codes, files, the last line, and one seed giving one log. */
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { initialWeights, transformerGraph } from '../src/policies/graph/buildTransformer.ts';
import { writeModel } from '../src/policies/graph/onnxFile.ts';

// Every test starts Node a few times, which takes long on a machine with other work.
vi.setConfig({ testTimeout: 240_000 });

const folder = mkdtempSync(join(tmpdir(), 'sat-headless-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function sat(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'sat', '--', ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr, last: stdout.trim().split('\n').at(-1) ?? '' };
}

function write(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const shape = { vocabulary: 12, width: 8, layers: 1, heads: 2, context: 8 };
const tinySum = (model = '') => `
task: {name: sum}
team: {policy: onnx, width: 8, heads: 2${model}}
stages: 1
sat: {groups: 2, groupSize: 2, innerSteps: 2}
evaluation: {prompts: 4}
`;

describe('sat run', () => {
  it('writes config, events and stages, and ends with one JSON line of the contract', () => {
    const out = join(folder, 'doorway');
    const { status, last } = sat(
      'run',
      'public/presets/doorway.yaml',
      '--seed',
      '3',
      '--stages',
      '4',
      '--out',
      out,
    );
    expect(status).toBe(0);
    const result: Record<string, unknown> = JSON.parse(last);
    expect(Object.keys(result)).toEqual([
      'stages',
      'J0',
      'J',
      'certified',
      'klViolationRate',
      'monotonicityViolationRate',
      'seconds',
    ]);
    expect(result).toMatchObject({ stages: 4, klViolationRate: 0, monotonicityViolationRate: 0 });
    const lines = readFileSync(join(out, 'stage_log.jsonl'), 'utf8').trim().split('\n');
    expect(lines.length).toBe(4);
    for (const line of lines) {
      const stage = JSON.parse(line);
      const penalties = stage.occ_shift_penalty + stage.estimator_bias_penalty + stage.finite_sample_penalty;
      expect(stage.lower_bound).toBeCloseTo(stage.info_gain - penalties, 12);
      expect(stage.n_agents).toBe(3);
      expect(stage.lower_bound).toBeLessThanOrEqual(stage.best_bound);
      expect(stage.best_bound).toBeLessThanOrEqual(stage.dJ + 1e-9);
    }
    expect(readFileSync(join(out, 'config.yaml'), 'utf8')).toContain('seed: 3');
  });

  it('one seed and config give byte-identical events, tabular and ONNX', () => {
    const configs = { doorway: 'public/presets/doorway.yaml', sum: write('sum.yaml', tinySum()) };
    for (const [name, config] of Object.entries(configs)) {
      const logs = ['a', 'b'].map((copy) => {
        const out = join(folder, name + copy);
        expect(sat('run', config, '--stages', '2', '--out', out).status).toBe(0);
        return readFileSync(join(out, 'events.jsonl'));
      });
      expect(logs[0]!.length).toBeGreaterThan(1000);
      expect(logs[1]!.equals(logs[0]!)).toBe(true);
    }
  });

  const graph = transformerGraph(shape, initialWeights(shape, 0, 0));
  const unknownOperator = {
    ...graph,
    nodes: graph.nodes.map((node) =>
      node.op === 'Gelu' ? { ...node, op: 'Celu', name: 'odd one', attributes: new Map() } : node,
    ),
  };

  it.each([
    ['a misspelt key', 'task: {name: doorway}\nsat: {detla: 1}', /sat\.detla: given an unknown key; .*delta/],
    [
      'a negative delta',
      'task: {name: doorway}\nsat: {delta: -1}',
      /sat\.delta: given -1; allowed: a number above 0/,
    ],
    [
      'an epsilon of 1',
      'task: {name: doorway}\nsat: {epsilon: 1}',
      /sat\.epsilon: given 1; allowed: .*below 1/,
    ],
    ['broken YAML', 'task: [', /line \d+: given .*; allowed: valid YAML/],
    [
      'a missing model',
      tinySum(', model: none.onnx'),
      /team\.model: given .*none\.onnx; allowed: a readable/,
    ],
    [
      'a corrupt model',
      tinySum(', model: corrupt.onnx'),
      /team\.model: given corrupt\.onnx, but .*; allowed: /,
    ],
    [
      'an operator without a rule',
      tinySum(', model: odd.onnx'),
      /team\.model: .*Celu.*odd one.*allowed: .*MatMul/,
    ],
    ['a wrong vocabulary', tinySum(', model: small.onnx'), /team\.model: .*7 tokens; allowed: .*12/],
  ])('%s exits 2 with one line and writes nothing', (name, yaml, message) => {
    write('corrupt.onnx', writeModel(graph).slice(0, 3000));
    write('odd.onnx', writeModel(unknownOperator));
    const small = { ...shape, vocabulary: 7 };
    write('small.onnx', writeModel(transformerGraph(small, initialWeights(small, 0, 0))));
    const out = join(folder, `out ${name}`);
    const { status, stderr } = sat('run', write(`${name}.yaml`, yaml), '--out', out);
    expect(stderr.trim().split('\n').length).toBe(1);
    expect(stderr).toMatch(message);
    expect(status).toBe(2);
    expect(existsSync(out)).toBe(false);
  });

  it('a whole model file runs', () => {
    write('fine.onnx', writeModel(graph));
    const out = join(folder, 'fine');
    const { status, last } = sat('run', write('fine.yaml', tinySum(', model: fine.onnx')), '--out', out);
    expect(status).toBe(0);
    expect(JSON.parse(last)).toMatchObject({ stages: 1 });
  });
});

describe('a run that cannot go on', () => {
  it('killed half-way, leaves whole lines of everything up to then', async () => {
    const out = join(folder, 'killed');
    const args = [
      '--import',
      'tsx',
      'src/cli/main.ts',
      'run',
      'public/presets/doorway.yaml',
      '--stages',
      '50000',
    ];
    const child = spawn(process.execPath, [...args, '--out', out], { stdio: ['ignore', 'ignore', 'pipe'] });
    const killed = new Promise((resolve) => child.on('exit', resolve));
    let stages = 0;
    child.stderr.on('data', (text: Buffer) => {
      stages += text.toString().split('\n').length - 1;
      if (stages > 20) child.kill('SIGKILL');
    });
    await killed;
    const stageLines = readFileSync(join(out, 'stage_log.jsonl'), 'utf8').split('\n');
    expect(stageLines.length).toBeGreaterThan(20);
    const eventLines = readFileSync(join(out, 'events.jsonl'), 'utf8').split('\n');
    // Only the line being written at the end may be cut.
    eventLines.slice(0, -1).forEach((line, seq) => {
      expect(JSON.parse(line).seq).toBe(seq);
    });
  });

  it.each([
    [
      'a file where the folder should be',
      ['--out', 'package.json'],
      /--out: given package\.json, which cannot be written/,
    ],
    [
      'a seed that the config would not allow',
      ['--seed', '9007199254740991'],
      /seed: given 9007199254740991; allowed: .*281474976710656/,
    ],
    ['too many stages', ['--stages', '99999999'], /stages: given 99999999; allowed: .*100000/],
    ['a seed below 0', ['--seed=-1'], /--seed: given -1; allowed: a whole number from 0/],
  ])('%s exits 2 with one line', (_, args, message) => {
    const { status, stderr } = sat('run', 'public/presets/doorway.yaml', ...args);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n').length).toBe(1);
    expect(status).toBe(2);
  });

  it('a disk that takes nothing more is an error, not a result', () => {
    const out = join(folder, 'full');
    mkdirSync(out);
    symlinkSync('/dev/full', join(out, 'events.jsonl'));
    const { status, stdout, stderr } = sat('run', 'public/presets/doorway.yaml', '--out', out);
    expect(status).toBe(1);
    expect(stderr).toContain('ENOSPC');
    expect(stdout).toBe('');
  });
});

describe('sat golden', () => {
  it.each(['cpu', 'webgpu'])('passes every group it knows on %s and skips only Stage-0', (backend) => {
    const { status, last, stdout } = sat('golden', 'test/golden', '--kernels', backend);
    expect(status).toBe(0);
    expect(JSON.parse(last)).toEqual({ passed: 107, failed: 0, skipped: 11 });
    expect(stdout.match(/skipped/g)?.length).toBe(2);
  });

  it('counts what it cannot read as failed, and goes on', () => {
    const golden = join(folder, 'golden');
    mkdirSync(golden);
    cpSync('test/golden/quantile.json', join(golden, 'quantile.json'));
    const file = JSON.parse(readFileSync('test/golden/kl.json', 'utf8'));
    const [first, second, third] = file.cases;
    first.expected.kl_tar_cur[0] += 1;
    const cases = [first, null, { ...second, expected: {} }, third];
    writeFileSync(join(golden, 'kl.json'), JSON.stringify({ ...file, cases }));
    writeFileSync(join(golden, 'broken.json'), '{');
    const { status, stdout, last } = sat('golden', golden);
    expect(status).toBe(1);
    expect(stdout).toContain('kl_tar_cur[0] is ');
    expect(stdout).toContain('broken.json: it is not JSON');
    expect(stdout).toContain('kl.json case 1: a case needs');
    expect(JSON.parse(last)).toEqual({ passed: 15, failed: 4, skipped: 0 });
  });
});
