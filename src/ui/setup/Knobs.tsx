import { Button } from '@mantine/core';
import { useMemo } from 'react';
import { type ConfigField, configFields } from '../draft.ts';
import { useApp } from '../store.ts';
import { Knob } from './Knob.tsx';
import classes from './setup.module.css';

const sections: readonly { readonly section: ConfigField['section']; readonly title: string }[] = [
  { section: 'task', title: 'Task' },
  { section: 'run', title: 'Run' },
  { section: 'sat', title: 'Algorithm' },
  { section: 'optimiser', title: 'Optimiser' },
  { section: 'team', title: 'Agents' },
  { section: 'warmStart', title: 'Warm start' },
  { section: 'evaluation', title: 'Evaluation' },
];

/** Every option of the config as a knob: the main ones at once, the rest behind "Advanced". */
export function Knobs() {
  const task = useApp((state) => state.task);
  const fields = useMemo(() => (task === undefined ? [] : configFields(task.options)), [task]);
  if (task === undefined) return null;
  const main = fields.filter(({ option }) => option.main);
  const advanced = fields.filter(({ option }) => !option.main);
  return (
    <section aria-labelledby="knobs-title">
      <h2 id="knobs-title" className={classes.title}>
        Knobs
      </h2>
      <p className={classes.hint}>Changes wait for Apply, which starts the run again with them.</p>
      <Sections fields={main} />
      <details className={classes.advanced}>
        <summary>Advanced: {advanced.length} more</summary>
        <Sections fields={advanced} />
      </details>
      <EditBar />
    </section>
  );
}

function Sections({ fields }: { readonly fields: readonly ConfigField[] }) {
  return sections.map(({ section, title }) => {
    const own = fields.filter((field) => field.section === section);
    if (own.length === 0) return null;
    return (
      <fieldset key={section} className={classes.section}>
        <legend>{title}</legend>
        {own.map(({ field, option }) => (
          <Knob key={field} field={field} option={option} />
        ))}
      </fieldset>
    );
  });
}

/** Says what waits, and applies, undoes or drops it. */
function EditBar() {
  const count = useApp((state) => Object.keys(state.edits).length);
  const canUndo = useApp((state) => state.undoSteps.length > 0);
  const applyDraft = useApp((state) => state.applyDraft);
  const discardEdits = useApp((state) => state.discardEdits);
  const undo = useApp((state) => state.undo);
  if (count === 0 && !canUndo) return null;
  return (
    <div className={classes.editBar}>
      <p role="status" className={classes.editCount}>
        {count === 0 ? 'No changes' : `${count} ${count === 1 ? 'change' : 'changes'} not applied`}
      </p>
      <Button size="compact-sm" variant="default" onClick={undo} disabled={!canUndo}>
        Undo
      </Button>
      <Button size="compact-sm" variant="default" onClick={discardEdits} disabled={count === 0}>
        Discard
      </Button>
      <Button size="compact-sm" onClick={applyDraft} disabled={count === 0}>
        Apply and restart
      </Button>
    </div>
  );
}
