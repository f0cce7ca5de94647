/**
 * The configuration of a run: a schema derived from the option tables, and parsing whose errors name the field, what
 * was given and what is allowed.
 */
import { parse as parseYaml, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { taskDefinition, taskDefinitions } from '../tasks/index.ts';
import type { TaskDefinition } from '../tasks/task.ts';
import {
  ConfigError,
  type ConfigIssue,
  describeIssues,
  displayGiven,
  MAX_CONFIG_CHARACTERS,
} from './configError.ts';
import { type Option, optionSchema } from './options.ts';
import { sectionOptions } from './sectionOptions.ts';

/** Update schemes of SAT.md section 2 that this version runs. */
export type Scheme = 'sat' | 'simultaneous';
export type OrderRule = 'static' | 'random' | 'given';
export type AcceptRule = 'kl' | 'kl+surrogate';

export interface SatConfig {
  readonly scheme: Scheme;
  readonly order: OrderRule;
  /** The permutation for `order: given`. */
  readonly givenOrder?: readonly number[] | undefined;
  readonly advantages: 'sampled' | 'exact';
  readonly trace: 'retrace' | 'vtrace';
  readonly gamma: number;
  readonly lambda: number;
  readonly groups: number;
  readonly groupSize: number;
  readonly temperature: number;
  readonly topP: number;
  readonly epsilon: number;
  readonly beta: number;
  readonly betaFactor: number;
  readonly delta: number;
  /** A radius per agent; overrides `delta`. */
  readonly radii?: readonly number[] | undefined;
  readonly alpha: number;
  readonly eta: number;
  readonly aClip: number;
  readonly innerSteps: number;
  readonly maxBacktracks: number;
  readonly accept: AcceptRule;
  readonly deltaConf: number;
}

export interface OptimiserConfig {
  readonly lr: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  readonly maxNorm: number;
  readonly carryMoments: boolean;
}

export interface TeamConfig {
  readonly policy: 'tabular' | 'onnx';
  /** An ONNX file that every agent starts from, instead of a model built to the sizes below. */
  readonly model?: string | undefined;
  readonly initScale: number;
  readonly layers: number;
  readonly width: number;
  readonly heads: number;
}

export interface RunConfig {
  readonly name: string;
  readonly about: string;
  readonly seed: number;
  readonly stages: number;
  readonly task: Readonly<Record<string, number | string | boolean>> & { readonly name: string };
  readonly team: TeamConfig;
  readonly sat: SatConfig;
  readonly optimiser: OptimiserConfig;
  readonly warmStart: {
    readonly steps: number;
    readonly teacher: number;
    readonly targetKl: number;
    readonly seed: number;
    readonly batch: number;
    readonly lr: number;
  };
  readonly evaluation: { readonly prompts: number };
}

function objectOf(options: readonly Option[]): z.ZodRawShape {
  return Object.fromEntries(options.map((option) => [option.key, optionSchema(option)]));
}

const nameRule =
  'allowed: up to 80 letters, digits, spaces, dots, dashes and underscores, a letter or digit first';
const aboutRule = 'allowed: a text of at most 600 characters';
const mapping = 'allowed: a mapping of keys to values';
const permutation = z
  .array(z.number().int().min(0), { error: 'allowed: a list of agent numbers from 0' })
  .optional();
const modelFile = z.string({ error: 'allowed: the path of an .onnx file' }).min(1).optional();
const radii = z.array(z.number().gt(0), { error: 'allowed: a list of radii above 0' }).optional();

function schemaFor(task: TaskDefinition) {
  const section = (options: readonly Option[], extra: z.ZodRawShape = {}) =>
    z.strictObject({ ...objectOf(options), ...extra }, { error: mapping }).prefault({});
  return z.strictObject({
    name: z
      .string({ error: nameRule })
      .regex(/^[\w][\w .-]{0,79}$/, { error: nameRule })
      .default(task.name),
    about: z.string({ error: aboutRule }).max(600, { error: aboutRule }).default(''),
    ...objectOf(sectionOptions.run),
    task: z.strictObject({ name: z.literal(task.name), ...objectOf(task.options) }, { error: mapping }),
    team: section(sectionOptions.team, { model: modelFile }),
    sat: section(sectionOptions.sat, { givenOrder: permutation, radii }),
    optimiser: section(sectionOptions.optimiser),
    warmStart: section(sectionOptions.warmStart),
    evaluation: section(sectionOptions.evaluation),
  });
}

/**
 * Validates a parsed config and fills in defaults.
 *
 * @throws {ConfigError} with every issue: the field's dotted path, what was given, what is allowed.
 */
export function validateConfig(input: unknown): RunConfig {
  const names = taskDefinitions.map((definition) => definition.name).join(', ');
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new ConfigError([
      { field: 'config', given: displayGiven(input), allowed: 'a mapping with the keys task, team, sat, …' },
    ]);
  }
  const task: unknown = 'task' in input ? input.task : undefined;
  const taskName: unknown =
    typeof task === 'object' && task !== null && 'name' in task ? task.name : undefined;
  const definition = typeof taskName === 'string' ? taskDefinition(taskName) : undefined;
  if (definition === undefined) {
    throw new ConfigError([
      { field: 'task.name', given: displayGiven(taskName), allowed: `one of ${names}` },
    ]);
  }
  const schema = schemaFor(definition);
  const result = schema.safeParse(input);
  if (!result.success)
    throw new ConfigError(describeIssues(result.error.issues, input, knownKeys(definition)));
  const config = result.data as unknown as RunConfig;
  const conflicts = crossChecks(config, definition);
  if (conflicts.length > 0) throw new ConfigError(conflicts);
  return config;
}

