import type { RunConfig } from './config.ts';
import type { BoundName, SatEvent } from './events.ts';

/**
 * One line of stage_log.jsonl. info_gain, occ_shift_penalty, estimator_bias_penalty, finite_sample_penalty, lower_bound and
 * n_agents are the official implementation's keys, with the paper's meaning: its code puts the bias proxy into info_gain,
 * we put the surrogate gain there. The other keys are ours.
 */
export interface StageLogLine {
  readonly stage: number;
  /** Sum of L_i over the stage's updates, units of J. */
  readonly info_gain: number;
  /** Sum of the paper's penalties 2 gamma / (1 - gamma)^2 A_max sqrt(KLmax / 2). */
  readonly occ_shift_penalty: number;
  /** zeta / (1 - gamma): 0 where the surrogate is exact; unknown, and taken as 0, where it is estimated. */
  readonly estimator_bias_penalty: number;
  /** As printed in the paper; 0 where L_i is exact. */
  readonly finite_sample_penalty: number;
  /** info_gain minus the three penalties: the paper's bound. */
  readonly lower_bound: number;
  readonly n_agents: number;
  readonly order: readonly number[];
  readonly scheme: string;
  readonly quality: 'exact' | 'estimated';
  readonly J: number;
  readonly dJ: number;
  readonly success: number | undefined;
  readonly best_bound: number;
  readonly best_bound_name: BoundName;
  readonly accepted: number;
  readonly kl_violations_proposed: number;
  readonly kl_violations_accepted: number;
  readonly kl_states: number;
  readonly violating_updates: number;
}

/**
 * Folds the events of one finished stage into its log line.
 *
 * @throws {RangeError} if the stage has not ended in `events`.
 */
export function stageLogLine(events: readonly SatEvent[], stage: number, config: RunConfig): StageLogLine {
  let order: readonly number[] = [];
  const kl = { proposed: 0, accepted: 0, states: 0 };
  let certificate: Extract<SatEvent, { kind: 'certificate' }> | undefined;
  let end: Extract<SatEvent, { kind: 'stageEnd' }> | undefined;
  for (let at = events.length - 1; at >= 0; at--) {
    const event = events[at]!;
    if (event.kind === 'warmStart' || event.stage !== stage) break;
    if (event.kind === 'order') order = event.order;
    if (event.kind === 'certificate' && event.scope === 'stage') certificate = event;
    if (event.kind === 'stageEnd') end = event;
    if (event.kind === 'promote') {
      kl.proposed += event.proposedViolations;
      kl.accepted += event.acceptedViolations;
      kl.states += event.states;
    }
  }
  if (certificate === undefined || end === undefined)
    throw new RangeError(`stage ${stage} has not ended in this log`);
  const penalty = certificate.bounds.paper.penalty ?? 0;
  const finite = certificate.finiteSample?.asPrinted ?? 0;
  return {
    stage,
    info_gain: certificate.L.value,
    occ_shift_penalty: penalty,
    estimator_bias_penalty: 0,
    finite_sample_penalty: finite,
    lower_bound: certificate.L.value - penalty - finite,
    n_agents: order.length,
    order,
    scheme: config.sat.scheme,
    quality: certificate.quality,
    J: end.J.value,
    dJ: end.dJ.value,
    success: end.success?.value,
    best_bound: certificate.bounds[certificate.best].value,
    best_bound_name: certificate.best,
    accepted: end.accepted,
    kl_violations_proposed: kl.proposed,
    kl_violations_accepted: kl.accepted,
    kl_states: kl.states,
    violating_updates: end.violatingUpdates,
  };
}
