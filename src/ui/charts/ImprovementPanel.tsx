import { SegmentedControl, Switch } from '@mantine/core';
import { memo, useMemo, useState } from 'react';
import { metrics } from '../../runs/metrics.ts';
import { counted, formatChange, formatNumber, formatShare } from '../folds/format.ts';
import { changeRows, domainOf, levelRows, vacuousBounds } from '../folds/improvement.ts';
import { boundNames, type UpdatePoint } from '../folds/runFold.ts';
import { ChangeChart } from './ChangeChart.tsx';
import { ChartFrame, EmptyChart } from './ChartFrame.tsx';
import classes from './charts.module.css';
import { Legend, type LegendEntry } from './Legend.tsx';
import { LevelChart } from './LevelChart.tsx';
import { styles } from './series.ts';

interface ImprovementPanelProps {
  readonly updates: readonly UpdatePoint[];
  /** The discount; undefined while no run is loaded. */
  readonly gamma: number | undefined;
  readonly agentName: (agent: number) => string;
}

/** J over agent updates against what was certified for each. */
function ImprovementPanel({ updates, gamma, agentName }: ImprovementPanelProps) {
  const [view, setView] = useState('level');
  const [whole, setWhole] = useState(false);
  const last = updates.at(-1);
  if (last === undefined) {
    return <EmptyChart>No agent has been updated yet. Press Next agent, or Run, to see J move.</EmptyChart>;
  }
  return (
    <>
      <div className={classes.controls}>
        <SegmentedControl
          size="xs"
          value={view}
          onChange={setView}
          aria-label="What the chart shows"
          data={[
            { value: 'level', label: 'Level of J' },
            { value: 'change', label: 'Change per update' },
          ]}
        />
        <Switch
          size="xs"
          checked={whole}
          onChange={(event) => setWhole(event.currentTarget.checked)}
          label="Whole range"
        />
      </div>
      <VacuousNotes updates={updates} gamma={gamma} />
      {view === 'level' ? (
        <LevelView updates={updates} last={last} whole={whole} agentName={agentName} />
      ) : (
        <ChangeView updates={updates} last={last} whole={whole} agentName={agentName} />
      )}
    </>
  );
}

function VacuousNotes({ updates, gamma }: Pick<ImprovementPanelProps, 'updates' | 'gamma'>) {
  const vacuous = vacuousBounds(updates);
  if (vacuous.length === 0) return null;
  return (
    <p className={classes.warning} data-testid="vacuous-note">
      {vacuous.map((name) => metrics[name].label).join(', ')}: vacuous at γ = {formatNumber(gamma)}: can never
      be positive.
    </p>
  );
}

interface ViewProps {
  readonly updates: readonly UpdatePoint[];
  readonly last: UpdatePoint;
  readonly whole: boolean;
  readonly agentName: (agent: number) => string;
}

function LevelView({ updates, last, whole, agentName }: ViewProps) {
  const rows = useMemo(() => levelRows(updates), [updates]);
  const domain = useMemo(
    () =>
      domainOf(
        rows.flatMap((row) => [row.J, ...(row.interval ?? [])]),
        rows.flatMap((row) => [row.best, row.paper]),
        whole,
      ),
    [rows, whole],
  );
  const entries: LegendEntry[] = [
    { key: 'J', label: 'J', ...styles.J, value: formatNumber(last.J) },
    {
      key: 'best',
      label: last.quality === 'exact' ? 'best proved bound' : 'best bound, estimated',
      ...styles.best,
      value: formatNumber(last.bestLevel),
    },
    { key: 'paper', label: 'paper’s bound', ...styles.paper, value: formatNumber(last.paperLevel) },
    { key: 'rejected', label: 'rejected update', color: 'var(--c-bad)', mark: '✕', line: false },
  ];
  return (
    <ChartFrame
      title="J and what was certified"
      quality={last.quality}
      summary={levelSummary(updates, last, domain.low)}
    >
      <LevelChart rows={rows} domain={domain} agentName={agentName} />
      <Legend entries={entries} />
    </ChartFrame>
  );
}

function levelSummary(updates: readonly UpdatePoint[], last: UpdatePoint, bottom: number): string {
  const rejected = updates.filter((point) => !point.accepted).length;
  const first = updates[0]!;
  const start = first.J === null || first.dJ === null ? null : first.J - first.dJ;
  const below =
    last.paperLevel !== null && last.paperLevel < bottom ? ' The paper’s bound lies below the axis.' : '';
  return `After ${counted(updates.length, 'agent update')} J went from ${formatNumber(start)} to ${formatNumber(last.J)}; ${rejected} rejected (✕). Dashed lines: J before an update plus a lower bound on its change. Best for the last update: ${metrics[last.best].label}.${below}`;
}

function ChangeView({ updates, last, whole, agentName }: ViewProps) {
  const rows = useMemo(() => changeRows(updates), [updates]);
  const domain = useMemo(
    () =>
      domainOf(
        [0, ...rows.flatMap((row) => [row.dJ, row.L])],
        rows.flatMap((row) => boundNames.map((name) => row.bounds[name])),
        whole,
      ),
    [rows, whole],
  );
  const entries: LegendEntry[] = [
    { key: 'dJ', label: 'change in J', ...styles.J, value: formatChange(last.dJ) },
    { key: 'L', label: 'surrogate L', ...styles.L, value: formatChange(last.L) },
    ...boundNames.map((name) => ({
      key: name,
      label: `${metrics[name].label}${name === last.best ? ' (best)' : ''}`,
      ...styles[name],
      value: formatChange(last.bounds[name]),
    })),
    { key: 'rejected', label: 'rejected update', color: 'var(--c-bad)', mark: '✕', line: false },
  ];
  return (
    <ChartFrame
      title="Change in J per update, and its lower bounds"
      quality={last.quality}
      summary={changeSummary(updates, last, domain.low)}
    >
      <ChangeChart rows={rows} domain={domain} agentName={agentName} />
      <Legend entries={entries} />
    </ChartFrame>
  );
}

function changeSummary(updates: readonly UpdatePoint[], last: UpdatePoint, bottom: number): string {
  const promised = updates.filter((point) => point.accepted && (point.bounds[point.best] ?? 0) > 0).length;
  const below = boundNames
    .filter((name) => (last.bounds[name] ?? bottom) < bottom)
    .map((name) => metrics[name].label);
  return `A valid bound stays at or below the change in J. The best bound promised a gain in ${promised} of ${counted(updates.length, 'update')} (${formatShare(promised / updates.length)}).${below.length > 0 ? ` Below the axis at the last update: ${below.join(', ')}.` : ''}`;
}

export default memo(ImprovementPanel);
