import { memo } from 'react';
import {
  CartesianGrid,
  Line,
  LineChart,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import { formatNumber } from '../folds/format.ts';
import type { RegionRow } from '../folds/regions.ts';
import type { RegionPoint } from '../folds/runFold.ts';
import { agentStyle, markPath } from './agentStyle.ts';
import { countAxis, decadeAxis, valueAxis } from './axes.ts';
import { ChartTooltip, type TooltipLine } from './ChartTooltip.tsx';
import classes from './charts.module.css';
import { ABOVE, CROSS, type Mark, Marks } from './Marks.tsx';
import { CHART_MARGIN } from './series.ts';

interface AgentSeriesChartProps {
  readonly rows: readonly RegionRow[];
  readonly agents: number;
  readonly agentName: (agent: number) => string;
  /** The KL quantile with its radius, or the KL penalty. */
  readonly quantity: 'quantile' | 'beta';
  /** Top of the axis; values above it are marked at the edge. Fitted if absent. */
  readonly top?: number;
}

/** Up to so many rows every point has its mark. */
const MANY = 60;

const units = { quantile: 'nats', beta: 'β, per nat' } as const;

/** One line an agent over stages, its shape on every point; ✕ where the update was rejected. */
export const AgentSeriesChart = memo(function AgentSeriesChart(props: AgentSeriesChartProps) {
  const { rows, agents, agentName, quantity, top } = props;
  const each = Array.from({ length: agents }, (_, agent) => agent);
  const radii = quantity === 'quantile' ? radiiOf(rows) : [];
  const marks = each.map((agent) => marksOf(rows, agent, quantity, top));
  const vertical = verticalAxis(rows, quantity, top);
  const readValue = (agent: number) => (row: RegionRow) => {
    const value = row.cells[agent]?.[quantity] ?? null;
    return value !== null && top !== undefined && value > top ? top : value;
  };
  return (
    <div className={classes.plot}>
      <ResponsiveContainer width="100%" height={200}>
        <LineChart data={rows} margin={CHART_MARGIN} title={`${units[quantity]} over stages, per agent`}>
          <CartesianGrid stroke="var(--c-grid)" vertical={false} />
          <XAxis dataKey="stage" {...countAxis('stage', rows[0]?.stage ?? 0, rows.at(-1)?.stage ?? 1)} />
          <YAxis {...vertical} />
          <Tooltip
            isAnimationActive={false}
            content={({ active, payload }) => {
              const row: unknown = payload?.[0]?.payload;
              return active && isRow(row) ? (
                <RegionTooltip row={row} agentName={agentName} quantity={quantity} />
              ) : null;
            }}
          />
          {radii.map((radius) => (
            <ReferenceLine key={radius} y={radius} stroke="var(--c-bad)" strokeWidth={1.5} />
          ))}
          {each.map((agent) => (
            <Line
              key={agent}
              dataKey={readValue(agent)}
              name={agentName(agent)}
              isAnimationActive={false}
              stroke={agentStyle(agent).color}
              strokeDasharray={agentStyle(agent).dash ?? 'none'}
              strokeWidth={1.75}
              activeDot={false}
              dot={false}
            />
          ))}
          {each.map((agent) => (
            <g key={`marks-${agent}`}>
              <Marks marks={marks[agent]!.shapes} color={agentStyle(agent).color} filled />
              <Marks marks={marks[agent]!.crosses} color={agentStyle(agent).color} filled={false} />
            </g>
          ))}
        </LineChart>
      </ResponsiveContainer>
    </div>
  );
});

/** The different radii: one for the whole team, or one an agent. They are fixed for the run. */
function radiiOf(rows: readonly RegionRow[]): readonly number[] {
  return [...new Set(rows.flatMap(({ cells }) => cells.flatMap((cell) => cell?.delta ?? [])))];
}

/** Radii add up from 0; β is multiplied, so it gets decades, unless it is 0 somewhere. */
function verticalAxis(rows: readonly RegionRow[], quantity: 'quantile' | 'beta', top: number | undefined) {
  const label = units[quantity];
  if (quantity === 'quantile') return valueAxis(label, { low: 0, high: top ?? 1 });
  let [low, high] = [Number.POSITIVE_INFINITY, 0];
  for (const { cells } of rows) {
    for (const cell of cells) {
      if (cell === null || cell.beta === null) continue;
      [low, high] = [Math.min(low, cell.beta), Math.max(high, cell.beta)];
    }
  }
  return low > 0 && high > 0
    ? decadeAxis(label, { low, high })
    : valueAxis(label, { low: 0, high: high || 1 });
}

/** The agent's shape at every point; ✕ if rejected, ▲ too if above the axis. Long series keep only what stands out. */
function marksOf(
  rows: readonly RegionRow[],
  agent: number,
  quantity: 'quantile' | 'beta',
  top: number | undefined,
): { readonly shapes: readonly Mark[]; readonly crosses: readonly Mark[] } {
  const shapes: Mark[] = [];
  const crosses: Mark[] = [];
  for (const { stage, cells } of rows) {
    const cell = cells[agent];
    const value = cell?.[quantity] ?? null;
    if (cell === undefined || cell === null || value === null) continue;
    const above = top !== undefined && value > top;
    const y = above ? top : value;
    if (quantity === 'quantile' && !cell.accepted) crosses.push({ x: stage, y, path: above ? ABOVE : CROSS });
    else if (rows.length <= MANY) shapes.push({ x: stage, y, path: markPath(agent) });
  }
  return { shapes, crosses };
}

function isRow(row: unknown): row is RegionRow {
  return typeof row === 'object' && row !== null && 'cells' in row;
}

interface RegionTooltipProps {
  readonly row: RegionRow;
  readonly agentName: (agent: number) => string;
  readonly quantity: 'quantile' | 'beta';
}

function RegionTooltip({ row, agentName, quantity }: RegionTooltipProps) {
  const cells = row.cells.filter((cell) => cell !== null);
  const lines = cells.map(
    (cell): TooltipLine => ({
      metric: quantity === 'beta' ? 'beta' : 'klQuantile',
      label: agentName(cell.agent),
      value: quantity === 'beta' ? `${formatNumber(cell.beta)} (${cell.betaWhy})` : quantileText(cell),
    }),
  );
  return <ChartTooltip title={`Stage ${row.stage}`} lines={lines} />;
}

function quantileText({ quantile, first, delta, attempts, accepted }: RegionPoint): string {
  if (quantile === null) return 'nothing proposed';
  const start = attempts > 1 ? `${formatNumber(first)} → ` : '';
  return `${start}${formatNumber(quantile)} nats, δ ${formatNumber(delta)}, ${accepted ? 'accepted' : 'rejected'}`;
}
