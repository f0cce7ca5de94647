import { memo } from 'react';
import {
  Area,
  CartesianGrid,
  ComposedChart,
  Line,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import { metrics } from '../../runs/metrics.ts';
import { formatChange, formatNumber } from '../folds/format.ts';
import type { Domain, LevelRow } from '../folds/improvement.ts';
import { countAxis, valueAxis } from './axes.ts';
import { ChartTooltip, type TooltipLine } from './ChartTooltip.tsx';
import classes from './charts.module.css';
import { CROSS, Marks } from './Marks.tsx';
import { CHART_HEIGHT, CHART_MARGIN, FEW, strokeOf, styles } from './series.ts';

interface LevelChartProps {
  readonly rows: readonly LevelRow[];
  readonly domain: Domain;
  readonly agentName: (agent: number) => string;
}

export const LevelChart = memo(function LevelChart({ rows, domain, agentName }: LevelChartProps) {
  // A line of one point would not be seen.
  const dot = rows.length <= FEW ? { r: 2 } : false;
  const rejected = rows.flatMap(({ update, rejected: J }) =>
    J === null ? [] : [{ x: update, y: J, path: CROSS }],
  );
  return (
    <div className={classes.plot}>
      <ResponsiveContainer width="100%" height={CHART_HEIGHT}>
        <ComposedChart data={rows} margin={CHART_MARGIN} title="J over agent updates">
          <CartesianGrid stroke="var(--c-grid)" vertical={false} />
          <XAxis
            dataKey="update"
            {...countAxis('agent update', rows[0]?.update ?? 0, rows.at(-1)?.update ?? 1)}
          />
          <YAxis {...valueAxis('J (return)', domain)} />
          <Tooltip
            isAnimationActive={false}
            content={({ active, payload }) => {
              const row: unknown = payload?.[0]?.payload;
              return active && isLevelRow(row) ? <LevelTooltip row={row} agentName={agentName} /> : null;
            }}
          />
          <Area
            dataKey="interval"
            isAnimationActive={false}
            stroke="none"
            fill="var(--c-J)"
            fillOpacity={0.18}
            connectNulls={false}
            activeDot={false}
          />
          <Line dataKey="J" isAnimationActive={false} dot={dot} strokeWidth={3} {...strokeOf(styles.J)} />
          <Line
            dataKey="paper"
            isAnimationActive={false}
            dot={dot}
            strokeWidth={2}
            {...strokeOf(styles.paper)}
          />
          <Line
            dataKey="best"
            isAnimationActive={false}
            dot={dot}
            strokeWidth={2}
            {...strokeOf(styles.best)}
          />
          <Marks marks={rejected} color="var(--c-bad)" filled={false} />
        </ComposedChart>
      </ResponsiveContainer>
    </div>
  );
});

function isLevelRow(row: unknown): row is LevelRow {
  return typeof row === 'object' && row !== null && 'update' in row && 'paper' in row;
}

function LevelTooltip({
  row,
  agentName,
}: {
  readonly row: LevelRow;
  readonly agentName: (agent: number) => string;
}) {
  const { point } = row;
  if (point === null) {
    return <ChartTooltip title="Start of the run" lines={[{ metric: 'J', value: formatNumber(row.J) }]} />;
  }
  const lines: TooltipLine[] = [
    { metric: 'J', value: `${formatNumber(row.J)} (${formatChange(point.dJ)})` },
    { metric: 'best', label: `Best: ${metrics[point.best].label}`, value: formatNumber(row.best) },
    { metric: 'paper', value: formatNumber(row.paper) },
  ];
  return (
    <ChartTooltip
      title={updateTitle(point.update, point.stage, agentName(point.agent), point.reason)}
      lines={lines}
    />
  );
}

/** `Update 7 · stage 3 · Agent A · rejected`. */
export function updateTitle(update: number, stage: number, agent: string, reason: string): string {
  const outcome =
    reason === 'accepted' ? 'accepted' : reason === 'noSignal' ? 'nothing to learn' : 'rejected';
  return `Update ${update} · stage ${stage + 1} · ${agent} · ${outcome}`;
}
