import type { z } from 'zod';

/** One thing wrong with a config. */
export interface ConfigIssue {
  /** Dotted path, e.g. `sat.delta`. */
  readonly field: string;
  readonly given: string;
  readonly allowed: string;
}

/** Longer texts are refused before they are parsed: real configs are a few hundred characters. */
export const MAX_CONFIG_CHARACTERS = 200_000;

/** So many unknown keys are listed; more say nothing new. */
const MAX_UNKNOWN_KEYS = 5;

/** Longest rendering of a given value in a message. */
const MAX_SHOWN = 120;

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
  const described = issues.flatMap((issue): ConfigIssue[] => {
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys') {
      const section = path.join('.');
      return issue.keys
        .slice(0, MAX_UNKNOWN_KEYS)
        .map((key) => unknownKey(section, key, known[section] ?? []));
    }
    const value = path.reduce<unknown>(
      (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
      input,
    );
    const allowed = issue.message.replace(/^allowed: /, '');
    return [{ field: path.join('.') || 'config', given: displayGiven(value), allowed }];
  });
  // An integer that is also out of range breaks two checks of one field; one line says it.
  return described.filter(({ field }, at) => described.findIndex((other) => other.field === field) === at);
}

/** A given value as messages show it: on one line, cut when long. */
export function displayGiven(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)`;
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
