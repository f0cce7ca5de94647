import { ActionIcon, Button, Slider, Tooltip } from '@mantine/core';
import type { SatEvent } from '../../runs/events.ts';
import { useAgentName } from '../charts/useAgentName.ts';
import { describeEvent } from '../describeEvent.ts';
import { BackIcon, ForwardIcon } from '../icons.tsx';
import { useApp } from '../store.ts';
import { keys } from './shortcuts.ts';
import classes from './transport.module.css';

/** Where the run is, in words, and a slider back through everything that happened. */
export function Timeline() {
  const cursor = useApp((state) => state.cursor);
  const count = useApp((state) => state.eventCount);
  const following = useApp((state) => state.following);
  const event = useApp((state) => state.events[state.cursor]);
  const milliseconds = useApp((state) => state.milliseconds[state.cursor]);
  const stages = useApp((state) => state.config?.stages);
  const status = useApp((state) => state.status);
  const scrub = useApp((state) => state.scrub);
  const agentName = useAgentName();
  const words = event === undefined ? startingWords(status) : describeEvent(event, agentName);
  return (
    <div className={classes.timeline}>
      <div className={classes.caption}>
        <span className={classes.stage} data-testid="stage-counter">
          {stageText(event, stages)}
        </span>
        <p
          className={classes.words}
          aria-live={status === 'running' ? 'off' : 'polite'}
          data-testid="event-text"
        >
          {words}
        </p>
        {!following && (
          <Button size="compact-xs" variant="light" onClick={() => scrub(count - 1)}>
            Back to the newest
          </Button>
        )}
        <span className={classes.count}>
          {event !== undefined && (
            <>
              <span className={classes.time}>{formatMilliseconds(milliseconds)}</span> event {cursor + 1} of{' '}
              {count}
            </>
          )}
          {status === 'finished' && following && ' · finished'}
        </span>
      </div>
      <div className={classes.scrub}>
        <Tooltip label={`Event before (${keys.back.label})`}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label="Event before"
            aria-keyshortcuts={keys.back.aria}
            onClick={() => scrub(cursor - 1)}
          >
            <BackIcon />
          </ActionIcon>
        </Tooltip>
        <Slider
          className={classes.slider}
          size="sm"
          label={null}
          min={0}
          max={Math.max(1, count - 1)}
          value={Math.max(0, cursor)}
          onChange={scrub}
          disabled={count === 0}
          thumbLabel="Event shown"
          thumbValueText={`${cursor + 1} of ${count}: ${words}`}
        />
        <Tooltip label={`Event after (${keys.forward.label})`}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label="Event after"
            aria-keyshortcuts={keys.forward.aria}
            onClick={() => scrub(cursor + 1)}
          >
            <ForwardIcon />
          </ActionIcon>
        </Tooltip>
      </div>
    </div>
  );
}

function startingWords(status: string): string {
  if (status === 'loading' || status === 'preparing') return 'Getting the team ready …';
  return status === 'failed' ? 'There is no run. Choose a preset or press Reset.' : 'Press Step to begin.';
}

function stageText(event: SatEvent | undefined, stages: number | undefined): string {
  if (event?.kind === 'warmStart') return 'Warm start';
  if (stages === undefined) return '';
  return event === undefined ? `${stages} stages` : `Stage ${event.stage + 1} of ${stages}`;
}

function formatMilliseconds(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '';
  return milliseconds < 10 ? `${milliseconds.toFixed(1)} ms ·` : `${Math.round(milliseconds)} ms ·`;
}
