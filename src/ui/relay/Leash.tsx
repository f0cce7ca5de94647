import type { CSSProperties } from 'react';
import { type Lane, leashOf } from '../folds/relay.ts';
import classes from './relay.module.css';

/** Where δ stands on the track, in per cent of its width; beyond it there is room to overshoot. */
const FENCE = 70;
const END = 97;
/** The track's own units: 100 wide, 24 high. */
const MIDDLE = 12;

/** The leash of one lane: a post at π_cur, a fence at δ, and a rope to where the agent stands. Decoration: words say it too. */
export function Leash({ lane }: { readonly lane: Lane }) {
  const leash = leashOf(lane);
  const ratio = lane.stretch === undefined ? 0 : lane.stretch.kl / lane.delta;
  const at = Math.min(END, Math.max(2, ratio * FENCE));
  return (
    <div className={classes.track} data-leash={leash} aria-hidden="true">
      <svg className={classes.rope} viewBox="0 0 100 24" preserveAspectRatio="none" focusable="false">
        <title>leash</title>
        <path d={ropePath(leash, at)} vectorEffect="non-scaling-stroke" />
      </svg>
      <span className={classes.post} />
      <span className={classes.fence} style={{ '--at': `${FENCE}%` } as CSSProperties}>
        <span className={classes.fenceLabel}>δ</span>
      </span>
      <span className={classes.end} style={{ '--at': `${at}%` } as CSSProperties} />
      {ratio * FENCE > END && <span className={classes.beyond}>»</span>}
    </div>
  );
}

/** A sagging curve, a straight line, or two torn ends with a gap between them. */
function ropePath(leash: ReturnType<typeof leashOf>, at: number): string {
  if (leash === 'none') return '';
  if (leash === 'slack') return `M0 ${MIDDLE} Q${at / 2} ${MIDDLE + Math.min(18, at)} ${at} ${MIDDLE}`;
  if (leash === 'taut') return `M0 ${MIDDLE} L${at} ${MIDDLE}`;
  const [left, right] = [at * 0.42, at * 0.58];
  return `M0 ${MIDDLE} L${left} ${MIDDLE} l1.5 6 M${right - 1.5} 6 L${right} ${MIDDLE} L${at} ${MIDDLE}`;
}
