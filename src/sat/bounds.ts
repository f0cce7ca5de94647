import { BOUND_NAMES, type PenaltyName } from '../exact/bounds.ts';
import { vacuous } from '../exact/certificate.ts';
import type { Bound, BoundName } from '../runs/events.ts';

/** The lower bounds of one update as events carry them: value, penalty, and whether the discount makes it hopeless. */
export function boundsForEvent(
  lowerBounds: Readonly<Record<BoundName, number>>,
  penalties: Readonly<Record<PenaltyName, number>>,
  gamma: number,
): Readonly<Record<BoundName, Bound>> {
  const bound = (name: BoundName): Bound => ({
    value: lowerBounds[name],
    vacuous: vacuous(name, gamma) !== undefined,
    ...(name === 'statewise' ? {} : { penalty: penalties[name] }),
  });
  return {
    paper: bound('paper'),
    trpo: bound('trpo'),
    cpo: bound('cpo'),
    coupling: bound('coupling'),
    statewise: bound('statewise'),
  };
}

/** The values of a certificate's bounds, for choosing the largest and for adding up a stage. */
export function boundValues(bounds: Readonly<Record<BoundName, Bound>>): Record<BoundName, number> {
  const values = { paper: 0, trpo: 0, cpo: 0, coupling: 0, statewise: 0 };
  for (const name of BOUND_NAMES) values[name] = bounds[name].value;
  return values;
}
