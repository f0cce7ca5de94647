import { type AgentShape, agentMark } from '../agentColors.ts';
import type { SeriesStyle } from './series.ts';

const dashes: readonly (string | undefined)[] = [undefined, '8 4', '2 3', '10 3 2 3', '5 5', '14 4'];

/** Paths about 10 px across, centred on 0, 0. */
const paths: Readonly<Record<AgentShape, string>> = {
  circle: 'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z',
  square: 'M-3.5 -3.5h7v7h-7z',
  triangle: 'M0 -4.5l4.5 8h-9z',
  diamond: 'M0 -5l5 5l-5 5l-5 -5z',
  pentagon: 'M0 -4.5l4.3 3.1l-1.6 5h-5.4l-1.6 -5z',
  hexagon: 'M-4.5 0l2.2 -4h4.6l2.2 4l-2.2 4h-4.6z',
};

/** Line of an agent: its hue and a dash of its own. */
export function agentStyle(agent: number): SeriesStyle {
  const dash = dashes[agent % dashes.length];
  const { color } = agentMark(agent);
  return dash === undefined ? { color } : { color, dash };
}

/** Outline of an agent's shape as an SVG path. */
export function markPath(agent: number): string {
  return paths[agentMark(agent).shape];
}
