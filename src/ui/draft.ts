/** Knobs that have been turned but not applied: edits over the running config, by dotted path. */
import type { RunConfig } from '../runs/config.ts';
import type { Option } from '../runs/options.ts';
import { sectionOptions } from '../runs/sectionOptions.ts';

export type DraftValue = number | string | boolean;

/** Changed values by dotted path, e.g. `{ 'sat.delta': 0.1, seed: 3 }`. */
export type Edits = Readonly<Record<string, DraftValue>>;

/** A knob: where its value lies in the config, and everything known about it. */
export interface ConfigField {
  /** Dotted path. */
  readonly field: string;
  readonly section: 'task' | keyof typeof sectionOptions;
  readonly option: Option;
}

/** Every knob of a config, in the order of the option tables, its task's first. */
export function configFields(taskOptions: readonly Option[]): ConfigField[] {
  const of = (section: ConfigField['section'], options: readonly Option[]): ConfigField[] =>
    options.map((option) => ({
      field: section === 'run' ? option.key : `${section}.${option.key}`,
      section,
      option,
    }));
  return [
    ...of('task', taskOptions),
    ...of('run', sectionOptions.run),
    ...of('sat', sectionOptions.sat),
    ...of('optimiser', sectionOptions.optimiser),
    ...of('team', sectionOptions.team),
    ...of('warmStart', sectionOptions.warmStart),
    ...of('evaluation', sectionOptions.evaluation),
  ];
}

/** The value at a dotted path; undefined where there is none or it is no plain value. */
export function valueAt(config: object, field: string): DraftValue | undefined {
  const value = field
    .split('.')
    .reduce<unknown>(
      (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
      config,
    );
  return typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean'
    ? value
    : undefined;
}

/** The config with the edits in place, unchecked: the engine validates it. */
export function withEdits(config: RunConfig, edits: Edits): object {
  const copy: object = structuredClone(config);
  for (const [field, value] of Object.entries(edits)) {
    const path = field.split('.');
    const key = path.pop()!;
    const parent = path.reduce<unknown>(
      (at, step) => (typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined),
      copy,
    );
    if (typeof parent === 'object' && parent !== null) Reflect.set(parent, key, value);
  }
  return copy;
}

/** Edits plus one more; a value equal to the config's own is no edit. */
export function changed(config: RunConfig, edits: Edits, field: string, value: DraftValue): Edits {
  const { [field]: _, ...others } = edits;
  return Object.is(valueAt(config, field), value) ? others : { ...others, [field]: value };
}

/** The edits over `config` whose outcome has the knobs `fields` as `target` has them. */
export function editsTowards(config: RunConfig, target: object, fields: readonly ConfigField[]): Edits {
  let edits: Edits = {};
  for (const { field } of fields) {
    const value = valueAt(target, field);
    if (value !== undefined) edits = changed(config, edits, field, value);
  }
  return edits;
}
