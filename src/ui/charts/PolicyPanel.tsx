import { SegmentedControl, Switch } from '@mantine/core';
import { memo, useMemo, useState } from 'react';
import type { Artifact, PromoteEvent } from '../../runs/events.ts';
import { counted, formatChange, formatNumber } from '../folds/format.ts';
import { mostMoved, type PolicyTable, policyTable } from '../folds/policy.ts';
import { ChartFrame, EmptyChart } from './ChartFrame.tsx';
import classes from './charts.module.css';
import { PolicyBars } from './PolicyBars.tsx';
import { PolicyHeatMap } from './PolicyHeatMap.tsx';

interface PolicyPanelProps {
  readonly promote: PromoteEvent | undefined;
  readonly artifact: Artifact | undefined;
  readonly agent: string;
}

/** Above these, bars become too many and a heat map takes their place. */
const BAR_STATES = 8;
const BAR_ACTIONS = 8;
/** Rows of the heat map at first. */
const SOME_STATES = 16;

/** An agent's action distributions before and after its update. */
function PolicyPanel({ promote, artifact, agent }: PolicyPanelProps) {
  const policy = artifact?.kind === 'policy' ? artifact : undefined;
  const table = useMemo(() => (policy === undefined ? undefined : policyTable(policy)), [policy]);
  if (promote === undefined) {
    return <EmptyChart>No agent has finished an update yet. Press Next agent to see one change.</EmptyChart>;
  }
  if (table === undefined) {
    return (
      <EmptyChart>
        These distributions are loading, or the run has dropped them; step on to see new ones.
      </EmptyChart>
    );
  }
  const outcome = promote.accepted ? 'accepted' : 'kept its policy';
  return (
    <ChartFrame
      title={`Policy of ${agent}, stage ${promote.stage + 1}: ${outcome}`}
      summary={summaryOf(table)}
    >
      {table.rows.length <= BAR_STATES && table.actions.length <= BAR_ACTIONS ? (
        <PolicyBars table={table} />
      ) : (
        <HeatMaps table={table} />
      )}
    </ChartFrame>
  );
}

type Shown = 'change' | 'before' | 'after';

function HeatMaps({ table }: { readonly table: PolicyTable }) {
  const [shown, setShown] = useState<Shown>('after');
  const [all, setAll] = useState(false);
  const rows = useMemo(() => (all ? table.rows : mostMoved(table.rows, SOME_STATES)), [all, table]);
  return (
    <>
      <div className={classes.controls}>
        <SegmentedControl<Shown>
          size="xs"
          value={shown}
          onChange={setShown}
          aria-label="Which distribution"
          data={[
            { value: 'before', label: 'Before' },
            { value: 'after', label: 'After' },
            { value: 'change', label: 'Change' },
          ]}
        />
        {table.rows.length > SOME_STATES && (
          <Switch
            size="xs"
            checked={all}
            onChange={(event) => setAll(event.currentTarget.checked)}
            label={`All ${table.rows.length} states, not only the ${SOME_STATES} that moved most`}
          />
        )}
      </div>
      <PolicyHeatMap actions={table.actions} rows={rows} shown={shown} />
    </>
  );
}

function summaryOf({ rows, hidden, largest }: PolicyTable): string {
  const left = hidden > 0 ? ` ${hidden} actions that moved least are left out.` : '';
  if (largest === null || largest.before === largest.after) {
    return `${counted(rows.length, 'state')}. Nothing changed: before and after are equal.${left}`;
  }
  const { state, action, before, after } = largest;
  return `${counted(rows.length, 'state')}. Largest move: “${action}” at “${state}”, ${formatNumber(before)} → ${formatNumber(after)} (${formatChange(after - before)}).${left}`;
}

export default memo(PolicyPanel);
