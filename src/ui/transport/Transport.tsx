import { Button, NativeSelect, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { useEffect } from 'react';
import { AgentIcon, PauseIcon, ResetIcon, RunIcon, StageIcon, StepIcon } from '../icons.tsx';
import { useApp } from '../store.ts';
import { keys, onShortcut } from './shortcuts.ts';
import { Timeline } from './Timeline.tsx';
import classes from './transport.module.css';

/** Moves the run: one micro-step, one agent, one stage, all of it; pause and reset; and the timeline. */
export function Transport() {
  const running = useApp((state) => state.status === 'running');
  const pausing = useApp((state) => state.pausing);
  const canGo = useApp((state) => state.status === 'idle');
  const hasRun = useApp((state) => state.config !== undefined || state.status === 'failed');
  const go = useApp((state) => state.go);
  const pause = useApp((state) => state.pause);
  const reset = useApp((state) => state.reset);
  useEffect(() => {
    window.addEventListener('keydown', onShortcut);
    return () => window.removeEventListener('keydown', onShortcut);
  }, []);
  return (
    <footer className={classes.transport}>
      <Timeline />
      <div className={classes.buttons} role="toolbar" aria-label="Transport">
        <Control
          name="Reset"
          short="Reset"
          hint="Start this config again"
          icon={<ResetIcon />}
          enabled={hasRun}
          onClick={reset}
          shortcut={keys.reset}
        />
        <Control
          name="Step"
          short="Step"
          hint="One micro-step of Algorithm 1"
          icon={<StepIcon />}
          enabled={canGo}
          onClick={() => go('event')}
          shortcut={keys.step}
        />
        <Control
          name="Next agent"
          short="Agent"
          hint="Until one agent is updated and certified"
          icon={<AgentIcon />}
          enabled={canGo}
          onClick={() => go('agent')}
          shortcut={keys.agent}
        />
        <Control
          name="Run stage"
          short="Stage"
          hint="Until every agent of the stage has had its turn"
          icon={<StageIcon />}
          enabled={canGo}
          onClick={() => go('stage')}
          shortcut={keys.stage}
        />
        {running ? (
          <Control
            name={pausing ? 'Pausing' : 'Pause'}
            short={pausing ? 'Pausing' : 'Pause'}
            hint="Stop after the micro-step under way"
            icon={<PauseIcon />}
            enabled={!pausing}
            onClick={pause}
            shortcut={keys.run}
            primary
          />
        ) : (
          <Control
            name="Run"
            short="Run"
            hint="All stages, until paused"
            icon={<RunIcon />}
            enabled={canGo}
            onClick={() => go('end')}
            shortcut={keys.run}
            primary
          />
        )}
        <Pace />
      </div>
    </footer>
  );
}

interface ControlProps {
  readonly name: string;
  /** Label where there is little room. */
  readonly short: string;
  readonly hint: string;
  readonly icon: ReactNode;
  readonly enabled: boolean;
  readonly onClick: () => void;
  readonly shortcut: { readonly label: string; readonly aria: string };
  readonly primary?: true;
}

/** A transport button. It stays focusable while it cannot act, so that keyboard users keep their place. */
function Control({ name, short, hint, icon, enabled, onClick, shortcut, primary }: ControlProps) {
  return (
    <Tooltip label={`${hint} (${shortcut.label})`} openDelay={400}>
      <Button
        className={classes.button ?? ''}
        variant={primary ? 'filled' : 'default'}
        size="sm"
        leftSection={icon}
        aria-label={name}
        aria-keyshortcuts={shortcut.aria}
        aria-disabled={!enabled}
        {...(!enabled && { 'data-disabled': true })}
        onClick={() => {
          if (enabled) onClick();
        }}
      >
        <span className={classes.long}>{name}</span>
        <span className={classes.short}>{short}</span>
      </Button>
    </Tooltip>
  );
}

const paces = [
  { value: '0', label: 'Full speed' },
  { value: '100', label: '10 a second' },
  { value: '500', label: '2 a second' },
  { value: '2000', label: '1 in 2 s' },
];

/** How fast the run goes while someone watches. */
function Pace() {
  const pace = useApp((state) => state.pace);
  const setPace = useApp((state) => state.setPace);
  return (
    <NativeSelect
      className={classes.pace}
      aria-label="Speed, micro-steps"
      size="sm"
      data={paces}
      value={String(pace)}
      onChange={(event) => setPace(Number(event.currentTarget.value))}
    />
  );
}
