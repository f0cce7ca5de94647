/**
 * Config is data: one `Option` holds everything that the schema, the knobs, the documentation and error messages say
 * about a config key. See docs/decisions.md.
 */
import { z } from 'zod';

interface OptionBase {
  /** Config key, camelCase. */
  readonly key: string;
  /** Short label for a knob, e.g. `Radius δ`. */
  readonly label: string;
  /** What it does, in one line. */
  readonly meaning: string;
  /** Unit for axes and knobs, e.g. `nats`; absent = dimensionless. */
  readonly unit?: string;
  /** Where the default comes from: a paper section, or `heuristic`. */
  readonly source?: string;
  /** Main knobs are shown at once; the rest sit behind "advanced". */
  readonly main?: boolean;
}

export interface NumberOption extends OptionBase {
  readonly kind: 'number' | 'integer';
  readonly default: number;
  readonly min: number;
  readonly max: number;
  /** The bound itself is not allowed, e.g. epsilon < 1. */
  readonly exclusiveMin?: boolean;
  readonly exclusiveMax?: boolean;
  /** Sliders for it are logarithmic. */
  readonly log?: boolean;
}

export interface EnumOption extends OptionBase {
  readonly kind: 'enum';
  readonly default: string;
  readonly values: readonly { readonly value: string; readonly meaning: string }[];
}

export interface BooleanOption extends OptionBase {
  readonly kind: 'boolean';
  readonly default: boolean;
}

export type Option = NumberOption | EnumOption | BooleanOption;

/** The range of a number option in words, e.g. `a number above 0 and below 1`. */
export function allowedRange(option: Option): string {
  switch (option.kind) {
    case 'boolean':
      return 'true or false';
    case 'enum':
      return `one of ${option.values.map((v) => v.value).join(', ')}`;
    default: {
      const what = option.kind === 'integer' ? 'a whole number' : 'a number';
      const low = option.exclusiveMin ? `above ${option.min}` : `from ${option.min}`;
      const high = option.exclusiveMax
        ? `below ${option.max}`
        : `${option.exclusiveMin ? 'up to' : 'to'} ${option.max}`;
      return `${what} ${low} ${option.exclusiveMin && option.exclusiveMax ? 'and ' : ''}${high}`;
    }
  }
}

/** The schema of one option, its default included. */
export function optionSchema(option: Option): z.ZodType {
  const error = `allowed: ${allowedRange(option)}`;
  switch (option.kind) {
    case 'boolean':
      return z.boolean({ error }).default(option.default);
    case 'enum':
      return z
        .enum(
          option.values.map((v) => v.value),
          { error },
        )
        .default(option.default);
    default: {
      let schema = z.number({ error });
      if (option.kind === 'integer') schema = schema.int({ error });
      schema = option.exclusiveMin ? schema.gt(option.min, { error }) : schema.min(option.min, { error });
      schema = option.exclusiveMax ? schema.lt(option.max, { error }) : schema.max(option.max, { error });
      return schema.default(option.default);
    }
  }
}
