import type { AdamWHyper } from '../kernels/kernels.ts';
import { dkwEpsilon } from '../kernels/quantile.ts';
import type { BacktrackEvent, KlCheckEvent, OptimizeEvent, PromoteEvent } from '../runs/events.ts';
import type { AgentBatch } from './batch.ts';
import type { StageContext } from './context.ts';
import type { MicroStep } from './errors.ts';
import { logProbsAt } from './logProbs.ts';
import { innerStep, measureProposal } from './objective.ts';
import { policyChange } from './policyView.ts';
import type { StageData } from './stageData.ts';
import { type Agent, releaseSnapshot, resetMoments, restoreSnapshot, takeSnapshot } from './team.ts';
import {
  acceptanceConditions,
  measureTrustRegion,
  raiseBeta,
  relaxBeta,
  STEP_SHRINK,
  type TrustRegionMeasure,
} from './trustRegion.ts';

type Draft<E> = Omit<E, 'seq'>;

/** How an agent update ended. */
export interface Proposal {
  readonly reason: PromoteEvent['reason'];
  readonly attempts: number;
  /** Trust-region measure of the first proposal, before any backtracking; absent without a signal. */
  readonly first?: TrustRegionMeasure;
  /** Of what was kept; absent if pi_cur was. */
  readonly kept?: TrustRegionMeasure;
  readonly beta: PromoteEvent['beta'];
}

/**
 * Algorithm 1, lines c and d: maximise L_i from pi_cur^(j) in several gradient steps, hold the proposal against the
 * trust region, and on failure restore, halve the step, raise beta and try again. On return the agent's parameters are
 * the accepted target, or pi_cur bit for bit.
 */
export async function* updateAgent(
  context: StageContext,
  agent: Agent,
  batch: AgentBatch,
  stage: number,
): AsyncGenerator<Draft<OptimizeEvent> | Draft<KlCheckEvent> | Draft<BacktrackEvent>, Proposal> {
  const { sat } = context.config;
  const started = agent.beta;
  const schedule = { start: sat.beta, factor: sat.betaFactor };
  if (!batch.hasSignal) {
    return { reason: 'noSignal', attempts: 0, beta: betaChange(started, started) };
  }
  const snapshot = takeSnapshot(agent, context.kernels);
  let lr = context.config.optimiser.lr;
  let first: TrustRegionMeasure | undefined;
  try {
    for (let attempt = 1; ; attempt++) {
      yield* optimize(context, agent, batch, stage, attempt, lr);
      const { event, measured } = await checkTrustRegion(context, agent, batch, stage, attempt);
      yield event;
      first ??= measured;
      if (event.accepted) {
        agent.beta = relaxBeta(agent.beta, event.quantile, agent.radius, schedule);
        return {
          reason: 'accepted',
          attempts: attempt,
          first,
          kept: measured,
          beta: betaChange(started, agent.beta),
        };
      }
      restoreSnapshot(agent, snapshot, context.kernels);
      const retry = attempt <= sat.maxBacktracks;
      const from = { lr, beta: agent.beta };
      lr *= STEP_SHRINK;
      agent.beta = raiseBeta(agent.beta, schedule);
      yield {
        kind: 'backtrack',
        line: 'backtrack',
        stage,
        agent: agent.index,
        attempt,
        failed: event.conditions.flatMap((condition) => (condition.passed ? [] : [condition.name])),
        lr: { from: from.lr, to: lr },
        beta: { from: from.beta, to: agent.beta },
        retry,
      };
      if (!retry) {
        return {
          reason: 'attemptsExhausted',
          attempts: attempt,
          first,
          beta: betaChange(started, agent.beta),
        };
      }
    }
  } catch (error) {
    restoreSnapshot(agent, snapshot, context.kernels);
    throw error;
  } finally {
    releaseSnapshot(snapshot, context.kernels);
  }
}

function betaChange(from: number, to: number): PromoteEvent['beta'] {
  return { from, to, why: to > from ? 'raised' : to < from ? 'lowered' : 'kept' };
}

