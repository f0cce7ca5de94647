import classes from './charts.module.css';

export interface LegendEntry {
  readonly key: string;
  readonly label: string;
  /** CSS colour. */
  readonly color: string;
  /** SVG stroke-dasharray; solid if absent. */
  readonly dash?: string | undefined;
  /** A marker drawn on the sample, or alone if `line` is false. */
  readonly mark?: string | undefined;
  readonly line?: boolean | undefined;
  /** Newest value, as text. */
  readonly value?: string | undefined;
}

/** Line samples with names and newest values, as text beside the chart. */
export function Legend({ entries }: { readonly entries: readonly LegendEntry[] }) {
  return (
    <ul className={classes.legend}>
      {entries.map(({ key, label, color, dash, mark, line = true, value }) => (
        <li key={key} className={classes.legendItem}>
          <svg width="26" height="12" aria-hidden="true" focusable="false">
            <title>{label}</title>
            {line && (
              <line x1="0" y1="6" x2="26" y2="6" stroke={color} strokeWidth="2" strokeDasharray={dash} />
            )}
            {mark !== undefined && (
              <text x="13" y="10.5" textAnchor="middle" fontSize="12" fill={color}>
                {mark}
              </text>
            )}
          </svg>
          {label}
          {value !== undefined && <strong>{value}</strong>}
        </li>
      ))}
    </ul>
  );
}
