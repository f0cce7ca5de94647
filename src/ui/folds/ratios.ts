import type { Artifact } from '../../runs/events.ts';

type Ratios = Extract<Artifact, { kind: 'ratios' }>;

export interface RatioSummary {
  /** Sequences with a weight above 0. */
  readonly sequences: number;
  /** Weighted shares in [0, 1]; null where there is no sequence. */
  readonly clipped: number | null;
  readonly outside: number | null;
  /** Largest |u|, and the largest |A|. */
  readonly uMax: number;
  readonly aMax: number;
}

/**
 * Which sequences of a proposal the clip has silenced. Clipped: A > 0 and u above the band, or A < 0 and u below it;
 * there the objective is flat in u. A sequence with A = 0 has no gradient anyway and counts as outside only.
 */
export function summariseRatios({ u, advantage, weight, band: [low, high] }: Ratios): RatioSummary {
  const sums = { weight: 0, clipped: 0, outside: 0 };
  let [sequences, uMax, aMax] = [0, 0, 0];
  u.forEach((value, n) => {
    const [A, w] = [advantage[n]!, weight[n]!];
    if (!(w > 0)) return;
    sequences++;
    sums.weight += w;
    if (isClipped(value, A, low, high)) sums.clipped += w;
    if (value > high || value < low) sums.outside += w;
    uMax = Math.max(uMax, Math.abs(value));
    aMax = Math.max(aMax, Math.abs(A));
  });
  const part = (sum: number) => (sums.weight > 0 ? sum / sums.weight : null);
  return { sequences, clipped: part(sums.clipped), outside: part(sums.outside), uMax, aMax };
}

/** Whether the clipped branch is the smaller one, strictly: the sequence then has no gradient. */
export function isClipped(u: number, A: number, low: number, high: number): boolean {
  return (A > 0 && u > high) || (A < 0 && u < low);
}
