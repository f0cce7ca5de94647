import type { ReactNode } from 'react';
import { type MetricName, metrics } from '../../runs/metrics.ts';
import classes from './charts.module.css';

export interface TooltipLine {
  readonly metric: MetricName;
  /** Instead of the metric's own label. */
  readonly label?: string | undefined;
  readonly value: string;
}

interface ChartTooltipProps {
  readonly title: string;
  readonly lines: readonly TooltipLine[];
  readonly children?: ReactNode;
}

/** Values under the pointer, each with its one-line meaning from the table of metrics. */
export function ChartTooltip({ title, lines, children }: ChartTooltipProps) {
  return (
    <div className={classes.tooltip}>
      <strong>{title}</strong>
      {children}
      <dl>
        {lines.map(({ metric, label, value }) => (
          <div key={label ?? metric}>
            <dt>
              <span>{label ?? metrics[metric].label}</span>
              <span>{value}</span>
            </dt>
            <dd>{metrics[metric].meaning}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
