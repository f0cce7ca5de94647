/** Ranks and confidence of empirical quantiles, shared by the backends and by the trust-region monitor. */

/**
 * Position h = (count - 1)(1 - alpha) of the (1 - alpha) quantile in a sorted sample, with the whole ranks around it
 * (numpy's `linear` and `higher` methods). count >= 1, alpha in [0, 1].
 */
export function quantilePosition(
  count: number,
  alpha: number,
): { low: number; high: number; fraction: number } {
  const h = (count - 1) * (1 - alpha);
  return { low: Math.floor(h), high: Math.ceil(h), fraction: h - Math.floor(h) };
}

/** Linear interpolation that stays defined when the upper value is Infinity. */
export function interpolate(low: number, high: number, fraction: number): number {
  return fraction === 0 || low === high ? low : low + fraction * (high - low);
}

/**
 * Half-width of the two-sided Dvoretzky-Kiefer-Wolfowitz band: with probability 1 - eta the empirical distribution of
 * `count` independent samples is within this of the true one. A probability: it widens alpha, never a radius in nats.
 */
export function dkwEpsilon(count: number, eta: number): number {
  return Math.sqrt(Math.log(2 / eta) / (2 * count));
}
