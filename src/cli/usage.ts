import { parseArgs } from 'node:util';

/** A command line that cannot be used; the message names the argument, what was given and what is allowed. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Parses `argv` against the names of string-valued options; exactly one positional argument is required.
 *
 * @throws {UsageError} for an unknown option or a missing or extra argument.
 */
export function parseCommand(
  argv: readonly string[],
  positional: string,
  options: readonly string[],
): { readonly target: string; readonly values: ReadonlyMap<string, string> } {
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: Object.fromEntries(options.map((name) => [name, { type: 'string' } as const])),
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `${message.split('. ')[0]}; allowed: ${options.map((name) => `--${name}`).join(', ')}`,
    );
  }
  const [target, ...extra] = parsed.positionals;
  if (target === undefined || extra.length > 0) {
    throw new UsageError(
      `${positional}: given ${parsed.positionals.join(' ') || 'nothing'}; allowed: exactly one`,
    );
  }
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(parsed.values))
    if (typeof value === 'string') values.set(name, value);
  return { target, values };
}

/** @throws {UsageError} if `value` is given and is not a whole number from `min` to `max`. */
export function wholeNumber(
  name: string,
  value: string | undefined,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < min || number > max || value.trim() === '') {
    const range = max < Number.MAX_SAFE_INTEGER ? `from ${min} to ${max}` : `from ${min}`;
    throw new UsageError(`--${name}: given ${value || 'nothing'}; allowed: a whole number ${range}`);
  }
  return number;
}

/** @throws {UsageError} if `value` is given and is not one of `allowed`. */
export function oneOf<T extends string>(
  name: string,
  value: string | undefined,
  allowed: readonly T[],
  fallback: T,
): T {
  if (value === undefined) return fallback;
  const match = allowed.find((candidate) => candidate === value);
  if (match === undefined)
    throw new UsageError(`--${name}: given ${value}; allowed: ${allowed.join(' or ')}`);
  return match;
}
