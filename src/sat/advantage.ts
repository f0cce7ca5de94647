import type { Kernels, Trace } from '../kernels/kernels.ts';
import type { AdvantagesEvent } from '../runs/events.ts';
import type { Rollouts } from './rollout.ts';

/**
 * Per agent, [B * T] log pi(a|s) of the recorded actions, tagged with the policy it belongs to so that a wrong pair
 * does not compile: `current` is pi_cur, `target` an agent's new policy.
 */
export interface LogProbs<Role extends 'current' | 'target'> {
  readonly role: Role;
  readonly values: Float64Array;
}

export interface AdvantageSettings {
  readonly gamma: number;
  readonly lambda: number;
  readonly trace: Trace;
  readonly aClip: number;
}

/** Sequence-aware advantages of one batch under pi^_{i-1} (SAT.md section 3). */
export interface SequenceAdvantages {
  /** [B] sum over t of the truncated-importance-weighted advantage, in units of the return. */
  readonly raw: Float64Array;
  /** [B] (raw - mean) / std within each group, exactly 0 in a group without spread. */
  readonly normalised: Float64Array;
  /** [B] normalised, clipped to [-A_clip, A_clip]: what the objective uses. */
  readonly clipped: Float64Array;
  /** Importance ratios over decision steps, before truncation. */
  readonly rho: AdvantagesEvent['rho'];
  readonly groups: number;
  readonly flatGroups: number;
  readonly clippedShare: number;
}

/** Added to the population standard deviation of a group. */
const NORMALISE_EPS = 1e-8;

/**
 * Algorithm 1, sequence-aware advantage: the return of every trajectory, reweighted for the agents in `updated` that
 * have moved since the batch was sampled, without a critic (V = 0), then normalised within its group and clipped.
 *
 * @param updated agents whose target is part of pi^_{i-1}, with their log-probabilities there.
 * @param current log-probabilities of every agent under pi_cur.
 */
export async function sequenceAdvantages(
  rollouts: Rollouts,
  updated: ReadonlyMap<number, LogProbs<'target'>>,
  current: readonly LogProbs<'current'>[],
  settings: AdvantageSettings,
  kernels: Kernels,
): Promise<SequenceAdvantages> {
  const batch = decisionSteps(rollouts, updated, current);
  const { B, D } = batch;
  const tensors = {
    rewards: kernels.tensor(batch.rewards, [B * D], 'rewards'),
    logpHat: kernels.tensor(batch.logpHat, [B * D], 'log pi_hat'),
    logpCur: kernels.tensor(batch.logpCur, [B * D], 'log pi_cur'),
    values: kernels.tensor(new Float64Array(B * (D + 1)), [B * (D + 1)], 'values'),
    lengths: kernels.tensor(batch.lengths, [B], 'lengths'),
    terminated: kernels.tensor(batch.terminated, [B], 'terminated'),
    group: kernels.tensor(rollouts.group, [B], 'group'),
  };
  const { gamma, lambda, trace } = settings;
  const traced = kernels.advantages({ batch: B, steps: D, ...tensors, gamma, lambda, trace });
  const scaled = kernels.groupNormalise({
    values: traced.sequence,
    group: tensors.group,
    eps: NORMALISE_EPS,
    clip: settings.aClip,
  });
  const [rho, raw, normalised, clipped] = await kernels.read(
    traced.rho,
    traced.sequence,
    scaled.normalised,
    scaled.clipped,
  );
  kernels.release(...Object.values(tensors), ...Object.values(traced), ...Object.values(scaled));
  return {
    raw: raw!,
    normalised: normalised!,
    clipped: clipped!,
    rho: summariseRho(rho!, batch.lengths, D),
    ...countGroups(raw!, rollouts.group),
    clippedShare: shareWhere(B, (b) => Math.abs(normalised![b]!) > settings.aClip),
  };
}

/**
 * Cuts the prompt off: rewards and joint log-probabilities per decision step, [B, D] with D the most decisions of any
 * trajectory. Only heads in `updated` enter the joint, since all others are the same under pi^_{i-1} and pi_cur.
 */
function decisionSteps(
  rollouts: Rollouts,
  updated: ReadonlyMap<number, LogProbs<'target'>>,
  current: readonly LogProbs<'current'>[],
) {
  const { batch: B, steps: T, lengths: columns, firstDecision } = rollouts;
  const lengths = columns.map((length, b) => length - firstDecision[b]!);
  const D = lengths.reduce((most, length) => Math.max(most, length), 1);
  const rewards = new Float64Array(B * D);
  const logpHat = new Float64Array(B * D);
  const logpCur = new Float64Array(B * D);
  for (let b = 0; b < B; b++) {
    for (let k = 0; k < lengths[b]!; k++) {
      const from = b * T + firstDecision[b]! + k;
      const to = b * D + k;
      rewards[to] = rollouts.rewards[from]!;
      for (const [agent, target] of updated) {
        if (rollouts.active[agent]![from] === 0) continue;
        logpHat[to] = logpHat[to]! + target.values[from]!;
        logpCur[to] = logpCur[to]! + current[agent]!.values[from]!;
      }
    }
  }
  const terminated = Int32Array.from(rollouts.ends, (end) => (end.kind === 'terminated' ? 1 : 0));
  return { B, D, rewards, logpHat, logpCur, lengths, terminated };
}

function summariseRho(rho: Float64Array, lengths: Int32Array, D: number): SequenceAdvantages['rho'] {
  const used = [...rho].filter((_, at) => at % D < lengths[Math.floor(at / D)]!);
  let [min, max, sum, truncated] = [Number.POSITIVE_INFINITY, 0, 0, 0];
  for (const value of used) {
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
    if (value > 1) truncated++;
  }
  return { min, mean: sum / used.length, max, truncatedShare: truncated / used.length };
}

/** How many groups there are, and how many have no spread at all: those give no gradient. */
export function countGroups(values: Float64Array, group: Int32Array): { groups: number; flatGroups: number } {
  const first = new Map<number, number>();
  const spread = new Set<number>();
  values.forEach((value, b) => {
    const id = group[b]!;
    const seen = first.get(id);
    if (seen === undefined) first.set(id, value);
    else if (seen !== value) spread.add(id);
  });
  return { groups: first.size, flatGroups: first.size - spread.size };
}

function shareWhere(count: number, condition: (index: number) => boolean): number {
  let hits = 0;
  for (let index = 0; index < count; index++) if (condition(index)) hits++;
  return hits / count;
}
