import type { z } from 'zod';

/** One thing wrong with a config. */
export interface ConfigIssue {
  /** Dotted path, e.g. `sat.delta`. */
  readonly field: string;
  readonly given: string;
  readonly allowed: string;
}

/** A config that cannot run. The message is one line that lists every issue. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly issues: readonly ConfigIssue[]) {
    super(
      issues.map((issue) => `${issue.field}: given ${issue.given}; allowed: ${issue.allowed}`).join(' | '),
    );
  }
}

/** Turns zod's issues into ours; `known` maps a section ('' = top level) to its keys, for suggestions. */
export function describeIssues(
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
  known: Readonly<Record<string, readonly string[]>>,
): ConfigIssue[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys') {
      const section = path.join('.');
      return issue.keys.map((key) => unknownKey(section, key, known[section] ?? []));
    }
    const value = path.reduce<unknown>(
      (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
      input,
    );
    const allowed = issue.message.replace(/^allowed: /, '');
    return [
      { field: path.join('.') || 'config', given: value === undefined ? 'nothing' : display(value), allowed },
    ];
  });
}

function display(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return JSON.stringify(value) ?? String(value);
}

function unknownKey(section: string, key: string, known: readonly string[]): ConfigIssue {
  const closest = known
    .map((candidate) => ({ candidate, distance: editDistance(key.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)[0];
  const close = closest !== undefined && closest.distance <= Math.max(2, Math.floor(key.length / 3));
  return {
    field: section === '' ? key : `${section}.${key}`,
    given: 'an unknown key',
    allowed: close
      ? `did you mean ${closest.candidate}? Keys here: ${known.join(', ')}`
      : `keys here: ${known.join(', ')}`,
  };
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(previous[j]! + 1, row[j - 1]! + 1, substitution));
    }
    previous = row;
  }
  return previous[b.length]!;
}
