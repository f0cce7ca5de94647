import { memo } from 'react';
import { CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { MetricName } from '../../runs/metrics.ts';
import { formatShare } from '../folds/format.ts';
import type { UpdatePoint } from '../folds/runFold.ts';
import { countAxis, valueAxis } from './axes.ts';
import { ChartTooltip } from './ChartTooltip.tsx';
import classes from './charts.module.css';
import { CHART_MARGIN, type SeriesStyle, strokeOf } from './series.ts';

export interface RateSeries {
  readonly metric: MetricName;
  readonly label: string;
  readonly read: (row: UpdatePoint) => number | null;
  readonly style: SeriesStyle;
}

interface RateChartProps {
  readonly rows: readonly UpdatePoint[];
  readonly series: readonly RateSeries[];
  /** What it is a share of. */
  readonly label: string;
}

/** Running shares over agent updates, from 0 to at most 1. */
export const RateChart = memo(function RateChart({ rows, series, label }: RateChartProps) {
  const highest = rows.reduce(
    (most, row) => series.reduce((top, { read }) => Math.max(top, read(row) ?? 0), most),
    0,
  );
  const top = Math.min(1, Math.max(0.1, 1.1 * highest));
  return (
    <div className={classes.plot}>
      <ResponsiveContainer width="100%" height={170}>
        <LineChart data={rows} margin={CHART_MARGIN} title={`${label} over agent updates`}>
          <CartesianGrid stroke="var(--c-grid)" vertical={false} />
          <XAxis
            dataKey="update"
            {...countAxis('agent update', rows[0]?.update ?? 0, rows.at(-1)?.update ?? 1)}
          />
          <YAxis {...valueAxis(label, { low: 0, high: top }, formatShare)} />
          <Tooltip
            isAnimationActive={false}
            content={({ active, payload }) => {
              const row: unknown = payload?.[0]?.payload;
              return active && isUpdate(row) ? (
                <ChartTooltip
                  title={`After update ${row.update}`}
                  lines={series.map(({ metric, read }) => ({ metric, value: formatShare(read(row)) }))}
                />
              ) : null;
            }}
          />
          {series.map(({ metric, read, style }) => (
            <Line
              key={metric}
              dataKey={read}
              name={metric}
              isAnimationActive={false}
              dot={rows.length === 1}
              strokeWidth={2}
              {...strokeOf(style)}
            />
          ))}
        </LineChart>
      </ResponsiveContainer>
    </div>
  );
});

function isUpdate(row: unknown): row is UpdatePoint {
  return typeof row === 'object' && row !== null && 'monotonicityRate' in row && 'update' in row;
}
