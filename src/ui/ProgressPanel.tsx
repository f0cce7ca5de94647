import { Progress } from '@mantine/core';
import type { SatEvent } from '../runs/events.ts';
import { formatNumber } from './folds/format.ts';
import classes from './progress.module.css';
import { useApp } from './store.ts';

interface Shown {
  readonly text: string;
  /** Per cent; undefined when the amount of work is not known. */
  readonly percent: number | undefined;
}

/** A bar for whatever takes long: building a team, fetching ONNX Runtime, the warm start. Short work never shows it. */
export function ProgressPanel() {
  const status = useApp((state) => state.status);
  const progress = useApp((state) => state.progress);
  const newest = useApp((state) => state.events[state.eventCount - 1]);
  const shown =
    status === 'running'
      ? warmStartProgress(newest)
      : status === 'loading' || status === 'preparing'
        ? {
            text: progress === undefined ? 'Starting the engine …' : `${capital(progress.what)} …`,
            percent: progress && progress.total > 0 ? (100 * progress.done) / progress.total : undefined,
          }
        : undefined;
  if (shown === undefined) return null;
  const { text, percent } = shown;
  return (
    <div className={classes.panel} role="status">
      <p className={classes.text}>{text}</p>
      <Progress
        value={percent ?? 100}
        animated={percent === undefined}
        striped={percent === undefined}
        aria-label={text}
        size="md"
      />
    </div>
  );
}

function warmStartProgress(event: SatEvent | undefined): Shown | undefined {
  if (event?.kind !== 'warmStart' || event.step === event.steps || event.kl <= event.targetKl)
    return undefined;
  return {
    text: `Warm start: step ${event.step} of at most ${event.steps}; ${formatNumber(event.kl)} nats a decision, done at ${formatNumber(event.targetKl)}`,
    percent: (100 * event.step) / event.steps,
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
