import { expect, test } from '@playwright/test';
import { button, open, openConfig, runStage, value } from './page.ts';

/** Small enough for a software adapter: one block of width 16, 2 × 2 episodes of 8 columns, one inner step. */
const tinyTeam = `
name: tiny
task: {name: sum}
team: {policy: onnx, width: 16, heads: 2}
stages: 1
sat: {groups: 2, groupSize: 2, innerSteps: 1, temperature: 2, delta: 1}
optimiser: {lr: 0.001}
evaluation: {prompts: 4}
`;

test('one agent update of an ONNX team with models and kernels on WebGPU', async ({ page }) => {
  // The first runs of a model compile its shaders, which takes a software adapter most of a minute.
  test.setTimeout(300_000);
  const errors = await open(page, '?models=webgpu&kernels=webgpu');
  await openConfig(page, tinyTeam);
  await expect(page.getByRole('list', { name: 'Team' })).toContainText('width 16', { timeout: 120_000 });
  const badge = page.getByTestId('backend-badge');
  await expect(badge).toContainText('Kernels run on WebGPU');
  await expect(badge).toContainText('Models run on WebGPU');
  await button(page, 'Next agent').click();
  await expect(page.getByTestId('event-text')).toContainText('certificate of Agent', { timeout: 240_000 });
  await expect(page.getByTestId('J-value')).toHaveText(/\d/);
  await expect(page.getByRole('alert')).toHaveCount(0);
  expect(errors).toEqual([]);
});

test('the doorway on WebGPU kernels gives the same stage as on the CPU', async ({ page }) => {
  const J: string[] = [];
  for (const kernels of ['cpu', 'webgpu']) {
    const errors = await open(page, `?kernels=${kernels}`);
    const where = kernels === 'cpu' ? 'Kernels run on the CPU' : 'Kernels run on WebGPU';
    await expect(page.getByTestId('backend-badge')).toContainText(where);
    await runStage(page);
    J.push(await value(page, 'J-value'));
    expect(errors).toEqual([]);
  }
  expect(J[1]).toBe(J[0]);
});

test('left to itself, the page does not take a software adapter, and says so', async ({ page }) => {
  await open(page);
  await expect(page.getByTestId('backend-badge')).toContainText(/Kernels run on the CPU: .*software adapter/);
});
