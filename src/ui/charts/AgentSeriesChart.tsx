import { memo } from 'react';
import { CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { formatNumber } from '../folds/format.ts';
import type { RegionRow } from '../folds/regions.ts';
import type { RegionPoint } from '../folds/runFold.ts';
import { agentStyle, markPath } from './agentStyle.ts';
import { countAxis, decadeAxis, valueAxis } from './axes.ts';
import { ChartTooltip, type TooltipLine } from './ChartTooltip.tsx';
import classes from './charts.module.css';
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

const units = { quantile: 'nats', beta: 'β, per nat' } as const;

/** One line an agent over stages, its shape on every point; ✕ where the update was rejected. */
export const AgentSeriesChart = memo(function AgentSeriesChart(props: AgentSeriesChartProps) {
  const { rows, agents, agentName, quantity, top } = props;
  const each = Array.from({ length: agents }, (_, agent) => agent);
  const few = rows.length <= 60;
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
          {quantity === 'quantile' &&
            each.map((agent) => (
              <Line
                key={`delta-${agent}`}
                dataKey={(row: RegionRow) => row.cells[agent]?.delta ?? null}
                name={`delta ${agent}`}
                isAnimationActive={false}
                type="stepAfter"
                dot={rows.length === 1}
                activeDot={false}
                stroke="var(--c-bad)"
                strokeWidth={1.5}
                connectNulls
              />
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
              dot={(dot: DotProps) => (
                <RegionMark
                  key={`${agent}-${dot.index}`}
                  dot={dot}
                  agent={agent}
                  quantity={quantity}
                  few={few}
                  top={top}
                />
              )}
            />
          ))}
        </LineChart>
      </ResponsiveContainer>
    </div>
  );
});

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

interface DotProps {
  readonly cx?: number;
  readonly cy?: number;
  readonly index?: number;
  readonly payload?: unknown;
}

interface RegionMarkProps {
  readonly dot: DotProps;
  readonly agent: number;
  readonly quantity: 'quantile' | 'beta';
  readonly few: boolean;
  readonly top: number | undefined;
}

/** The agent's shape; ✕ if rejected, ▲ if the value lies above the axis. Long series keep only what stands out. */
function RegionMark({ dot: { cx, cy, payload }, agent, quantity, few, top }: RegionMarkProps) {
  const cell = isRow(payload) ? payload.cells[agent] : null;
  if (cx === undefined || cy === undefined || Number.isNaN(cy) || cell == null) return <g />;
  const { color } = agentStyle(agent);
  const at = `translate(${cx} ${cy})`;
  if (quantity === 'quantile' && !cell.accepted && cell.quantile !== null) {
    const above = top !== undefined && cell.quantile > top;
    return (
      <path
        d={above ? 'M0 -4l4.5 8h-9zM-4 7l8 8m0 -8l-8 8' : 'M-4 -4l8 8m0 -8l-8 8'}
        transform={at}
        stroke={color}
        strokeWidth="2"
        fill={above ? color : 'none'}
      />
    );
  }
  return few ? (
    <path d={markPath(agent)} transform={at} fill={color} stroke="var(--mantine-color-body)" />
  ) : (
    <g />
  );
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
