import { memo } from 'react';
import {
  CartesianGrid,
  ComposedChart,
  Line,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import { formatChange } from '../folds/format.ts';
import type { Domain } from '../folds/improvement.ts';
import { boundNames, type UpdatePoint } from '../folds/runFold.ts';
import { countAxis, valueAxis } from './axes.ts';
import { ChartTooltip, type TooltipLine } from './ChartTooltip.tsx';
import classes from './charts.module.css';
import { updateTitle } from './LevelChart.tsx';
import { CROSS, Marks } from './Marks.tsx';
import { CHART_HEIGHT, CHART_MARGIN, FEW, strokeOf, styles } from './series.ts';

interface ChangeChartProps {
  readonly rows: readonly UpdatePoint[];
  readonly domain: Domain;
  readonly agentName: (agent: number) => string;
}

const boundOf = boundNames.map((name) => ({ name, read: (row: UpdatePoint) => row.bounds[name] }));

export const ChangeChart = memo(function ChangeChart({ rows, domain, agentName }: ChangeChartProps) {
  const dot = rows.length <= FEW ? { r: 2 } : false;
  const rejected = rows.flatMap(({ accepted, update, dJ }) =>
    accepted || dJ === null ? [] : [{ x: update, y: dJ, path: CROSS }],
  );
  return (
    <div className={classes.plot}>
      <ResponsiveContainer width="100%" height={CHART_HEIGHT}>
        <ComposedChart data={rows} margin={CHART_MARGIN} title="Change in J per agent update">
          <CartesianGrid stroke="var(--c-grid)" vertical={false} />
          <XAxis
            dataKey="update"
            {...countAxis('agent update', rows[0]?.update ?? 0, rows.at(-1)?.update ?? 1)}
          />
          <YAxis {...valueAxis('change (return)', domain)} />
          <Tooltip
            isAnimationActive={false}
            content={({ active, payload }) => {
              const row: unknown = payload?.[0]?.payload;
              return active && isUpdate(row) ? <ChangeTooltip row={row} agentName={agentName} /> : null;
            }}
          />
          <ReferenceLine y={0} stroke="var(--c-axis)" strokeWidth={1.5} />
          {boundOf.map(({ name, read }) => (
            <Line
              key={name}
              dataKey={read}
              name={name}
              isAnimationActive={false}
              dot={dot}
              strokeWidth={1.75}
              {...strokeOf(styles[name])}
            />
          ))}
          <Line dataKey="L" isAnimationActive={false} dot={dot} strokeWidth={1.5} {...strokeOf(styles.L)} />
          <Line dataKey="dJ" isAnimationActive={false} dot={dot} strokeWidth={2.5} {...strokeOf(styles.J)} />
          <Marks marks={rejected} color="var(--c-bad)" filled={false} />
        </ComposedChart>
      </ResponsiveContainer>
    </div>
  );
});

function isUpdate(row: unknown): row is UpdatePoint {
  return typeof row === 'object' && row !== null && 'bounds' in row;
}

function ChangeTooltip({
  row,
  agentName,
}: {
  readonly row: UpdatePoint;
  readonly agentName: (agent: number) => string;
}) {
  const lines: TooltipLine[] = [
    { metric: 'dJ', value: formatChange(row.dJ) },
    { metric: 'L', value: formatChange(row.L) },
    ...boundNames.map((metric) => ({ metric, value: formatChange(row.bounds[metric]) })),
  ];
  return (
    <ChartTooltip
      title={updateTitle(row.update, row.stage, agentName(row.agent), row.reason)}
      lines={lines}
    />
  );
}