/** Line c: `innerSteps` gradient steps on the clipped sequence objective. */
async function* optimize(
  context: StageContext,
  agent: Agent,
  batch: AgentBatch,
  stage: number,
  attempt: number,
  lr: number,
): AsyncGenerator<Draft<OptimizeEvent>, void> {
  const { sat, optimiser } = context.config;
  const hyper: AdamWHyper & { maxNorm: number } = { ...optimiser, lr };
  const settings = { epsilon: sat.epsilon, temperature: sat.temperature };
  if (!optimiser.carryMoments) resetMoments(agent, context.kernels);
  for (let step = 1; step <= sat.innerSteps; step++) {
    const at: MicroStep = { stage, step: 'optimize', agent: agent.name, attempt, innerStep: step };
    const result = await innerStep(agent, batch.objective, settings, hyper, context.kernels, at, step === 1);
    yield {
      kind: 'optimize',
      line: 'optimize',
      stage,
      agent: agent.index,
      attempt,
      innerStep: step,
      innerSteps: sat.innerSteps,
      objective: result.meanObjective,
      meanKl: result.meanKl,
      beta: agent.beta,
      lr,
      gradNorm: result.gradNorm,
      clipFraction: result.clipFraction,
      outsideFraction: result.outsideFraction,
    };
  }
}

/** Line d: the per-state KL quantile, the surrogate, and the acceptance rule. */
async function checkTrustRegion(
  context: StageContext,
  agent: Agent,
  batch: AgentBatch,
  stage: number,
  attempt: number,
): Promise<{ event: Draft<KlCheckEvent>; measured: TrustRegionMeasure }> {
  const { kernels, artifacts } = context;
  const { alpha, eta, accept, epsilon, temperature } = context.config.sat;
  const delta = agent.radius;
  const monitor = { alpha, delta, temperature };
  const { observations, logitsCur, mask } = batch.states;
  const logitsTar = await agent.policy.forward(batch.objective.observations);
  // A sampled batch is monitored at its own rows; an exact one at every state once, not once per action.
  const sameRows = observations === batch.objective.observations;
  const atStates = sameRows ? logitsTar : await agent.policy.forward(observations);
  const measured = await measureTrustRegion(atStates, logitsCur, mask, monitor, kernels);
  const proposal = await measureProposal(
    agent,
    batch.objective,
    logitsTar,
    { epsilon, temperature },
    kernels,
  );
  kernels.release(logitsTar, sameRows ? undefined : atStates);
  // The 'higher' quantile: at most alpha of the states lie above it, which is what the DKW statement needs.
  const quantile = measured.higher;
  const conditions = acceptanceConditions(accept, { quantile, surrogate: proposal.surrogate }, delta);
  const band = [Math.log(1 - epsilon), Math.log(1 + epsilon)] as const;
  const event: Draft<KlCheckEvent> = {
    kind: 'klCheck',
    line: 'check',
    stage,
    agent: agent.index,
    attempt,
    quantile,
    alpha,
    delta,
    max: measured.max,
    mean: measured.mean,
    states: measured.count,
    violations: measured.violationCount,
    dkwSlack: batch.states.exhaustive ? 0 : Math.min(1, dkwEpsilon(measured.count, eta)),
    surrogate: proposal.surrogate,
    conditions,
    accepted: conditions.every((condition) => condition.passed),
    kl: artifacts.put(
      { kind: 'kl', kl: measured.kl, observation: batch.states.acting },
      stage,
      agent.index,
      attempt,
    ),
    ratios: artifacts.put(
      { kind: 'ratios', u: proposal.u, advantage: batch.shown.advantage, weight: batch.shown.weight, band },
      stage,
      agent.index,
      attempt,
    ),
  };
  return { event, measured };
}

/**
 * Line e: the target becomes agent j's factor of the intermediate team. Remembers its log-probabilities over the batch,
 * so that the agents after it are judged under pi^_i.
 */
export async function promote(
  context: StageContext,
  data: StageData,
  agent: Agent,
  batch: AgentBatch,
  proposal: Proposal,
  stage: number,
): Promise<Draft<PromoteEvent>> {
  const accepted = proposal.reason === 'accepted';
  if (accepted) {
    const { team, kernels } = context;
    const values =
      data.rollouts === undefined
        ? new Float64Array()
        : await logProbsAt(agent, data.rollouts, team.temperature, kernels);
    data.updated.set(agent.index, { role: 'target', values });
  }
  const { first, kept } = proposal;
  const rate = (measure: TrustRegionMeasure | undefined) =>
    measure === undefined || measure.count === 0 ? 0 : measure.violationCount / measure.count;
  return {
    kind: 'promote',
    line: 'promote',
    stage,
    agent: agent.index,
    accepted,
    reason: proposal.reason,
    attempts: proposal.attempts,
    proposedViolationRate: rate(first),
    acceptedViolationRate: rate(kept),
    states: first?.count ?? 0,
    proposedViolations: first?.violationCount ?? 0,
    acceptedViolations: kept?.violationCount ?? 0,
    beta: proposal.beta,
    policy: context.artifacts.put(await policyChange(context, agent, batch.view), stage, agent.index),
  };
}
