import { memo } from 'react';
import type { SatEvent } from '../../runs/events.ts';
import { useAgentName } from '../charts/useAgentName.ts';
import { useApp } from '../store.ts';
import classes from './algorithm.module.css';
import { happened } from './happened.ts';
import { algorithmLines, type Line } from './lines.ts';

/** Algorithm 1 with the line lit on which the run stands at the cursor, and what just happened there in numbers. */
export function AlgorithmPanel() {
  const event = useApp((state): SatEvent | undefined => state.events[state.cursor]);
  const scheme = useApp((state) => state.config?.sat.scheme);
  const agentName = useAgentName();
  const lit = event === undefined || event.kind === 'warmStart' ? undefined : event.line;
  const note = event === undefined ? undefined : happened(event, agentName, scheme);
  return (
    <section aria-labelledby="algorithm-title" className={classes.panel}>
      <h2 id="algorithm-title" className={classes.title}>
        Algorithm 1
      </h2>
      {scheme === 'simultaneous' && (
        <p className={classes.before}>
          Scheme simultaneous: 2a and 2b are skipped in effect. Every agent is judged under π_cur, as if none
          before it had moved.
        </p>
      )}
      {lit === undefined && (
        <p className={classes.before}>{note ?? 'Press Step: the line that runs lights up here.'}</p>
      )}
      <ol className={classes.lines}>
        {algorithmLines.map((line) => (
          <AlgorithmRow
            key={line.key}
            line={line}
            note={line.key === lit ? note : undefined}
            loop={line.key === 'intermediate'}
          />
        ))}
      </ol>
    </section>
  );
}

interface AlgorithmRowProps {
  readonly line: Line;
  /** Present on the lit line. */
  readonly note: string | undefined;
  /** The loop over agents starts here. */
  readonly loop: boolean;
}

const AlgorithmRow = memo(function AlgorithmRow({ line, note, loop }: AlgorithmRowProps) {
  const lit = note !== undefined;
  return (
    <li
      className={classes.line}
      data-depth={line.depth}
      data-lit={lit || undefined}
      data-testid={`algorithm-line-${line.key}`}
      aria-current={lit ? 'step' : undefined}
    >
      {loop && <p className={classes.loop}>for i = 1 … n, agent j = σ(i):</p>}
      <div className={classes.row}>
        <span className={classes.number} aria-hidden="true">
          {lit ? '▶' : ''} {line.number}
        </span>
        <div className={classes.text}>
          <p className={classes.heading}>
            <span className={classes.words}>{line.title}</span>{' '}
            <code className={classes.symbols}>{line.symbols}</code>
          </p>
          <p className={classes.explanation}>{line.explanation}</p>
          {lit && (
            <p className={classes.note} data-testid="algorithm-note">
              {note}
            </p>
          )}
        </div>
      </div>
    </li>
  );
});
