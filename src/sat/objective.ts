import {
  type AdamWHyper,
  type ClippedObjectiveResult,
  type Kernels,
  type ObjectiveStats,
  objectiveStats,
  type Tensor,
} from '../kernels/kernels.ts';
import type { Observations } from '../policies/policy.ts';
import { type MicroStep, RunError, requireFinite } from './errors.ts';
import type { Rollouts } from './rollout.ts';
import { observationsOf } from './rollout.ts';
import type { Agent } from './team.ts';

/**
 * What agent j maximises (SAT.md section 4): B sequences of T steps with one advantage each, pi_cur's logits, and the
 * weights of the KL penalty. Owns its tensors; release with `releaseBatch`.
 */
export interface ObjectiveBatch {
  readonly observations: Observations;
  readonly actions: Tensor;
  readonly active: Tensor;
  readonly advantages: Tensor;
  readonly klWeight: Tensor;
  /** pi_cur^(j), fixed for the stage. */
  readonly logitsCur: Tensor;
  /** [B] the same advantages on the host, for the surrogate and for charts. */
  readonly advantage: Float64Array;
}

export interface ObjectiveSettings {
  readonly epsilon: number;
  readonly temperature: number;
}

/** The batch of sampled trajectories: klWeight averages over the steps where agent j acts. */
export async function sampledBatch(
  agent: Agent,
  rollouts: Rollouts,
  advantage: Float64Array,
  kernels: Kernels,
): Promise<ObjectiveBatch> {
  const active = rollouts.active[agent.index]!;
  const acting = active.reduce((sum, flag) => sum + flag, 0);
  const klWeight = Float64Array.from(active, (flag) => (acting === 0 ? 0 : flag / acting));
  return makeBatch(
    agent,
    observationsOf(rollouts),
    { actions: rollouts.actions[agent.index]!, active, advantage, klWeight },
    kernels,
  );
}

/**
 * The exact batch: one "sequence" of one step for every (state, action) of agent j, whose advantage carries the weight
 * d(s) pi_cur(a|s) / (1 - gamma), so that the mean objective is the expectation over all states and actions in units of
 * J. min(r A, clip(r) A) is positively homogeneous in A, so clipping commutes with the weight.
 *
 * @param states states where agent j acts.
 * @param occupancy [states] normalised d^{pi^_{i-1}}(s).
 * @param current [states * A] pi_cur^(j)(a|s).
 * @param advantage [states * A] E over the other agents of A^{pi^_{i-1}}(s, a).
 */
export async function exactBatch(
  agent: Agent,
  states: readonly number[],
  occupancy: Float64Array,
  current: Float64Array,
  advantage: Float64Array,
  gamma: number,
  kernels: Kernels,
): Promise<ObjectiveBatch> {
  const A = agent.policy.nActions;
  const B = states.length * A;
  const visited = occupancy.reduce((sum, d) => sum + d, 0);
  const stateOf = (row: number) => Math.floor(row / A);
  const rows = {
    actions: Int32Array.from({ length: B }, (_, row) => row % A),
    active: new Int32Array(B).fill(1),
    advantage: Float64Array.from(
      { length: B },
      (_, row) => (B * occupancy[stateOf(row)]! * current[row]! * advantage[row]!) / (1 - gamma),
    ),
    klWeight: Float64Array.from({ length: B }, (_, row) =>
      visited > 0 ? occupancy[stateOf(row)]! / (visited * A) : 0,
    ),
  };
  const data = Int32Array.from({ length: B }, (_, row) => states[stateOf(row)]!);
  return makeBatch(agent, { batch: B, steps: 1, data }, rows, kernels);
}

async function makeBatch(
  agent: Agent,
  observations: Observations,
  rows: { actions: Int32Array; active: Int32Array; advantage: Float64Array; klWeight: Float64Array },
  kernels: Kernels,
): Promise<ObjectiveBatch> {
  const count = observations.batch * observations.steps;
  return {
    observations,
    actions: kernels.tensor(rows.actions, [count], 'actions'),
    active: kernels.tensor(rows.active, [count], 'active'),
    advantages: kernels.tensor(rows.advantage, [observations.batch], 'advantages'),
    klWeight: kernels.tensor(rows.klWeight, [count], 'KL weights'),
    logitsCur: await agent.policy.forward(observations),
    advantage: rows.advantage,
  };
}

