/** Adds up what the test runners' JSON reports say, for the one closing line of `npm test`. */

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 */

/** Counts of vitest's JSON report. A file that could not even be loaded has no tests of its own and counts as one failure. */
export function countVitest(report) {
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** Counts of Playwright's JSON report. A test that passed on a retry passed; Playwright's own summary calls it flaky. */
export function countPlaywright(report) {
  const { expected, flaky, unexpected, skipped } = report.stats;
  return { passed: expected + flaky, failed: unexpected, skipped };
}

/**
 * The counts of one runner, given how it ended. A runner that exits with an error without reporting a failed test (no
 * report, no tests, an error outside any test) counts as one failure, so that the closing line and the exit code agree.
 *
 * @param {number} exitCode
 * @param {Counts | undefined} counts undefined when there is no report
 * @returns {Counts}
 */
export function withExitCode(exitCode, counts) {
  const known = counts ?? { passed: 0, failed: 0, skipped: 0 };
  const failedUnseen = known.failed === 0 && (exitCode !== 0 || counts === undefined);
  return failedUnseen ? { ...known, failed: 1 } : known;
}

/** @param {readonly Counts[]} parts */
export function total(parts) {
  const sum = (key) => parts.reduce((whole, part) => whole + part[key], 0);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
}

/** `12 passed, 0 failed`, and `, 1 skipped` when there are any. */
export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
