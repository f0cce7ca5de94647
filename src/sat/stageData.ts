import type { RolloutEvent } from '../runs/events.ts';
import { countGroups, type LogProbs } from './advantage.ts';
import type { StageContext } from './context.ts';
import { RunError, requireFinite } from './errors.ts';
import { meanEstimate } from './estimate.ts';
import { logProbsAt } from './logProbs.ts';
import { type Rollouts, rollOut } from './rollout.ts';

/** What a stage keeps from its start: the batch B, pi_cur's log-probabilities, and who has been updated since. */
export interface StageData {
  /** Absent with exact advantages, which need no samples. */
  readonly rollouts?: Rollouts;
  /** Per agent, log pi_cur^(j)(a|s) over the batch. Empty with exact advantages. */
  readonly current: readonly LogProbs<'current'>[];
  /** Agents promoted in this stage, with log pi_tar^(j)(a|s): the new factors of pi^_{i-1}. Insertion order is sigma. */
  readonly updated: Map<number, LogProbs<'target'>>;
  /** Largest |log-prob when sampled - log-prob recomputed|, nats. */
  readonly samplerDrift: number;
}

/**
 * Rounding between decoding one column at a time and reading a whole trajectory at once; a larger difference means that
 * sampling and training do not use the same policy.
 */
const DRIFT_LIMIT = 1e-3;

/**
 * Algorithm 1, line 1: rolls out pi_cur and recomputes its log-probabilities with the function that training uses.
 *
 * @throws {RunError} if a reward is not finite, or if sampled and recomputed log-probabilities disagree.
 */
export async function prepareStage(context: StageContext, stage: number): Promise<StageData> {
  const { config, team, task, kernels } = context;
  const { groups, groupSize, topP, advantages } = config.sat;
  if (advantages === 'exact') return { current: [], updated: new Map(), samplerDrift: 0 };
  const rollouts = await rollOut(team, task, kernels, { groups, groupSize, topP, seed: config.seed, stage });
  requireFinite({ 'a reward': rollouts.rewards.reduce((sum, r) => sum + r, 0) }, { stage, step: 'rollout' });
  const current: LogProbs<'current'>[] = [];
  let samplerDrift = 0;
  for (const agent of team.agents) {
    const values = await logProbsAt(agent, rollouts, team.temperature, kernels);
    values.forEach((value, at) => {
      if (rollouts.active[agent.index]![at] === 0) return;
      samplerDrift = Math.max(samplerDrift, Math.abs(value - rollouts.sampledLogProb[agent.index]![at]!));
    });
    current.push({ role: 'current', values });
  }
  if (!(samplerDrift <= DRIFT_LIMIT)) {
    throw new RunError(
      `log-probabilities differ by ${samplerDrift} nats between sampling and training (at most ${DRIFT_LIMIT} is rounding)`,
      { stage, step: 'rollout' },
    );
  }
  return { rollouts, current, updated: new Map(), samplerDrift };
}

/** The event of line 1. With exact advantages nothing is sampled, and it says so with zero episodes. */
export function rolloutEvent(
  context: StageContext,
  data: StageData,
  stage: number,
): Omit<RolloutEvent, 'seq'> {
  const base = { kind: 'rollout', line: 'rollout', stage, samplerDrift: data.samplerDrift } as const;
  const { rollouts } = data;
  if (rollouts === undefined) {
    const J = context.evaluator.measure().J;
    return { ...base, episodes: 0, groups: 0, groupSize: 0, meanReturn: J, endReasons: {}, flatGroups: 0 };
  }
  const { groups, groupSize } = context.config.sat;
  const endReasons: Record<string, number> = {};
  for (const end of rollouts.ends) endReasons[end.why] = (endReasons[end.why] ?? 0) + 1;
  return {
    ...base,
    episodes: rollouts.batch,
    groups,
    groupSize,
    meanReturn: meanEstimate(groupMeans(rollouts, groups, groupSize)),
    endReasons,
    flatGroups: countGroups(rollouts.returns, rollouts.group).flatGroups,
    rollouts: context.artifacts.put(
      {
        kind: 'rollouts',
        batch: rollouts.batch,
        steps: rollouts.steps,
        observations: rollouts.observations,
        actions: rollouts.actions,
        active: rollouts.active,
        lengths: rollouts.lengths,
        returns: rollouts.returns,
        group: rollouts.group,
      },
      stage,
    ),
  };
}

/** Trajectories of a group share their prompt, so groups, not trajectories, are the independent samples. */
function groupMeans(rollouts: Rollouts, groups: number, groupSize: number): Float64Array {
  const means = new Float64Array(groups);
  rollouts.returns.forEach((value, b) => {
    means[rollouts.group[b]!] = means[rollouts.group[b]!]! + value / groupSize;
  });
  return means;
}
