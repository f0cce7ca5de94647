export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function countVitest(report: {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: readonly { status: string; assertionResults: readonly unknown[] }[];
}): Counts;
export function countPlaywright(report: {
  stats: { expected: number; flaky: number; unexpected: number; skipped: number };
}): Counts;
export function withExitCode(exitCode: number, counts: Counts | undefined): Counts;
export function total(parts: readonly Counts[]): Counts;
export function closingLine(counts: Counts): string;
