import { existsSync } from 'node:fs';
import { defineConfig, type PlaywrightTestConfig } from '@playwright/test';

/** A port of this run's own, so that two runs on one machine do not meet; workers inherit it. */
process.env.SAT_E2E_PORT ??= String(20_000 + (process.pid % 20_000));
const PORT = process.env.SAT_E2E_PORT;
/** The development server, for pages of e2e/harness that are not part of the app. */
process.env.SAT_E2E_DEV_PORT ??= String(Number(PORT) + 20_000);
const DEV_PORT = process.env.SAT_E2E_DEV_PORT;

/** CHROMIUM_PATH, as npm test sets it; else the system's Chromium; else the one that Playwright installed. */
const executablePath = [process.env.CHROMIUM_PATH, '/usr/bin/chromium'].find(
  (path) => path !== undefined && existsSync(path),
);

/** Chromium without a sandbox (for root in containers) and without calls home. */
const quiet = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** WebGPU on Chromium's software Vulkan. */
const softwareWebGpu = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];

function chromium(args: readonly string[]): PlaywrightTestConfig['use'] & object {
  return {
    browserName: 'chromium',
    launchOptions: { args: [...quiet, ...args], ...(executablePath !== undefined && { executablePath }) },
  };
}

export default defineConfig({
  testDir: 'e2e',
  // Tests measure times, on machines with two cores.
  workers: 1,
  timeout: 120_000,
  expect: { timeout: 15_000 },
  forbidOnly: true,
  reporter: 'list',
  use: { baseURL: `http://127.0.0.1:${PORT}/`, viewport: { width: 1440, height: 900 } },
  webServer: [
    {
      command: `node scripts/serve.mjs --port ${PORT}`,
      url: `http://127.0.0.1:${PORT}/`,
      reuseExistingServer: false,
    },
    {
      command: `npx vite --host 127.0.0.1 --port ${DEV_PORT} --strictPort`,
      url: `http://127.0.0.1:${DEV_PORT}/e2e/harness/parity.html`,
      reuseExistingServer: false,
    },
  ],
  projects: [
    { name: 'no-webgpu', testIgnore: '**/*.webgpu.spec.ts', use: chromium(['--disable-features=WebGPU']) },
    { name: 'webgpu-software', testMatch: '**/*.webgpu.spec.ts', use: chromium(softwareWebGpu) },
  ],
});
