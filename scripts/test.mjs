/**
 * `npm test [-- --unit | --e2e]`: installs what the tests need, runs the unit tests (vitest), builds the app and runs the
 * end-to-end tests (Playwright). Ends with one line, `N passed, N failed`, and exits with 1 if anything failed.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureChromium, vulkanEnvironment } from './chromium.mjs';
import { build, prepare, runTool } from './prepare.mjs';
import { closingLine, countPlaywright, countVitest, total, withExitCode } from './summary.mjs';

/** Which halves the command line asks for: both when it names none. */
function chosenHalves() {
  try {
    const { values } = parseArgs({ options: { unit: { type: 'boolean' }, e2e: { type: 'boolean' } } });
    const both = values.unit === values.e2e;
    return { unit: both || values.unit, e2e: both || values.e2e };
  } catch (error) {
    throw new Error(`${error.message}; allowed: --unit or --e2e, and nothing for both`);
  }
}

/** The counts in a report file; undefined when the runner stopped before writing a whole one. */
async function readCounts(file, count) {
  try {
    return count(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    console.error(`The runner left no readable report: ${error.message}`);
    return undefined;
  }
}

async function unitTests(folder, chromium) {
  const file = join(folder, 'vitest.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const env = chromium === undefined ? {} : await vulkanEnvironment(chromium);
  const code = await runTool('vitest/vitest.mjs', ['run', ...reporters], env);
  return withExitCode(code, await readCounts(file, countVitest));
}

async function endToEndTests(folder, chromium) {
  const built = await build();
  if (built !== 0) {
    console.error('The build failed, so the end-to-end tests did not run; this counts as one failure.');
    return withExitCode(built, undefined);
  }
  const file = join(folder, 'playwright.json');
  const code = await runTool('@playwright/test/cli.js', ['test', '--reporter=list,json'], {
    CHROMIUM_PATH: chromium,
    PLAYWRIGHT_JSON_OUTPUT_FILE: file,
  });
  return withExitCode(code, await readCounts(file, countPlaywright));
}

async function main() {
  const { unit, e2e } = chosenHalves();
  await prepare();
  // Unit tests need it on Linux only, for its Vulkan driver.
  const chromium = e2e || process.platform === 'linux' ? await ensureChromium() : undefined;
  const folder = await mkdtemp(join(tmpdir(), 'sat-tests-'));
  try {
    const parts = [];
    if (unit) parts.push(await unitTests(folder, chromium));
    if (e2e) parts.push(await endToEndTests(folder, chromium));
    const counts = total(parts);
    console.log(closingLine(counts));
    process.exitCode = counts.failed === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
