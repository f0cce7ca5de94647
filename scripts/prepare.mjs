/**
 * What `npm start` and `npm test` need before the app's own tools exist: the Node check, `npm ci` when it is due, and
 * running a tool. It imports Node's own modules only, because on a fresh clone nothing else is there.
 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root folder. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Oldest Node that the tools run on; `engines` in package.json says the same. */
const OLDEST_NODE = [20, 11];

/** Why `version` (such as `18.19.1`) is too old, or undefined when it is not. */
export function nodeProblem(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantedMajor, wantedMinor] = OLDEST_NODE;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return undefined;
  return `SAT Playground needs Node ${OLDEST_NODE.join('.')} or newer; this is Node ${version}. Get one at https://nodejs.org or with a version manager.`;
}

/**
 * Whether the packages in node_modules are the locked ones: every package that package-lock.json requires is listed,
 * with the same content hash, in the lockfile that npm keeps inside node_modules. Optional packages (for other systems) and
 * the root entry may be absent. The files' dates are not used: a checkout changes them without changing a version.
 *
 * @param {object} locked parsed package-lock.json
 * @param {object | undefined} installed parsed node_modules/.package-lock.json, undefined when there is none
 */
export function isInstalled(locked, installed) {
  if (installed === undefined) return false;
  return Object.entries(locked.packages).every(([path, entry]) => {
    const found = installed.packages[path];
    if (found === undefined) return path === '' || entry.optional === true || entry.devOptional === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

/** Runs a program in the repository root with its output passed through. Resolves to its exit code, 1 when a signal ended it. */
export function run(program, args, env = {}) {
  return new Promise((exited, failed) => {
    const child = spawn(program, args, {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, ...env },
      // On Windows npm and npx are .cmd files, which only a shell starts.
      shell: process.platform === 'win32' && program !== process.execPath,
    });
    child.once('error', failed);
    child.once('exit', (code) => exited(code ?? 1));
  });
}

/** Runs an installed tool by the path of its script in node_modules; resolves to its exit code. */
export function runTool(script, args, env) {
  return run(process.execPath, [join(ROOT, 'node_modules', script), ...args], env);
}

async function readJson(path) {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Installs the locked packages unless they are there already. Throws when npm fails. */
async function installPackages() {
  const locked = await readJson(join(ROOT, 'package-lock.json'));
  if (locked === undefined) throw new Error('package-lock.json is missing: this is not a whole checkout.');
  const installed = await readJson(join(ROOT, 'node_modules', '.package-lock.json'));
  if (isInstalled(locked, installed)) return;
  console.log('Installing the packages of package-lock.json (npm ci) …');
  // Development packages hold the build tool, so they are wanted even where NODE_ENV says production.
  const code = await run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund']);
  if (code !== 0)
    throw new Error(`npm ci failed (exit ${code}); its message is above. Is there a network connection?`);
}

/** Checks Node and installs what is missing. Throws with a message for people when it cannot. */
export async function prepare() {
  const problem = nodeProblem(process.versions.node);
  if (problem !== undefined) throw new Error(problem);
  await installPackages();
}

/** Builds the app into dist/; resolves to the exit code. */
export function build() {
  return runTool('vite/bin/vite.js', ['build']);
}
