import { memo, useMemo } from 'react';
import type { Artifact, KlCheckEvent } from '../../runs/events.ts';
import { counted, formatNumber, formatShare } from '../folds/format.ts';
import { type Bin, histogram } from '../folds/histogram.ts';
import { ChartFrame, EmptyChart } from './ChartFrame.tsx';
import { Legend } from './Legend.tsx';
import { LevelLine, Plot } from './Plot.tsx';

interface KlHistogramProps {
  readonly check: KlCheckEvent;
  /** Undefined while it is on its way, or after the run has dropped it. */
  readonly artifact: Artifact | undefined;
  readonly agent: string;
}

const BINS = 28;
const MOST_BINS = 60;

/** Bins with an edge at `delta`, so that no bar is half over it, unless that takes too many. */
function binsOf(kl: Float64Array, top: number, delta: number): Bin[] {
  const width = delta / Math.max(1, Math.round((BINS * delta) / top));
  const count = Math.ceil(top / width);
  return count > MOST_BINS ? histogram(kl, 0, top, BINS) : histogram(kl, 0, count * width, count);
}

/** Per-state KL of one proposal, with the radius and the quantile that is held against it. */
export const KlHistogram = memo(function KlHistogram({ check, artifact, agent }: KlHistogramProps) {
  const { quantile, delta, max } = check;
  const top = 1.06 * Math.max(max, 1.2 * delta);
  const kl = artifact?.kind === 'kl' ? artifact.kl : undefined;
  const bins = useMemo(() => (kl === undefined ? [] : binsOf(kl, top, delta)), [kl, top, delta]);
  const title = `KL at each state: ${agent}, stage ${check.stage + 1}, attempt ${check.attempt}`;
  const most = bins.reduce((highest, bin) => Math.max(highest, bin.count), 1);
  const quantileFirst = quantile < delta;
  return (
    <ChartFrame title={title} summary={summaryOf(check)}>
      {kl === undefined ? (
        <EmptyChart>
          The values of this check are loading, or the run has dropped them; step on to see new ones.
        </EmptyChart>
      ) : (
        <Plot
          height={200}
          xRange={[0, bins.at(-1)?.to ?? top]}
          yRange={[0, 1.08 * most]}
          xLabel="KL(new ‖ current), exact over all actions, nats"
          yLabel="states"
          wholeCounts
          title={title}
        >
          {(scales) => (
            <>
              {bins.map((bin) => (
                <Bar key={bin.from} bin={bin} delta={delta} scales={scales} />
              ))}
              <LevelLine
                scales={scales}
                x={delta}
                label="δ"
                color="var(--c-bad)"
                side={quantileFirst ? 'right' : 'left'}
              />
              <LevelLine
                scales={scales}
                x={quantile}
                label="quantile"
                color="var(--c-J)"
                dash="5 3"
                side={quantile > 0.7 * top || quantileFirst ? 'left' : 'right'}
              />
            </>
          )}
        </Plot>
      )}
      <Legend
        entries={[
          { key: 'delta', label: 'radius δ', color: 'var(--c-bad)', value: formatNumber(delta) },
          {
            key: 'quantile',
            label: `${formatNumber(1 - check.alpha)} quantile`,
            color: 'var(--c-J)',
            dash: '5 3',
            value: formatNumber(quantile),
          },
          { key: 'over', label: 'bars over δ are hatched', color: 'var(--c-bad)', mark: '▨', line: false },
        ]}
      />
    </ChartFrame>
  );
});

interface BarProps {
  readonly bin: Bin;
  readonly delta: number;
  readonly scales: {
    readonly x: (value: number) => number;
    readonly y: (value: number) => number;
    readonly bottom: number;
  };
}

function Bar({ bin, delta, scales }: BarProps) {
  if (bin.count === 0) return null;
  const over = bin.from >= delta;
  const [x, y] = [scales.x(bin.from), scales.y(bin.count)];
  const width = Math.max(2, scales.x(bin.to) - x - 1);
  const height = Math.max(1, scales.bottom - y);
  return (
    <g>
      <title>{`${counted(bin.count, 'state')} from ${formatNumber(bin.from)} to ${formatNumber(bin.to)} nats`}</title>
      <rect
        x={x}
        y={y}
        width={width}
        height={height}
        fill={over ? 'var(--mantine-color-body)' : 'var(--c-J)'}
        stroke={over ? 'var(--c-bad)' : 'none'}
        strokeWidth="1.5"
      />
      {over && <path d={hatch(x, y, width, height)} stroke="var(--c-bad)" strokeWidth="1" />}
    </g>
  );
}

/** Horizontal strokes inside a bar, 4 px apart. */
function hatch(x: number, y: number, width: number, height: number): string {
  const lines = Math.floor(height / 4);
  return Array.from({ length: lines }, (_, k) => `M${x} ${y + 4 * (k + 0.5)}h${width}`).join('');
}

function summaryOf(check: KlCheckEvent): string {
  const { states, violations, quantile, delta, alpha, dkwSlack } = check;
  const sampling =
    dkwSlack > 0
      ? ` From a sample: the true share beyond the quantile is at most ${formatShare(Math.min(1, alpha + dkwSlack))} with probability 1 − η.`
      : ' Every state was measured.';
  return `${violations} of ${counted(states, 'state')} over δ (${formatShare(violations / states)}). The ${formatNumber(1 - alpha)} quantile ${formatNumber(quantile)} is ${quantile <= delta ? 'within' : 'beyond'} δ = ${formatNumber(delta)} nats: ${check.accepted ? 'accepted' : 'not accepted'}.${sampling}`;
}
