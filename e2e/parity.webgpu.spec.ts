import { expect, test } from '@playwright/test';

test('a tiny transformer on WebGPU equals wasm: logits and every gradient', async ({ page }) => {
  // Shader compilation of a first model takes a software adapter most of a minute.
  test.setTimeout(300_000);
  await page.goto(`http://127.0.0.1:${process.env.SAT_E2E_DEV_PORT}/e2e/harness/parity.html`);
  await expect(page.locator('#report')).not.toHaveText('running', { timeout: 240_000 });
  const text = (await page.locator('#report').textContent()) ?? '';
  expect(text).toMatch(/^\{/);
  const { logits, gradient } = JSON.parse(text);
  test.info().annotations.push({ type: 'parity', description: text });
  // float32 rounding of sums of some tens of terms; a transposed axis or a lost repeat would be off by 1e-2 and more.
  expect(logits).toBeLessThan(1e-5);
  expect(gradient).toBeLessThan(1e-5);
});
