import type { ConfigIssue } from '../runs/configError.ts';

/** Something the user must know: what happened, and each thing wrong with what was given and what is allowed. */
export interface Notice {
  readonly id: number;
  readonly title: string;
  readonly message: string;
  readonly issues: readonly ConfigIssue[];
}