/**
 * Reads a YAML config.
 *
 * @throws {ConfigError} for bad YAML (with its line) and for bad content.
 */
export function parseConfig(yaml: string): RunConfig {
  if (yaml.length > MAX_CONFIG_CHARACTERS) {
    throw new ConfigError([
      { field: 'config', given: `${yaml.length} characters`, allowed: `at most ${MAX_CONFIG_CHARACTERS}` },
    ]);
  }
  return validateConfig(readYaml(yaml));
}

/** Merge keys and a few aliases are fine; nesting or aliases that blow up are errors of the config like any other. */
function readYaml(yaml: string): unknown {
  try {
    return parseYaml(yaml, { merge: true, maxAliasCount: 20 });
  } catch (error) {
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined;
    const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    const field = line === undefined ? 'config' : `line ${line}`;
    throw new ConfigError([{ field, given: message, allowed: 'valid YAML' }]);
  }
}

/** The options of a section, by dotted prefix, for knobs and documentation. */
export function optionsOf(config: RunConfig): Readonly<Record<string, readonly Option[]>> {
  return { ...sectionOptions, task: taskDefinition(config.task.name)?.options ?? [] };
}

function knownKeys(task: TaskDefinition): Readonly<Record<string, readonly string[]>> {
  const keys = (options: readonly Option[]) => options.map((option) => option.key);
  return {
    '': [
      'name',
      'about',
      'task',
      'team',
      'sat',
      'optimiser',
      'warmStart',
      'evaluation',
      ...keys(sectionOptions.run),
    ],
    task: ['name', ...keys(task.options)],
    team: [...keys(sectionOptions.team), 'model'],
    sat: [...keys(sectionOptions.sat), 'givenOrder', 'radii'],
    optimiser: keys(sectionOptions.optimiser),
    warmStart: keys(sectionOptions.warmStart),
    evaluation: keys(sectionOptions.evaluation),
  };
}

/** What no single field can know: combinations that the engine cannot run. */
function crossChecks(config: RunConfig, definition: TaskDefinition): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  const agents = Number(config.task.agents);
  const { sat, team } = config;
  if (!definition.policies.includes(team.policy)) {
    issues.push({
      field: 'team.policy',
      given: team.policy,
      allowed: `${definition.policies.join(' or ')} for the task ${definition.name}`,
    });
  }
  if (team.model !== undefined && team.policy !== 'onnx') {
    issues.push({ field: 'team.model', given: team.model, allowed: 'a model only with team.policy: onnx' });
  }
  if (config.warmStart.steps > 0 && definition.hasSolver === undefined) {
    issues.push({
      field: 'warmStart.steps',
      given: String(config.warmStart.steps),
      allowed: `0: the task ${definition.name} has no solver to imitate`,
    });
  }
  if (team.policy === 'onnx' && team.model === undefined && team.width % team.heads !== 0) {
    issues.push({
      field: 'team.heads',
      given: String(team.heads),
      allowed: `a divisor of team.width, which is ${team.width}`,
    });
  }
  if (sat.advantages === 'exact' && !definition.enumerable) {
    issues.push({
      field: 'sat.advantages',
      given: 'exact',
      allowed: `sampled: the states of ${definition.name} cannot be enumerated`,
    });
  }
  if (sat.order === 'given') {
    const order = sat.givenOrder ?? [];
    const isPermutation =
      order.length === agents && new Set(order).size === agents && order.every((j) => j < agents);
    if (!isPermutation) {
      issues.push({
        field: 'sat.givenOrder',
        given: displayGiven(sat.givenOrder),
        allowed: `a permutation of 0..${agents - 1}, e.g. [${Array.from({ length: agents }, (_, j) => agents - 1 - j).join(', ')}]`,
      });
    }
  }
  if (sat.radii !== undefined && sat.radii.length !== agents) {
    issues.push({
      field: 'sat.radii',
      given: displayGiven(sat.radii),
      allowed: `a list of ${agents} radii, one an agent`,
    });
  }
  return issues;
}
