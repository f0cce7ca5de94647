import { describe, expect, test } from 'vitest';
import { isInstalled, nodeProblem } from '../scripts/prepare.mjs';
import { closingLine, countPlaywright, countVitest, total, withExitCode } from '../scripts/summary.mjs';

describe('nodeProblem', () => {
  test.each(['20.11.0', '20.20.2', '22.0.0'])('%s is new enough', (version) => {
    expect(nodeProblem(version)).toBeUndefined();
  });

  test.each(['18.20.8', '20.10.0', '9.0.0'])('%s is refused by name', (version) => {
    expect(nodeProblem(version)).toContain(`needs Node 20.11 or newer; this is Node ${version}`);
  });
});

describe('isInstalled', () => {
  const locked = {
    packages: {
      '': { version: '0.1.0' },
      'node_modules/zod': { version: '4.6.7', integrity: 'sha512-zod' },
      'node_modules/other-system': { version: '1.0.0', integrity: 'sha512-os', optional: true },
    },
  };
  const zod = { version: '4.6.7', integrity: 'sha512-zod' };

  test('the required packages are enough: no root entry, no packages of other systems', () => {
    expect(isInstalled(locked, { packages: { 'node_modules/zod': zod } })).toBe(true);
  });

  test('nothing, a missing package, another version and other content are not', () => {
    expect(isInstalled(locked, undefined)).toBe(false);
    expect(isInstalled(locked, { packages: {} })).toBe(false);
    expect(isInstalled(locked, { packages: { 'node_modules/zod': { ...zod, version: '4.6.6' } } })).toBe(
      false,
    );
    expect(isInstalled(locked, { packages: { 'node_modules/zod': { ...zod, integrity: 'sha512-x' } } })).toBe(
      false,
    );
  });
});

describe('the closing line', () => {
  const passing = { status: 'passed', assertionResults: [{}] };

  test('vitest: todo tests count as skipped, a file that does not load as a failure', () => {
    const counts = countVitest({
      numPassedTests: 5,
      numFailedTests: 1,
      numPendingTests: 2,
      numTodoTests: 1,
      testResults: [
        passing,
        { status: 'failed', assertionResults: [{}] },
        { status: 'failed', assertionResults: [] },
      ],
    });
    expect(counts).toEqual({ passed: 5, failed: 2, skipped: 3 });
  });

  test('Playwright: a test that needed a retry has passed', () => {
    const counts = countPlaywright({ stats: { expected: 7, flaky: 1, unexpected: 2, skipped: 3 } });
    expect(counts).toEqual({ passed: 8, failed: 2, skipped: 3 });
  });

  test('a runner that fails without a failed test, or leaves no report, counts as one failure', () => {
    const clean = { passed: 4, failed: 0, skipped: 0 };
    expect(withExitCode(0, clean)).toEqual(clean);
    expect(withExitCode(1, clean)).toEqual({ passed: 4, failed: 1, skipped: 0 });
    expect(withExitCode(1, { passed: 4, failed: 3, skipped: 0 }).failed).toBe(3);
    expect(withExitCode(0, undefined)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });

  test('sums the runners and names skipped tests only when there are some', () => {
    const sum = total([
      { passed: 10, failed: 0, skipped: 1 },
      { passed: 3, failed: 2, skipped: 0 },
    ]);
    expect(closingLine(sum)).toBe('13 passed, 2 failed, 1 skipped');
    expect(closingLine({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed');
  });
});
