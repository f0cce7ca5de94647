import { Select } from '@mantine/core';
import { presets } from '../presets.ts';
import { useApp } from '../store.ts';
import { BackendBadge } from './BackendBadge.tsx';
import classes from './header.module.css';
import { OpenConfig } from './OpenConfig.tsx';
import { ThemeButton } from './ThemeButton.tsx';

const choices = presets.map(({ id, title }) => ({ value: id, label: title }));

export function Header() {
  const presetId = useApp((state) => state.presetId);
  const loadPreset = useApp((state) => state.loadPreset);
  return (
    <header className={classes.header}>
      <div className={classes.brand}>
        <h1 className={classes.name}>SAT Playground</h1>
        <p className={classes.subtitle}>Sequential Agent Tuning</p>
      </div>
      <Select
        className={classes.preset}
        aria-label="Preset"
        placeholder="A config of your own"
        data={choices}
        value={presetId ?? null}
        onChange={(id) => {
          if (id !== null) void loadPreset(id);
        }}
        allowDeselect={false}
        size="sm"
      />
      <OpenConfig />
      <BackendBadge />
      <ThemeButton />
    </header>
  );
}
