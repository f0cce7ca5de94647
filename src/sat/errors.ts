/** Where in a run something happened, for messages and the event log. */
export interface MicroStep {
  /** Absent before the first stage. */
  readonly stage?: number;
  /** What was being done, in Algorithm 1's words, e.g. `optimize`. */
  readonly step: string;
  readonly agent?: string;
  readonly attempt?: number;
  readonly innerStep?: number;
}

/** A run that must stop: a number that is not finite, or a health check that failed. Names the micro-step. */
export class RunError extends Error {
  override readonly name = 'RunError';

  constructor(
    problem: string,
    readonly at: MicroStep,
  ) {
    const kept = at.agent === undefined ? '' : ' The agent is as it was before this update.';
    super(`${problem} — ${inWords(at)}.${kept}`);
  }
}

function inWords(at: MicroStep): string {
  const parts: string[] = [];
  if (at.stage !== undefined) parts.push(`stage ${at.stage + 1}`);
  if (at.agent !== undefined) parts.push(`agent ${at.agent}`);
  parts.push(at.step);
  if (at.attempt !== undefined) parts.push(`attempt ${at.attempt}`);
  if (at.innerStep !== undefined) parts.push(`inner step ${at.innerStep}`);
  return parts.join(', ');
}

/**
 * Throws unless every value is finite.
 *
 * @throws {RunError} naming the first quantity that is not.
 */
export function requireFinite(values: Readonly<Record<string, number>>, at: MicroStep): void {
  for (const [name, value] of Object.entries(values)) {
    if (!Number.isFinite(value)) throw new RunError(`${name} is ${value}`, at);
  }
}
