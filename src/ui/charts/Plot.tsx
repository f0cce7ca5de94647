import { useElementSize } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { formatNumber } from '../folds/format.ts';
import { niceTicks } from '../folds/histogram.ts';
import classes from './charts.module.css';

/** Pixel positions of data values, and the inner rectangle. */
export interface Scales {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface PlotProps {
  readonly height: number;
  readonly xRange: readonly [number, number];
  readonly yRange: readonly [number, number];
  readonly xLabel: string;
  readonly yLabel: string;
  /** The vertical axis counts things: no fractions on it. */
  readonly wholeCounts?: boolean;
  /** For screen readers. */
  readonly title: string;
  readonly children: (scales: Scales) => ReactNode;
}

const MARGIN = { left: 54, right: 12, top: 16, bottom: 38 };

/** Axes with ticks and units around marks drawn in pixels, so that lines and type stay crisp at any width. */
export function Plot({ height, xRange, yRange, xLabel, yLabel, wholeCounts, title, children }: PlotProps) {
  const { ref, width } = useElementSize();
  const [left, right] = [MARGIN.left, Math.max(MARGIN.left + 10, width - MARGIN.right)];
  const [top, bottom] = [MARGIN.top, height - MARGIN.bottom];
  const scale =
    ([low, high]: readonly [number, number], from: number, to: number) =>
    (value: number) =>
      from + ((value - low) / (high - low)) * (to - from);
  const scales: Scales = {
    x: scale(xRange, left, right),
    y: scale(yRange, bottom, top),
    left,
    right,
    top,
    bottom,
  };
  return (
    <div ref={ref} className={classes.plot} style={{ height }}>
      {width > 0 && (
        <svg width={width} height={height} role="img" aria-label={title}>
          <title>{title}</title>
          <Axes
            scales={scales}
            xRange={xRange}
            yRange={yRange}
            xLabel={xLabel}
            yLabel={yLabel}
            wholeCounts={wholeCounts ?? false}
          />
          {children(scales)}
        </svg>
      )}
    </div>
  );
}

type AxesProps = Required<Pick<PlotProps, 'xRange' | 'yRange' | 'xLabel' | 'yLabel' | 'wholeCounts'>> & {
  readonly scales: Scales;
};

function Axes({ scales, xRange, yRange, xLabel, yLabel, wholeCounts }: AxesProps) {
  const { left, right, top, bottom } = scales;
  const middle = (top + bottom) / 2;
  const yTicks = niceTicks(...yRange, 4).filter((tick) => !wholeCounts || Number.isInteger(tick));
  return (
    <g>
      {yTicks.map((tick) => (
        <g key={tick}>
          <line x1={left} x2={right} y1={scales.y(tick)} y2={scales.y(tick)} stroke="var(--c-grid)" />
          <text x={left - 6} y={scales.y(tick) + 4} textAnchor="end">
            {formatNumber(tick)}
          </text>
        </g>
      ))}
      <line x1={left} x2={right} y1={bottom} y2={bottom} stroke="var(--c-axis)" />
      {niceTicks(...xRange, right - left < 350 ? 4 : 7).map((tick) => (
        <g key={tick}>
          <line x1={scales.x(tick)} x2={scales.x(tick)} y1={bottom} y2={bottom + 5} stroke="var(--c-axis)" />
          <text x={scales.x(tick)} y={bottom + 18} textAnchor="middle">
            {formatNumber(tick)}
          </text>
        </g>
      ))}
      <text x={(left + right) / 2} y={bottom + 34} textAnchor="middle">
        {xLabel}
      </text>
      <text x={0} y={0} transform={`translate(12 ${middle}) rotate(-90)`} textAnchor="middle">
        {yLabel}
      </text>
    </g>
  );
}

interface LevelLineProps {
  readonly scales: Scales;
  readonly x: number;
  readonly label: string;
  readonly color: string;
  readonly dash?: string;
  /** Which side of the line the label stands on. */
  readonly side: 'left' | 'right';
}

/** A labelled vertical line at `x`, e.g. a radius. */
export function LevelLine({ scales, x, label, color, dash, side }: LevelLineProps) {
  const at = scales.x(x);
  return (
    <g>
      <line
        x1={at}
        x2={at}
        y1={scales.top - 4}
        y2={scales.bottom}
        stroke={color}
        strokeWidth="2"
        strokeDasharray={dash}
      />
      <text
        x={side === 'right' ? at + 4 : at - 4}
        y={scales.top - 5}
        textAnchor={side === 'right' ? 'start' : 'end'}
        style={{ fill: color }}
      >
        {label}
      </text>
    </g>
  );
}
