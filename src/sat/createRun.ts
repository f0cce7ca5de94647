import type { Kernels } from '../kernels/kernels.ts';
import { Rng } from '../kernels/rng.ts';
import { buildTransformer } from '../policies/graph/buildTransformer.ts';
import { OnnxPolicy } from '../policies/onnxPolicy.ts';
import type { Policy } from '../policies/policy.ts';
import { createTabularPolicy } from '../policies/tabular.ts';
import type { RunConfig } from '../runs/config.ts';
import type { SatEvent } from '../runs/events.ts';
import { taskDefinition } from '../tasks/index.ts';
import type { Task } from '../tasks/task.ts';
import { ArtifactStore } from './artifacts.ts';
import { createEvaluator } from './evaluator.ts';
import type { AgentSummary, Run, RunEnvironment } from './run.ts';
import { runStage } from './stage.ts';
import type { Agent, Team } from './team.ts';
import { newOptimiser } from './team.ts';
import { warmStart } from './warmStart.ts';

/**
 * Builds task, team and evaluator from a valid config.
 *
 * @throws {ModelError} if an agent's model cannot be used.
 */
export async function createRun(config: RunConfig, environment: RunEnvironment): Promise<Run> {
  const definition = taskDefinition(config.task.name);
  if (definition === undefined) throw new RangeError(`no task is named ${config.task.name}`);
  const { name: _, ...parameters } = config.task;
  const task = definition.create(parameters, config.sat.gamma);
  const { kernels } = environment;
  const agents: Agent[] = [];
  for (let j = 0; j < task.nAgents; j++) {
    environment.onProgress?.('building agents', j, task.nAgents);
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
  environment.onProgress?.('building agents', task.nAgents, task.nAgents);
  const team: Team = { agents, temperature: config.sat.temperature };
  const artifacts = new ArtifactStore();
  return {
    config,
    task,
    agents: agents.map((agent) => summarise(agent, config, task)),
    artifact: (id) => artifacts.get(id),
    events: () => allEvents(config, task, team, kernels, artifacts),
    dispose: async () => {
      for (const agent of agents) {
        kernels.release(...agent.optimiser.m, ...agent.optimiser.v);
        await agent.policy.dispose();
      }
    },
  };
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
  const bytes = buildTransformer({
    vocabulary: task.observationCount,
    width: team.width,
    layers: team.layers,
    heads: team.heads,
    context: task.columns,
    seed,
    agent: j,
  });
  const runtime = await environment.modelRuntime();
  return OnnxPolicy.load({ name: `agent ${agentName(j)}`, bytes, runtime, kernels });
}

function summarise(agent: Agent, config: RunConfig, task: Task): AgentSummary {
  const { policy } = agent;
  const { layers, width, heads } = config.team;
  const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`;
  const description =
    policy.kind === 'tabular'
      ? `${plural(task.observationCount, 'state')} × ${plural(policy.nActions, 'action')}`
      : `${plural(layers, 'layer')}, width ${width}, ${plural(heads, 'head')}`;
  return { name: agent.name, kind: policy.kind, parameterCount: policy.parameterCount, description };
}
