import { memo, useMemo } from 'react';
import type { Artifact, KlCheckEvent } from '../../runs/events.ts';
import { counted, formatNumber, formatShare } from '../folds/format.ts';
import { summariseRatios } from '../folds/ratios.ts';
import { ChartFrame, EmptyChart } from './ChartFrame.tsx';
import { Legend } from './Legend.tsx';
import { RatioHistogram, RatioScatter } from './RatioPlots.tsx';

interface RatioPanelProps {
  readonly check: KlCheckEvent | undefined;
  readonly artifact: Artifact | undefined;
  readonly agent: string;
}

const signs = [
  { key: 'plus', label: 'A > 0: should become likelier', color: 'var(--c-plus)', mark: '▲', line: false },
  { key: 'minus', label: 'A < 0: should become rarer', color: 'var(--c-minus)', mark: '▼', line: false },
  { key: 'hollow', label: 'hollow: clipped, no gradient', color: 'var(--c-L)', mark: '△', line: false },
  { key: 'band', label: 'clip band 1 ± ε', color: 'var(--c-L)', mark: '░', line: false },
] as const;

/** Sequence log-ratios of a proposal by the sign of their advantage, with the clip band. */
function RatioPanel({ check, artifact, agent }: RatioPanelProps) {
  const ratios = artifact?.kind === 'ratios' ? artifact : undefined;
  const summary = useMemo(() => (ratios === undefined ? undefined : summariseRatios(ratios)), [ratios]);
  if (check === undefined) {
    return <EmptyChart>No proposal has been checked yet. Press Next agent to make one.</EmptyChart>;
  }
  if (ratios === undefined || summary === undefined) {
    return (
      <EmptyChart>
        The ratios of this proposal are loading, or the run has dropped them; step on to see new ones.
      </EmptyChart>
    );
  }
  const [low, high] = ratios.band;
  const reach = 1.1 * Math.max(summary.uMax, 1.4 * high, -1.4 * low);
  const title = `Ratios of ${agent}, stage ${check.stage + 1}, attempt ${check.attempt}`;
  const text = `${counted(summary.sequences, 'sequence')}. ${formatShare(summary.clipped)} clipped (no gradient), ${formatShare(summary.outside)} outside the band from ${formatNumber(Math.exp(low))} to ${formatNumber(Math.exp(high))}; shares are weighted as in the mean. Furthest: |u| = ${formatNumber(summary.uMax)}, a ratio of ${formatNumber(Math.exp(summary.uMax))} or its inverse.`;
  return (
    <ChartFrame title={title} summary={text}>
      <RatioScatter ratios={ratios} reach={reach} aMax={summary.aMax} />
      <RatioHistogram ratios={ratios} reach={reach} />
      <Legend entries={signs} />
    </ChartFrame>
  );
}

export default memo(RatioPanel);
