import type { Scheme } from '../../runs/config.ts';
import type {
  AdvantagesEvent,
  BacktrackEvent,
  CertificateEvent,
  IntermediateEvent,
  KlCheckEvent,
  OptimizeEvent,
  PromoteEvent,
  RolloutEvent,
  SatEvent,
  StageEndEvent,
} from '../../runs/events.ts';
import { metrics } from '../../runs/metrics.ts';
import { counted, formatChange, formatEstimate, formatNumber, formatShare } from '../folds/format.ts';

/**
 * What just happened, in one or two sentences with the event's numbers.
 *
 * @param name gives an agent's name by index
 */
export function happened(event: SatEvent, name: (agent: number) => string, scheme: Scheme = 'sat'): string {
  switch (event.kind) {
    case 'warmStart':
      return `Warm start, before stage 1: step ${event.step} of at most ${event.steps} of imitating the solver; ${formatNumber(event.kl)} nats a decision from it, done at ${formatNumber(event.targetKl)}.`;
    case 'stageStart':
      return `Stage ${event.stage + 1} begins at J = ${formatEstimate(event.J)}.`;
    case 'rollout':
      return rollout(event);
    case 'order':
      return `Order: ${event.order.map(name).join(' → ')} (${event.rule}).`;
    case 'intermediate':
      return `${name(event.agent)} is number ${event.position}. ${team(event, name, scheme)} J of this team: ${formatEstimate(event.J)}.`;
    case 'advantages':
      return advantages(event);
    case 'optimize':
      return optimize(event, name);
    case 'klCheck':
      return check(event);
    case 'backtrack':
      return backtrack(event, name);
    case 'promote':
      return promote(event, name);
    case 'certificate':
      return certificate(event, name);
    case 'stageEnd':
      return stageEnd(event);
  }
}

function rollout(event: RolloutEvent): string {
  if (event.rollouts === undefined) return 'Advantages are exact here: nothing needs to be sampled.';
  const flat =
    event.flatGroups > 0
      ? ` ${event.flatGroups} of the groups are flat: all returns equal, nothing to learn.`
      : '';
  return `${event.episodes} episodes in ${event.groups} groups of ${event.groupSize}; mean return ${formatEstimate(event.meanReturn)}.${flat}`;
}

function team({ updated }: IntermediateEvent, name: (agent: number) => string, scheme: Scheme): string {
  if (updated.length === 0) return 'Nobody has moved yet: the intermediate team is the current one.';
  const agents = updated.map(name).join(', ');
  if (scheme === 'simultaneous') {
    return `${agents} moved already, but it is judged as if nobody had.`;
  }
  return `Already at ${updated.length === 1 ? 'its' : 'their'} new policy: ${agents}.`;
}

function advantages(event: AdvantagesEvent): string {
  if (event.mode === 'exact')
    return `Exact advantages; the largest is ${formatNumber(event.maxAbs)} in size.`;
  const { min, max, truncatedShare } = event.rho;
  const ratios =
    min === 1 && max === 1
      ? 'Every ratio ρ is exactly 1: no earlier agent has changed this data.'
      : `Ratios ρ from ${formatNumber(min)} to ${formatNumber(max)}; ${formatShare(truncatedShare)} truncated at 1.`;
  return `${ratios} ${event.flatGroups} of ${event.groups} groups without spread.`;
}

function optimize(event: OptimizeEvent, name: (agent: number) => string): string {
  const where = `${name(event.agent)}, attempt ${event.attempt}, step ${event.innerStep} of ${event.innerSteps}`;
  const inert =
    event.innerStep === 1
      ? ' Every ratio is still 1 and every KL 0, so the clip and the penalty do not pull yet.'
      : ` ${formatShare(event.clipFraction)} clipped.`;
  return `${where}: objective ${formatNumber(event.objective)}, gradient norm ${formatNumber(event.gradNorm)}, mean KL ${formatNumber(event.meanKl)} nats.${inert}`;
}

function check(event: KlCheckEvent): string {
  const { quantile, delta, states, violations } = event;
  const verdict = event.accepted ? 'Within the trust region' : 'Not acceptable';
  const reasons = event.conditions
    .filter(({ passed }) => !passed)
    .map(({ name }) => (name === 'quantile' ? 'the KL quantile is above δ' : 'the surrogate would fall'));
  const why = reasons.length > 0 ? `: ${reasons.join(' and ')}` : '';
  return `${verdict}${why}. Quantile ${formatNumber(quantile)} nats, δ ${formatNumber(delta)}, largest ${formatNumber(event.max)}; ${violations} of ${counted(states, 'state')} over δ. Surrogate ${formatChange(event.surrogate)}.`;
}

function backtrack(event: BacktrackEvent, name: (agent: number) => string): string {
  if (!event.retry) return `Attempt ${event.attempt} was the last: ${name(event.agent)} keeps its policy.`;
  const { lr, beta } = event;
  return `Attempt ${event.attempt} undone. Step ${formatNumber(lr.from)} → ${formatNumber(lr.to)}, β ${formatNumber(beta.from)} → ${formatNumber(beta.to)}.`;
}

function promote(event: PromoteEvent, name: (agent: number) => string): string {
  if (event.reason === 'noSignal')
    return `${name(event.agent)} had nothing to learn from: every advantage is 0.`;
  const tries = counted(event.attempts, 'attempt');
  if (event.reason === 'attemptsExhausted') return `${name(event.agent)} keeps its policy after ${tries}.`;
  const { from, to, why } = event.beta;
  const beta =
    why === 'kept' ? `β stays ${formatNumber(to)}` : `β ${why}: ${formatNumber(from)} → ${formatNumber(to)}`;
  return `${name(event.agent)} is promoted after ${tries}. ${beta}.`;
}

function certificate(event: CertificateEvent, name: (agent: number) => string): string {
  const who = event.scope === 'stage' || event.agent === undefined ? 'The stage' : name(event.agent);
  const best = event.bounds[event.best];
  const words = event.quality === 'exact' ? 'guaranteed' : 'estimated lower bound';
  const paper = event.bounds.paper.vacuous ? ' (vacuous at this γ)' : '';
  return `${who} changed J by ${formatChange(event.dJ.value)}; ${words} ${formatChange(best.value)} (${metrics[event.best].label}). Paper’s bound ${formatChange(event.bounds.paper.value)}${paper}.`;
}

function stageEnd(event: StageEndEvent): string {
  const verdict = event.monotonicityViolated ? 'J fell over this stage' : 'J did not fall';
  return `Stage ${event.stage + 1} ends at J = ${formatEstimate(event.J)} (${formatChange(event.dJ.value)}); ${verdict}. ${event.accepted} of ${event.updates} updates accepted.`;
}
