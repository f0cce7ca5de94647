import { memo } from 'react';
import { formatNumber } from '../folds/format.ts';
import type { PolicyTable } from '../folds/policy.ts';
import classes from './charts.module.css';
import { Legend } from './Legend.tsx';

/** Paired bars per action: hatched before, solid after. */
export const PolicyBars = memo(function PolicyBars({ table }: { readonly table: PolicyTable }) {
  return (
    <>
      <div className={classes.states}>
        {table.rows.map(({ state, before, after }) => (
          <div key={state} className={classes.state}>
            <h4>{state}</h4>
            <div className={classes.bars}>
              {table.actions.map((action, a) => (
                <BarRow key={action} action={action} before={before[a]!} after={after[a]!} />
              ))}
            </div>
          </div>
        ))}
      </div>
      <Legend
        entries={[
          { key: 'before', label: 'before (hatched)', color: 'var(--c-L)', mark: '▨', line: false },
          {
            key: 'after',
            label: 'after (solid), full width = probability 1',
            color: 'var(--c-J)',
            mark: '■',
            line: false,
          },
        ]}
      />
    </>
  );
});

interface BarRowProps {
  readonly action: string;
  readonly before: number;
  readonly after: number;
}

function BarRow({ action, before, after }: BarRowProps) {
  return (
    <>
      <span>{action}</span>
      <span className={classes.pair} aria-hidden="true">
        <span className={classes.bar} data-when="before" style={{ inlineSize: `${100 * before}%` }} />
        <span className={classes.bar} data-when="after" style={{ inlineSize: `${100 * after}%` }} />
      </span>
      <span>
        {formatNumber(before)} → {formatNumber(after)}
      </span>
    </>
  );
}
