/** One run in a few numbers: a pure fold over its event log, the same for the page and the command line. */
import type { SatEvent } from './events.ts';
import { isDecrease } from './monotonicity.ts';

/** Where a log stands. Rates are null while nothing that they are a share of has happened. */
export interface RunSummary {
  /** Finished stages. */
  readonly stages: number;
  /** J before the first stage (after any warm start); null before it. Units of J. */
  readonly J0: number | null;
  /** J as last measured. Units of J. */
  readonly J: number | null;
  /**
   * sum over finished stages of max_k (sum_i bound_k of update i): the largest lower bound of each stage certificate
   * (SAT.md section 6, Thm 4.4), summed. A guarantee on J - J0 where the certificates are exact. Units of J; may be
   * negative; 0 before a stage has ended.
   */
  readonly certified: number;
  /** States with KL > delta in what was kept / states checked, over all agent updates; a rejected update keeps 0. */
  readonly klViolationRate: number | null;
  /** The same for each update's first proposal, before any backtracking. */
  readonly klProposedViolationRate: number | null;
  /** Agent updates with J(after) < J(before) / agent updates. */
  readonly monotonicityViolationRate: number | null;
  /** Stages with J(end) < J(start) / finished stages. */
  readonly stageViolationRate: number | null;
}

/** `part` of `whole` as a share in [0, 1]; null of nothing. */
export function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

/**
 * Folds a log, finished or not, into its summary. O(events).
 *
 * @param events in log order, from the start of the run
 */
export function summarise(events: readonly SatEvent[]): RunSummary {
  const kl = { proposed: 0, accepted: 0, states: 0 };
  const updates = { all: 0, violating: 0 };
  const stages = { all: 0, violating: 0 };
  let J0: number | null = null;
  let J: number | null = null;
  let certified = 0;
  for (const event of events) {
    if (event.kind === 'stageStart') {
      J0 ??= event.J.value;
      J = event.J.value;
    } else if (event.kind === 'promote') {
      kl.proposed += event.proposedViolations;
      kl.accepted += event.acceptedViolations;
      kl.states += event.states;
    } else if (event.kind === 'certificate' && event.scope === 'update') {
      J = event.J.value;
      updates.all++;
      if (isDecrease(event.dJ.value, event.J.value - event.dJ.value)) updates.violating++;
    } else if (event.kind === 'certificate') {
      certified += event.bounds[event.best].value;
    } else if (event.kind === 'stageEnd') {
      J = event.J.value;
      stages.all++;
      if (event.monotonicityViolated) stages.violating++;
    }
  }
  return {
    stages: stages.all,
    J0,
    J,
    certified,
    klViolationRate: share(kl.accepted, kl.states),
    klProposedViolationRate: share(kl.proposed, kl.states),
    monotonicityViolationRate: share(updates.violating, updates.all),
    stageViolationRate: share(stages.violating, stages.all),
  };
}
