import type { ReactNode } from 'react';
import { useId } from 'react';
import classes from './charts.module.css';

interface ChartFrameProps {
  readonly title: string;
  /** Where the numbers come from; shown as a label. */
  readonly quality?: 'exact' | 'estimated' | undefined;
  /** What the chart shows, in a sentence or two: the caption, and what a screen reader hears. */
  readonly summary: string;
  readonly children: ReactNode;
}

/** A chart with its title, its label `exact` or `estimated`, and its summary in words. */
export function ChartFrame({ title, quality, summary, children }: ChartFrameProps) {
  const id = useId();
  return (
    <figure className={classes.frame} aria-labelledby={`${id}-title`} aria-describedby={`${id}-summary`}>
      <div className={classes.head}>
        <h3 id={`${id}-title`} className={classes.title}>
          {title}
        </h3>
        {quality !== undefined && (
          <span className={classes.quality} data-quality={quality}>
            {quality === 'exact' ? 'exact' : 'estimated from samples'}
          </span>
        )}
      </div>
      {children}
      <figcaption id={`${id}-summary`} className={classes.caption}>
        {summary}
      </figcaption>
    </figure>
  );
}

/** In place of a chart that has nothing to show: what to do about it. */
export function EmptyChart({ children }: { readonly children: ReactNode }) {
  return <p className={classes.empty}>{children}</p>;
}
