import type { Tensor } from '../kernels/kernels.ts';
import type { Observations } from '../policies/policy.ts';
import type { AdvantagesEvent } from '../runs/events.ts';
import { type LogProbs, sequenceAdvantages } from './advantage.ts';
import type { StageContext } from './context.ts';
import { RunError } from './errors.ts';
import { exactBatch, type ObjectiveBatch, releaseBatch, sampledBatch } from './objective.ts';
import { exactView, type PolicyView, sampledView } from './policyView.ts';
import type { Rollouts } from './rollout.ts';
import type { StageData } from './stageData.ts';
import type { Agent } from './team.ts';

/** The states at which the trust region is measured. */
export interface MonitoredStates {
  readonly observations: Observations;
  /** pi_cur^(j) there. */
  readonly logitsCur: Tensor;
  /** [rows] i32, 1 where the agent acts. */
  readonly mask: Tensor;
  /** Observation at each row where it acts. */
  readonly acting: Int32Array;
  /** Every state of the task rather than a sample. */
  readonly exhaustive: boolean;
}

/** All that one agent update needs. Owns its tensors until `release`. */
export interface AgentBatch {
  readonly objective: ObjectiveBatch;
  readonly states: MonitoredStates;
  /** False when every advantage is 0 or the agent never acted: nothing can be learned from this batch. */
  readonly hasSignal: boolean;
  /** Advantages as people should see them, and each sequence's weight in the mean. */
  readonly shown: { readonly advantage: Float64Array; readonly weight: Float64Array };
  readonly view: PolicyView;
  release(): void;
}

type AdvantagesDraft = Omit<AdvantagesEvent, 'seq'>;

/**
 * Algorithm 1, line b: agent j's advantages under pi^_{i-1}, made into the batch it will optimise on. The scheme
 * `simultaneous` judges every agent under pi_cur instead, as independent learners do.
 */
export async function agentBatch(
  context: StageContext,
  data: StageData,
  agent: Agent,
  stage: number,
): Promise<{ batch: AgentBatch; event: AdvantagesDraft }> {
  return data.rollouts === undefined
    ? exactAgentBatch(context, agent, stage)
    : sampledAgentBatch(context, data, data.rollouts, agent, stage);
}

async function sampledAgentBatch(
  context: StageContext,
  data: StageData,
  rollouts: Rollouts,
  agent: Agent,
  stage: number,
): Promise<{ batch: AgentBatch; event: AdvantagesDraft }> {
  const { kernels, config, team, task } = context;
  const judged = config.sat.scheme === 'sat' ? data.updated : new Map<number, LogProbs<'target'>>();
  const advantages = await sequenceAdvantages(rollouts, judged, data.current, config.sat, kernels);
  const objective = await sampledBatch(agent, rollouts, advantages.clipped, kernels);
  const active = rollouts.active[agent.index]!;
  const maxAbs = advantages.clipped.reduce((most, a) => Math.max(most, Math.abs(a)), 0);
  const batch: AgentBatch = {
    objective,
    states: {
      observations: objective.observations,
      logitsCur: objective.logitsCur,
      mask: objective.active,
      acting: rollouts.observations.filter((_, row) => active[row] === 1),
      exhaustive: false,
    },
    hasSignal: maxAbs > 0 && active.includes(1),
    shown: { advantage: advantages.clipped, weight: new Float64Array(rollouts.batch).fill(1) },
    view: await sampledView(agent, rollouts, task, team.temperature, kernels),
    release: () => releaseBatch(objective, kernels),
  };
  const { raw, normalised, clipped, rho, groups, flatGroups, clippedShare } = advantages;
  const event: AdvantagesDraft = {
    kind: 'advantages',
    line: 'advantages',
    stage,
    agent: agent.index,
    mode: 'sampled',
    rho,
    groups,
    flatGroups,
    clippedShare,
    maxAbs,
    advantages: context.artifacts.put({ kind: 'advantages', raw, normalised, clipped }, stage, agent.index),
  };
  return { batch, event };
}

async function exactAgentBatch(
  context: StageContext,
  agent: Agent,
  stage: number,
): Promise<{ batch: AgentBatch; event: AdvantagesDraft }> {
  const { kernels, config, task, evaluator } = context;
  const { exact } = evaluator;
  if (exact === undefined)
    throw new RunError('exact advantages need an enumerable task', { stage, step: 'advantages' });
  const judged = exact.judge(agent.index, config.sat.scheme === 'sat' ? 'intermediate' : 'current');
  const { states, occupancy, current, advantage } = judged;
  const objective = await exactBatch(agent, states, occupancy, current, advantage, task.gamma, kernels);
  const observations = { batch: states.length, steps: 1, data: Int32Array.from(states) };
  const logitsCur = await agent.policy.forward(observations);
  const mask = kernels.tensor(new Int32Array(states.length).fill(1), [states.length], 'active');
  const A = agent.policy.nActions;
  const B = states.length * A;
  const maxAbs = advantage.reduce((most, a) => Math.max(most, Math.abs(a)), 0);
  const batch: AgentBatch = {
    objective,
    states: { observations, logitsCur, mask, acting: observations.data, exhaustive: true },
    hasSignal: maxAbs > 0,
    shown: {
      advantage,
      weight: Float64Array.from(
        { length: B },
        (_, row) => B * occupancy[Math.floor(row / A)]! * current[row]!,
      ),
    },
    view: exactView(agent, task, states, current),
    release: () => {
      releaseBatch(objective, kernels);
      kernels.release(logitsCur, mask);
    },
  };
  const event: AdvantagesDraft = {
    kind: 'advantages',
    line: 'advantages',
    stage,
    agent: agent.index,
    mode: 'exact',
    rho: { min: 1, mean: 1, max: 1, truncatedShare: 0 },
    groups: 0,
    flatGroups: 0,
    clippedShare: 0,
    maxAbs,
    advantages: context.artifacts.put(
      { kind: 'advantages', raw: advantage, normalised: advantage, clipped: advantage },
      stage,
      agent.index,
    ),
  };
  return { batch, event };
}
