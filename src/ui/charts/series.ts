import type { BoundName } from '../../runs/events.ts';

/** Colour and dash of every series: no meaning by colour alone. */
export interface SeriesStyle {
  readonly color: string;
  readonly dash?: string;
}

export const styles = {
  J: { color: 'var(--c-J)' },
  best: { color: 'var(--c-best)', dash: '7 4' },
  paper: { color: 'var(--c-paper)', dash: '2 4' },
  L: { color: 'var(--c-L)', dash: '12 3' },
  trpo: { color: 'var(--c-trpo)', dash: '5 2 1 2' },
  cpo: { color: 'var(--c-cpo)', dash: '9 3 2 3' },
  coupling: { color: 'var(--c-coupling)', dash: '4 4' },
  statewise: { color: 'var(--c-statewise)', dash: '7 4' },
} as const satisfies Record<'J' | 'best' | 'L' | BoundName, SeriesStyle>;

/** Height of a chart, px. */
export const CHART_HEIGHT = 250;

export const CHART_MARGIN = { top: 8, right: 12, bottom: 20, left: 8 } as const;

/** Up to so many rows every point is drawn. */
export const FEW = 12;

export function strokeOf(style: SeriesStyle): { stroke: string; strokeDasharray?: string } {
  return style.dash === undefined
    ? { stroke: style.color }
    : { stroke: style.color, strokeDasharray: style.dash };
}
