import type { Kernels, KlQuantile, Tensor } from '../kernels/kernels.ts';
import type { AcceptRule } from '../runs/config.ts';
import type { Condition } from '../runs/events.ts';

/** Below delta / SLACK_FACTOR the KL is "far below" and beta may fall (SAT.md section 5; PPO's adaptive-KL heuristic). */
const SLACK_FACTOR = 1.5;

/** Step size factor after a failed check (SAT.md section 5). */
export const STEP_SHRINK = 0.5;

export interface MonitorSettings {
  readonly alpha: number;
  readonly delta: number;
  readonly temperature: number;
}

/** Per-state KL(pi_tar || pi_cur) at every state where the agent acts, and its monitored quantile. */
export interface TrustRegionMeasure extends KlQuantile {
  /** [N] nats, one for each row counted. */
  readonly kl: Float64Array;
}

/**
 * Measures how far a proposal moved: KL(pi_tar || pi_cur), exact over the actions, state by state, never averaged over
 * a sequence, which would hide the one bad state (SAT.md section 5).
 *
 * @param mask [N] i32, 1 at rows where the agent acts.
 */
export async function measureTrustRegion(
  logitsTar: Tensor,
  logitsCur: Tensor,
  mask: Tensor,
  settings: MonitorSettings,
  kernels: Kernels,
): Promise<TrustRegionMeasure> {
  const { temperature, alpha, delta } = settings;
  const { kl } = kernels.kl({ logitsTar, logitsCur, temperature, direction: 'tar-cur' });
  const quantile = await kernels.klQuantile({ values: kl, mask, alpha, delta });
  const [values, counted] = await kernels.read(kl, mask);
  kernels.release(kl);
  return { ...quantile, kl: values!.filter((_, row) => counted![row] === 1) };
}

/** The acceptance rule as a table of conditions; the proposal is kept if all pass (SAT.md section 5). */
export function acceptanceConditions(
  rule: AcceptRule,
  measured: { readonly quantile: number; readonly surrogate: number },
  delta: number,
): readonly Condition[] {
  const within: Condition = {
    name: 'quantile',
    value: measured.quantile,
    relation: 'atMost',
    limit: delta,
    passed: measured.quantile <= delta,
  };
  if (rule === 'kl') return [within];
  return [
    within,
    {
      name: 'surrogate',
      value: measured.surrogate,
      relation: 'atLeast',
      limit: 0,
      passed: measured.surrogate >= 0,
    },
  ];
}

/**
 * beta stays within these factors of where it started (a heuristic): a radius that rejects everything must not drive it to
 * overflow, nor an easy one to where no number of retries brings it back.
 */
const BETA_RANGE = { least: 1e-3, most: 1e6 };

/** Where beta starts and what it is multiplied or divided by. A start of 0 switches the penalty off for good. */
export interface BetaSchedule {
  readonly start: number;
  readonly factor: number;
}

/** beta after an accepted proposal: lower when the KL stayed far below the radius, otherwise as it is. */
export function relaxBeta(
  beta: number,
  quantile: number,
  delta: number,
  { start, factor }: BetaSchedule,
): number {
  if (quantile >= delta / SLACK_FACTOR) return beta;
  return Math.max(beta / factor, Math.min(beta, start * BETA_RANGE.least));
}

/** beta after a failed check. */
export function raiseBeta(beta: number, { start, factor }: BetaSchedule): number {
  return Math.min(beta * factor, Math.max(beta, start * BETA_RANGE.most));
}
