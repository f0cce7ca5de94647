import { memo, useMemo } from 'react';
import type { Artifact } from '../../runs/events.ts';
import { formatNumber } from '../folds/format.ts';
import { histogram } from '../folds/histogram.ts';
import { isClipped } from '../folds/ratios.ts';
import { LevelLine, Plot, type Scales } from './Plot.tsx';

type Ratios = Extract<Artifact, { kind: 'ratios' }>;

interface RatioPlotProps {
  readonly ratios: Ratios;
  /** Largest |u| shown. */
  readonly reach: number;
}

/** Most marks drawn; beyond it every k-th sequence is. */
const MOST_MARKS = 2000;
const BINS = 30;

/** u against the advantage: one mark a sequence, up for A > 0, down for A < 0, hollow where clipped. */
export const RatioScatter = memo(function RatioScatter({
  ratios,
  reach,
  aMax,
}: RatioPlotProps & { readonly aMax: number }) {
  const height = aMax > 0 ? 1.15 * aMax : 1;
  return (
    <Plot
      height={230}
      xRange={[-reach, reach]}
      yRange={[-height, height]}
      xLabel="log-ratio u, nats (ratio = exp u)"
      yLabel="advantage A"
      title="Log-ratio of each sequence against its advantage"
    >
      {(scales) => (
        <>
          <Band band={ratios.band} scales={scales} />
          <line x1={scales.left} x2={scales.right} y1={scales.y(0)} y2={scales.y(0)} stroke="var(--c-axis)" />
          <Marks ratios={ratios} scales={scales} />
        </>
      )}
    </Plot>
  );
});

function Band({
  band: [low, high],
  scales,
}: {
  readonly band: readonly [number, number];
  readonly scales: Scales;
}) {
  return (
    <g>
      <rect
        x={scales.x(low)}
        y={scales.top}
        width={scales.x(high) - scales.x(low)}
        height={scales.bottom - scales.top}
        fill="var(--c-band)"
      />
      <LevelLine
        scales={scales}
        x={low}
        label={`ratio ${formatNumber(Math.exp(low))}`}
        color="var(--c-L)"
        dash="4 3"
        side="left"
      />
      <LevelLine
        scales={scales}
        x={high}
        label={formatNumber(Math.exp(high))}
        color="var(--c-L)"
        dash="4 3"
        side="right"
      />
    </g>
  );
}

/** One path a kind of mark: thousands of sequences are still a handful of elements. */
function Marks({
  ratios: { u, advantage, weight, band },
  scales,
}: {
  readonly ratios: Ratios;
  readonly scales: Scales;
}) {
  const stride = Math.ceil(u.length / MOST_MARKS);
  const paths = { plus: '', minus: '', zero: '', plusClipped: '', minusClipped: '' };
  for (let n = 0; n < u.length; n += stride) {
    if (!(weight[n]! > 0)) continue;
    const [x, y, A] = [scales.x(u[n]!), scales.y(advantage[n]!), advantage[n]!];
    const clipped = isClipped(u[n]!, A, ...band);
    if (A > 0) paths[clipped ? 'plusClipped' : 'plus'] += `M${x} ${y - 5}l4.5 8h-9z`;
    else if (A < 0) paths[clipped ? 'minusClipped' : 'minus'] += `M${x} ${y + 5}l4.5 -8h-9z`;
    else paths.zero += `M${x - 3} ${y - 3}h6v6h-6z`;
  }
  return (
    <g strokeWidth="1.5">
      <path d={paths.zero} fill="none" stroke="var(--c-L)" />
      <path d={paths.plus} fill="var(--c-plus)" fillOpacity="0.75" />
      <path d={paths.minus} fill="var(--c-minus)" fillOpacity="0.75" />
      <path d={paths.plusClipped} fill="none" stroke="var(--c-plus)" />
      <path d={paths.minusClipped} fill="none" stroke="var(--c-minus)" />
    </g>
  );
}

/** Weighted share of sequences by u: A > 0 above the axis, A < 0 below it. */
export const RatioHistogram = memo(function RatioHistogram({ ratios, reach }: RatioPlotProps) {
  const { above, below, top } = useMemo(() => signedBins(ratios, reach), [ratios, reach]);
  return (
    <Plot
      height={170}
      xRange={[-reach, reach]}
      yRange={[-top, top]}
      xLabel="log-ratio u, nats"
      yLabel="share of weight"
      title="Distribution of log-ratios: positive advantages upwards, negative ones downwards"
    >
      {(scales) => (
        <>
          <Band band={ratios.band} scales={scales} />
          {above.map((bin, k) => {
            const x = scales.x(bin.from) + 0.5;
            const width = Math.max(1, scales.x(bin.to) - scales.x(bin.from) - 1);
            const zero = scales.y(0);
            const other = below[k]!.count;
            return (
              <g key={bin.from}>
                <rect
                  x={x}
                  width={width}
                  y={scales.y(bin.count)}
                  height={zero - scales.y(bin.count)}
                  fill="var(--c-plus)"
                />
                <rect x={x} width={width} y={zero} height={scales.y(-other) - zero} fill="var(--c-minus)" />
              </g>
            );
          })}
          <line x1={scales.left} x2={scales.right} y1={scales.y(0)} y2={scales.y(0)} stroke="var(--c-axis)" />
        </>
      )}
    </Plot>
  );
});

function signedBins({ u, advantage, weight }: Ratios, reach: number) {
  const total = weight.reduce((sum, w) => sum + w, 0) || 1;
  const side = (keep: (A: number) => boolean) =>
    histogram(
      u,
      -reach,
      reach,
      BINS,
      weight.map((w, n) => (keep(advantage[n]!) ? w / total : 0)),
    );
  const above = side((A) => A > 0);
  const below = side((A) => A < 0);
  const top = 1.15 * [...above, ...below].reduce((most, bin) => Math.max(most, bin.count), 1e-6);
  return { above, below, top };
}
