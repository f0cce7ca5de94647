import type { Kernels } from '../kernels/kernels.ts';
import { Rng } from '../kernels/rng.ts';
import { buildTransformer } from '../policies/graph/buildTransformer.ts';
import { ModelError } from '../policies/modelError.ts';
import { OnnxPolicy } from '../policies/onnxPolicy.ts';
import type { Policy } from '../policies/policy.ts';
import { createTabularPolicy } from '../policies/tabular.ts';
import type { RunConfig } from '../runs/config.ts';
import { ConfigError } from '../runs/configError.ts';
import type { SatEvent } from '../runs/events.ts';
import { taskDefinition } from '../tasks/index.ts';
import type { Task } from '../tasks/task.ts';
import { ArtifactStore } from './artifacts.ts';
import { createEvaluator } from './createEvaluator.ts';
import type { AgentSummary, Run, RunEnvironment } from './run.ts';
import { runStage } from './stage.ts';
import type { Agent, Team } from './team.ts';
import { newOptimiser } from './team.ts';
import { warmStart } from './warmStart.ts';

/**
 * Builds task, team and evaluator from a valid config.
 *
 * @throws {ConfigError} if the model file cannot be used.
 */
export async function createRun(config: RunConfig, environment: RunEnvironment): Promise<Run> {
  const definition = taskDefinition(config.task.name);
  if (definition === undefined) throw new RangeError(`no task is named ${config.task.name}`);
  const { name: _, ...parameters } = config.task;
  const task = definition.create(parameters, config.sat.gamma);
  const agents = await createAgents(config, task, environment);
  const { kernels } = environment;
  const team: Team = { agents, temperature: config.sat.temperature };
  const artifacts = new ArtifactStore();
  return {
    config,
    task,
    agents: agents.map((agent) => summarise(agent, config, task)),
    artifact: (id) => artifacts.get(id),
    events: () => allEvents(config, task, team, kernels, artifacts),
    dispose: () => disposeAgents(agents, kernels),
  };
}

/** All agents; if one cannot be made, those before it are given back. */
async function createAgents(config: RunConfig, task: Task, environment: RunEnvironment): Promise<Agent[]> {
  const { kernels, onProgress } = environment;
  const agents: Agent[] = [];
  try {
    for (let j = 0; j < task.nAgents; j++) {
      onProgress?.('building agents', j, task.nAgents);
      const policy = await createPolicy(config, task, j, environment);
      agents.push({
        index: j,
        name: agentName(j),
        policy,
        optimiser: newOptimiser(policy, kernels),
        radius: config.sat.radii?.[j] ?? config.sat.delta,
        beta: config.sat.beta,
      });
    }
  } catch (error) {
    await disposeAgents(agents, kernels);
    throw error;
  }
  onProgress?.('building agents', task.nAgents, task.nAgents);
  return agents;
}

async function disposeAgents(agents: readonly Agent[], kernels: Kernels): Promise<void> {
  for (const agent of agents) {
    kernels.release(...agent.optimiser.m, ...agent.optimiser.v);
    await agent.policy.dispose();
  }
}

/** Warm start, then every stage, numbered into one log. */
async function* allEvents(
  config: RunConfig,
  task: Task,
  team: Team,
  kernels: Kernels,
  artifacts: ArtifactStore,
): AsyncGenerator<SatEvent, void> {
  let seq = 0;
  for await (const event of warmStart(team, task, config, kernels)) yield { ...event, seq: seq++ };
  const evaluator = await createEvaluator(config, task, team, kernels);
  const context = { config, task, team, kernels, evaluator, artifacts };
  for (let stage = 0; stage < config.stages; stage++) {
    for await (const event of runStage(context, stage)) yield { ...event, seq: seq++ };
  }
}

/** A, B, C, … */
export function agentName(index: number): string {
  return String.fromCharCode(65 + index);
}

async function createPolicy(
  config: RunConfig,
  task: Task,
  j: number,
  environment: RunEnvironment,
): Promise<Policy> {
  const { kernels } = environment;
  const { team, warmStart: base } = config;
  const seed = base.steps > 0 ? base.seed : config.seed;
  const actions = task.nActions[j]!;
  if (team.policy === 'tabular') {
    const rng = Rng.of(seed, 'init', j);
    const bias = task.initialLogits?.(j);
    return createTabularPolicy({
      states: task.observationCount,
      actions,
      kernels,
      rng,
      scale: team.initScale,
      ...(bias === undefined ? {} : { bias }),
    });
  }
  const runtime = await environment.modelRuntime();
  const fits = { runtime, kernels, vocabulary: task.observationCount, longest: task.columns };
  const load = (name: string, bytes: Uint8Array) =>
    OnnxPolicy.load({ ...fits, name, bytes, trusted: team.model === undefined });
  if (team.model !== undefined) {
    return loadFile(team.model, load, environment);
  }
  const { width, layers, heads } = team;
  const shape = { vocabulary: task.observationCount, width, layers, heads, context: task.columns };
  return load(`agent ${agentName(j)}`, buildTransformer({ ...shape, seed, agent: j }));
}

/** @throws {ConfigError} for the field team.model, saying what is wrong with the file and what would be right. */
async function loadFile(
  path: string,
  load: (name: string, bytes: Uint8Array) => Promise<Policy>,
  environment: RunEnvironment,
): Promise<Policy> {
  const bytes = await environment.readModel(path);
  try {
    return await load(path, bytes);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const issue = { field: 'team.model', given: `${path}, but ${error.problem}`, allowed: error.remedy };
    throw new ConfigError([issue]);
  }
}

function summarise(agent: Agent, config: RunConfig, task: Task): AgentSummary {
  const { policy } = agent;
  const { layers, width, heads } = config.team;
  const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`;
  const built = `${plural(layers, 'layer')}, width ${width}, ${plural(heads, 'head')}`;
  const description =
    policy.kind === 'tabular'
      ? `${plural(task.observationCount, 'state')} × ${plural(policy.nActions, 'action')}`
      : (config.team.model ?? built);
  return { name: agent.name, kind: policy.kind, parameterCount: policy.parameterCount, description };
}
