/**
 * Finds a Chromium for the tests, or installs one, and says what Dawn (the package `webgpu`, WebGPU in Node) needs from it.
 * End-to-end tests drive the browser itself; kernel tests on Linux use the software Vulkan driver that it carries.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { run, runTool } from './prepare.mjs';

const SYSTEM_NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const MAC_PATH = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
/** Where distributions put the browser's own files; the command on the path is often only a wrapper. */
const LINUX_FOLDERS = ['/usr/lib/chromium', '/usr/lib/chromium-browser', '/opt/google/chrome'];

/** Whether `path` is a browser that starts. Ubuntu's `chromium-browser`, for one, may be a stub that only asks for a snap. */
function starts(path) {
  return (
    existsSync(path) && spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 30_000 }).status === 0
  );
}

function onThePath(name) {
  return (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
}

function systemCandidates() {
  // Windows has none: chrome.exe --version opens a window there, so Playwright's own browser is used.
  if (process.platform === 'win32') return [];
  const unix = SYSTEM_NAMES.flatMap((name) => [join('/usr/bin', name), ...onThePath(name)]);
  return process.platform === 'darwin' ? [MAC_PATH, ...unix] : unix;
}

/** The browser that `playwright install` put on this machine, if it did. */
async function playwrightChromium() {
  const { chromium } = await import('@playwright/test');
  const path = chromium.executablePath();
  return existsSync(path) ? path : undefined;
}

async function findChromium() {
  const wanted = process.env.CHROMIUM_PATH;
  if (wanted) {
    if (existsSync(wanted)) return wanted;
    throw new Error(
      `CHROMIUM_PATH is ${wanted}, which does not exist. Give the path of a Chromium or Chrome, or unset it.`,
    );
  }
  return systemCandidates().find(starts) ?? (await playwrightChromium());
}

const isRoot = () => process.getuid?.() === 0;
const mayUseApt = () => isRoot() && existsSync('/usr/bin/apt-get');

async function aptInstall(...packages) {
  const quiet = { DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-q'], quiet);
  await run('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages], quiet);
}

/** The path of a Chromium, installed now if there was none. Throws with what to do when that fails. */
export async function ensureChromium() {
  const found = await findChromium();
  if (found !== undefined) return found;
  if (mayUseApt()) {
    console.log('No Chromium found: installing the system package …');
    await aptInstall('chromium', 'libvulkan1');
    const installed = await findChromium();
    if (installed !== undefined) return installed;
  }
  console.log('No Chromium found: installing Playwright’s own …');
  // As root, the libraries that the browser needs can be installed with it.
  await runTool('@playwright/test/cli.js', ['install', ...(mayUseApt() ? ['--with-deps'] : []), 'chromium']);
  const installed = await findChromium();
  if (installed !== undefined) return installed;
  throw new Error(
    'The tests need a Chromium and none could be installed. Install one with your system’s package manager, or run ' +
      '`npx playwright install chromium`, or set CHROMIUM_PATH to the path of a Chromium or Chrome; then run npm test again.',
  );
}

function hasVulkanLoader() {
  try {
    // ldconfig is in /sbin, which is not on everyone's path.
    const env = { ...process.env, PATH: `${process.env.PATH}${delimiter}/sbin${delimiter}/usr/sbin` };
    return execFileSync('ldconfig', ['-p'], { encoding: 'utf8', env }).includes('libvulkan.so.1 ');
  } catch {
    return false;
  }
}

/**
 * Environment variables with which Dawn finds a Vulkan loader and a driver on Linux; none are needed elsewhere. The driver is
 * Chromium's SwiftShader, a software one, so that results do not depend on the machine's GPU; a VK_ICD_FILENAMES that is
 * set already is kept. Chromium's folder also holds a loader, used where the system has none.
 */
export async function vulkanEnvironment(chromium) {
  if (process.platform !== 'linux') return {};
  const folders = [dirname(realpathSync(chromium)), ...LINUX_FOLDERS];
  const folderWith = (file) => folders.find((folder) => existsSync(join(folder, file)));
  // The Vulkan loader complains on every start where this is not set.
  const env = process.env.XDG_RUNTIME_DIR ? {} : { XDG_RUNTIME_DIR: tmpdir() };
  const driver = folderWith('vk_swiftshader_icd.json');
  if (driver !== undefined && !process.env.VK_ICD_FILENAMES && !process.env.VK_DRIVER_FILES) {
    env.VK_ICD_FILENAMES = join(driver, 'vk_swiftshader_icd.json');
  }
  const loader = folderWith('libvulkan.so.1');
  if (hasVulkanLoader()) return env;
  if (loader !== undefined) {
    env.LD_LIBRARY_PATH = [loader, process.env.LD_LIBRARY_PATH].filter(Boolean).join(':');
  } else if (mayUseApt()) {
    console.log('No Vulkan loader found: installing the system package …');
    await aptInstall('libvulkan1');
  } else {
    console.log(
      'No Vulkan loader (libvulkan.so.1) found, so WebGPU tests in Node will fail: install the package libvulkan1 or vulkan-loader.',
    );
  }
  return env;
}
