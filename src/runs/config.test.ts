import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseConfig, validateConfig } from './config.ts';
import { ConfigError } from './configError.ts';

const doorway = (sat: Record<string, unknown> = {}) => ({ task: { name: 'doorway' }, sat });

function issuesOf(input: unknown) {
  try {
    validateConfig(input);
  } catch (error) {
    if (error instanceof ConfigError) return error.issues;
    throw error;
  }
  return [];
}

describe('validateConfig', () => {
  it('fills in the paper defaults', () => {
    const { sat } = validateConfig(doorway());
    expect(sat).toMatchObject({
      gamma: 0.99,
      lambda: 0.95,
      epsilon: 0.2,
      aClip: 5,
      beta: 0.001,
      delta: 0.05,
    });
    expect(sat).toMatchObject({ alpha: 0.01, maxBacktracks: 5, deltaConf: 0.05, temperature: 0.8, topP: 1 });
  });

  it.each([
    [doorway({ delta: -0.1 }), 'sat.delta', '-0.1', 'above 0'],
    [doorway({ delta: 0 }), 'sat.delta', '0', 'above 0'],
    [doorway({ epsilon: 1 }), 'sat.epsilon', '1', 'below 1'],
    [doorway({ delta: Number.NaN }), 'sat.delta', 'NaN', 'a number'],
    [doorway({ delta: 'big' }), 'sat.delta', '"big"', 'a number'],
    [doorway({ gamma: 1 }), 'sat.gamma', '1', 'to 0.999'],
    [doorway({ innerSteps: 2.5 }), 'sat.innerSteps', '2.5', 'a whole number'],
    [doorway({ scheme: 'all' }), 'sat.scheme', '"all"', 'sat, simultaneous'],
    [
      doorway({ order: 'given', givenOrder: [0, 0, 1] }),
      'sat.givenOrder',
      '[0,0,1]',
      'a permutation of 0..2',
    ],
    [doorway({ order: 'given' }), 'sat.givenOrder', 'nothing', 'a permutation'],
    [doorway({ radii: [0.1] }), 'sat.radii', '[0.1]', 'a list of 3 radii'],
    [{ task: { name: 'doorway', agents: 99 } }, 'task.agents', '99', 'to 6'],
    [{ task: { name: 'dorway' } }, 'task.name', '"dorway"', 'doorway'],
    [{ task: { name: 'doorway' }, team: { policy: 'onnx' } }, 'team.policy', 'onnx', 'tabular'],
    [
      { task: { name: 'sum' }, team: { policy: 'onnx', width: 30, heads: 4 } },
      'team.heads',
      '4',
      'a divisor',
    ],
    [
      { task: { name: 'sum' }, team: { policy: 'onnx' }, sat: { advantages: 'exact' } },
      'sat.advantages',
      'exact',
      'sampled',
    ],
    [{ task: { name: 'doorway' }, sat: null }, 'sat', 'null', 'a mapping'],
    [{ task: { name: 'doorway' }, name: '../../outside' }, 'name', '"../../outside"', 'letters'],
    [
      { task: { name: 'doorway' }, about: 'x'.repeat(1000) },
      'about',
      `"${'x'.repeat(119)}… (1002 characters)`,
      '600',
    ],
    [{ task: { name: 'doorway' }, seed: 2 ** 60 }, 'seed', String(2 ** 60), 'a whole number'],
    [{ task: { name: 'doorway' }, warmStart: { steps: 5 } }, 'warmStart.steps', '5', 'no solver'],
    [null, 'config', 'null', 'a mapping'],
    [[], 'config', '[]', 'a mapping'],
    [{}, 'task.name', 'nothing', 'one of doorway'],
  ])('%j names the field, what was given and what is allowed', (input, field, given, allowed) => {
    const issues = issuesOf(input);
    expect(issues.map((issue) => issue.field)).toEqual([field]);
    expect(issues[0]?.given).toBe(given);
    expect(issues[0]?.allowed).toContain(allowed);
  });

  it('suggests the key that a misspelt one meant', () => {
    expect(issuesOf(doorway({ detla: 0.1 }))[0]).toMatchObject({
      field: 'sat.detla',
      given: 'an unknown key',
    });
    expect(issuesOf(doorway({ detla: 0.1 }))[0]?.allowed).toContain('did you mean delta');
    expect(issuesOf({ ...doorway(), stagse: 3 })[0]?.allowed).toContain('did you mean stages');
  });

  it('reports every issue at once, on one line', () => {
    const issues = issuesOf(doorway({ delta: -1, epsilon: 1, foo: 2 }));
    expect(issues.map((issue) => issue.field).sort()).toEqual(['sat.delta', 'sat.epsilon', 'sat.foo']);
    expect(new ConfigError(issues).message).not.toContain('\n');
  });
});

describe('parseConfig', () => {
  it('names the line of broken YAML', () => {
    expect(() => parseConfig('task:\n  name: doorway\n bad: [')).toThrow(/line 3/);
  });

  it('names the field config for unknown aliases, endless nesting and texts that are too long', () => {
    expect(() => parseConfig('task: *nope')).toThrow(/config: given .*nope.*; allowed: valid YAML/);
    expect(() => parseConfig('['.repeat(50_000))).toThrow(ConfigError);
    expect(() => parseConfig(`#${'x'.repeat(200_000)}`)).toThrow(
      /given 200001 characters; allowed: at most 200000/,
    );
  });

  it('reads merge keys', () => {
    const yaml = 'task: {name: doorway}\nsat: &base {delta: 0.1}\noptimiser: {lr: 0.5}\n';
    expect(parseConfig(yaml).sat.delta).toBe(0.1);
  });

  it('keeps __proto__ from polluting anything', () => {
    expect(() => parseConfig('task: {name: doorway}\n__proto__: {polluted: 1}')).toThrow(ConfigError);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  const presets = readdirSync('public/presets').filter((file) => file.endsWith('.yaml'));
  it.each(presets)('preset %s is valid', (file) => {
    expect(parseConfig(readFileSync(`public/presets/${file}`, 'utf8')).about.length).toBeGreaterThan(20);
  });
});