export function releaseBatch(batch: ObjectiveBatch, kernels: Kernels): void {
  kernels.release(batch.actions, batch.active, batch.advantages, batch.klWeight, batch.logitsCur);
}

/** The clipped sequence objective at the agent's present parameters. The caller releases the result. */
function evaluateObjective(
  batch: ObjectiveBatch,
  logitsTar: Tensor,
  beta: number,
  settings: ObjectiveSettings,
  kernels: Kernels,
): ClippedObjectiveResult {
  return kernels.clippedObjective({
    batch: batch.observations.batch,
    steps: batch.observations.steps,
    logitsTar,
    logitsCur: batch.logitsCur,
    actions: batch.actions,
    active: batch.active,
    advantages: batch.advantages,
    klWeight: batch.klWeight,
    epsLow: settings.epsilon,
    epsHigh: settings.epsilon,
    beta,
    temperature: settings.temperature,
  });
}

export interface InnerStepResult extends ObjectiveStats {
  readonly gradNorm: number;
}

/**
 * One gradient step on the objective: forward, fused objective and dlogits, vector-Jacobian product, clipped AdamW.
 * On a GPU nothing leaves it but the few numbers returned.
 *
 * @param first the agent is still at pi_cur: then every ratio must be exactly 1 and every KL exactly 0.
 * @throws {RunError} if a number is not finite, or if that health check fails.
 */
export async function innerStep(
  agent: Agent,
  batch: ObjectiveBatch,
  settings: ObjectiveSettings,
  hyper: AdamWHyper & { readonly maxNorm: number },
  kernels: Kernels,
  at: MicroStep,
  first: boolean,
): Promise<InnerStepResult> {
  const logitsTar = await agent.policy.forward(batch.observations);
  const result = evaluateObjective(batch, logitsTar, agent.beta, settings, kernels);
  const grads = await agent.policy.backward(batch.observations, result.dlogits);
  const norm = kernels.clipGradNorm(grads, hyper.maxNorm);
  const [stats, gradNorm, u] = await kernels.read(result.stats, norm, ...(first ? [result.u] : []));
  const numbers = { ...objectiveStats(stats!), gradNorm: gradNorm![0]! };
  requireFinite({ 'the objective': numbers.loss, 'the gradient norm': numbers.gradNorm }, at);
  if (first) requireUnmoved(u!, numbers.meanKl, at);
  kernels.adamw(
    agent.policy.parameters.map((parameter) => parameter.tensor),
    grads,
    agent.optimiser,
    hyper,
  );
  kernels.release(logitsTar, ...Object.values(result), norm, ...grads);
  return numbers;
}

/** Health check before the first step: the policy being optimised is pi_cur itself (SAT.md section 5). */
function requireUnmoved(u: Float64Array, meanKl: number, at: MicroStep): void {
  const worst = u.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (worst === 0 && meanKl === 0) return;
  throw new RunError(
    `before the first step every ratio must be exactly 1 and every KL exactly 0, but the largest |log ratio| is ${worst} and the mean KL ${meanKl}: the model is not deterministic on this backend`,
    at,
  );
}

/** The proposal, measured: log-ratios and the importance-sampled surrogate. */
export interface ProposalMeasure {
  /** [B] */
  readonly u: Float64Array;
  /** mean exp(u) A - mean A: what the proposal gains over pi_cur on this batch, unclipped; in units of J if exact. */
  readonly surrogate: number;
}

/** Evaluates the objective's ratios at the proposal `logitsTar`, without a step. */
export async function measureProposal(
  agent: Agent,
  batch: ObjectiveBatch,
  logitsTar: Tensor,
  settings: ObjectiveSettings,
  kernels: Kernels,
): Promise<ProposalMeasure> {
  const result = evaluateObjective(batch, logitsTar, agent.beta, settings, kernels);
  const [u] = await kernels.read(result.u);
  kernels.release(...Object.values(result));
  let gain = 0;
  // expm1 keeps the small differences that a sum of exp(u) A and -A would cancel away.
  // Sequences without advantage gain nothing, however far they moved: 0 times an infinite ratio is 0 here.
  for (let b = 0; b < u!.length; b++) {
    const A = batch.advantage[b]!;
    if (A !== 0) gain += Math.expm1(u![b]!) * A;
  }
  return { u: u!, surrogate: gain / u!.length };
}
