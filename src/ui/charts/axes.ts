import { formatNumber } from '../folds/format.ts';
import { niceTicks } from '../folds/histogram.ts';
import type { Domain } from '../folds/improvement.ts';

/** Width kept for the tick labels of the vertical axis, px. */
const AXIS_WIDTH = 58;

/** Props of a horizontal axis that counts updates or stages from `low` to `high`. */
export function countAxis(label: string, low: number, high: number) {
  return {
    type: 'number',
    domain: [low, Math.max(high, low + 1)],
    ticks: niceTicks(low, Math.max(high, low + 1), 6).filter(Number.isInteger),
    stroke: 'var(--c-axis)',
    label: { value: label, position: 'insideBottom', offset: -10, fill: 'var(--c-axis)' },
  } as const;
}

/** Props of a vertical axis over `domain`; curves may leave it and are cut off there. */
export function valueAxis(label: string, { low, high }: Domain, format = formatNumber) {
  return {
    domain: [low, high],
    ticks: niceTicks(low, high, 4),
    allowDataOverflow: true,
    tickFormatter: format,
    width: AXIS_WIDTH,
    stroke: 'var(--c-axis)',
    label: {
      value: label,
      angle: -90,
      position: 'insideLeft',
      fill: 'var(--c-axis)',
      style: { textAnchor: 'middle' },
    },
  } as const;
}

/** The same in decades, for positive quantities that are multiplied rather than added to. */
export function decadeAxis(label: string, { low, high }: Domain) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const stride = Math.max(1, Math.ceil((last - first) / 4));
  const ticks = [];
  for (let power = first; power <= last; power += stride) ticks.push(10 ** power);
  return {
    ...valueAxis(label, { low: 10 ** first, high: 10 ** Math.max(last, first + 1) }),
    scale: 'log',
    ticks,
  } as const;
}
