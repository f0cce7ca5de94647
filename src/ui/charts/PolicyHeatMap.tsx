import { useElementSize } from '@mantine/hooks';
import { memo } from 'react';
import { formatChange, formatNumber } from '../folds/format.ts';
import type { PolicyRow } from '../folds/policy.ts';
import classes from './charts.module.css';

interface PolicyHeatMapProps {
  readonly actions: readonly string[];
  readonly rows: readonly PolicyRow[];
  readonly shown: 'change' | 'before' | 'after';
}

/** Cells shrink with the page, within these widths; long action names widen them. */
const CELL_WIDTH = { least: 8, most: 28 };
/** px of an average character of a label. */
const CHARACTER = 7.5;
const CELL_HEIGHT = 16;
const HEAD = 20;

/** States down, actions across; darker is likelier. In the view of changes, + and − are written where it matters. */
export const PolicyHeatMap = memo(function PolicyHeatMap({ actions, rows, shown }: PolicyHeatMapProps) {
  const { ref, width } = useElementSize();
  const labelWidth = width < 500 ? 84 : 130;
  const longest = Math.max(...actions.map((action) => action.length));
  const most = Math.max(CELL_WIDTH.most, (longest + 1) * CHARACTER);
  const cell = Math.min(most, Math.max(CELL_WIDTH.least, (width - labelWidth) / actions.length));
  const height = HEAD + rows.length * CELL_HEIGHT;
  return (
    <div ref={ref} className={classes.plot} style={{ minBlockSize: height }}>
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="img"
          aria-label={`Heat map of ${shown}: states down, actions across`}
        >
          {actions.map((action, a) => (
            <text key={action} x={labelWidth + (a + 0.5) * cell} y={HEAD - 6} textAnchor="middle">
              {action}
            </text>
          ))}
          {rows.map((row, s) => (
            <g key={row.state} transform={`translate(0 ${HEAD + s * CELL_HEIGHT})`}>
              <text x={labelWidth - 6} y={CELL_HEIGHT - 4} textAnchor="end">
                {ending(row.state, Math.floor(labelWidth / CHARACTER))}
              </text>
              {actions.map((action, a) => (
                <g key={action} transform={`translate(${labelWidth + a * cell} 0)`}>
                  <Cell row={row} action={action} at={a} shown={shown} width={cell} />
                </g>
              ))}
            </g>
          ))}
        </svg>
      )}
    </div>
  );
});

/** The last `length` characters: contexts share their beginning, so the end says most. */
function ending(label: string, length: number): string {
  return label.length > length ? `…${label.slice(1 - length)}` : label;
}

interface CellProps {
  readonly row: PolicyRow;
  readonly action: string;
  readonly at: number;
  readonly shown: PolicyHeatMapProps['shown'];
  /** px */
  readonly width: number;
}

function Cell({ row, action, at, shown, width }: CellProps) {
  const [before, after] = [row.before[at]!, row.after[at]!];
  const change = after - before;
  const strength =
    shown === 'change' ? Math.min(1, 4 * Math.abs(change)) : shown === 'before' ? before : after;
  const color = shown !== 'change' || change >= 0 ? 'var(--c-plus)' : 'var(--c-minus)';
  return (
    <>
      <title>{`${row.state} · ${action}: ${formatNumber(before)} → ${formatNumber(after)} (${formatChange(change)})`}</title>
      <rect
        width={width - 1}
        height={CELL_HEIGHT - 1}
        fill={color}
        fillOpacity={strength}
        stroke="var(--c-grid)"
        strokeWidth="0.5"
      />
      {shown === 'change' && Math.abs(change) >= 0.02 && (
        <text x={width / 2} y={CELL_HEIGHT - 4} textAnchor="middle">
          {change > 0 ? '+' : '−'}
        </text>
      )}
    </>
  );
}
