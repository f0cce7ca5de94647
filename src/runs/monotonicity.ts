/** A change in J within this much of 0, relative to max(1, |J|), is rounding of the linear solve, not a violation. */
const ROUNDING = 1e-10;

/** Whether J fell from `before` by `-dJ`, both in units of J, by more than rounding. */
export function isDecrease(dJ: number, before: number): boolean {
  return dJ < -ROUNDING * Math.max(1, Math.abs(before));
}
