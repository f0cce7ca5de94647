import { expect, type Page, test } from '@playwright/test';
import { initialWeights, transformerGraph } from '../src/policies/graph/buildTransformer.ts';
import { writeModel } from '../src/policies/graph/onnxFile.ts';
import { button, open, openConfig, runStage, value } from './page.ts';

const shape = { vocabulary: 12, width: 8, layers: 1, heads: 2, context: 8 };
const graph = transformerGraph(shape, initialWeights(shape, 0, 0));

/** Serves `bytes` where the site would have a model file. */
async function serveModel(page: Page, name: string, bytes: Uint8Array): Promise<void> {
  await page.context().route(`**/${name}`, (route) => route.fulfill({ body: Buffer.from(bytes) }));
}

const withModel = (name: string) => `task: {name: sum}\nteam: {policy: onnx, model: ${name}}\nstages: 1`;

test('a corrupt model and one with an operator without a rule are refused in words; the run stays', async ({
  page,
}) => {
  const odd = {
    ...graph,
    nodes: graph.nodes.map((node) =>
      node.op === 'Gelu' ? { ...node, op: 'Celu', name: 'odd one', attributes: new Map() } : node,
    ),
  };
  await serveModel(page, 'corrupt.onnx', writeModel(graph).slice(0, 3000));
  await serveModel(page, 'odd.onnx', writeModel(odd));
  const errors = await open(page);
  await runStage(page);
  const J = await value(page, 'J-value');
  for (const [name, message] of [
    ['corrupt.onnx', /not a whole ONNX model/],
    ['odd.onnx', /Celu.*odd one/],
  ] as const) {
    await openConfig(page, withModel(name));
    const notice = page.getByRole('alert');
    await expect(notice).toContainText('team.model', { timeout: 60_000 });
    await expect(notice).toContainText(message);
    await notice.getByRole('button', { name: /^Dismiss/ }).click();
    await expect(page.getByTestId('J-value')).toHaveText(J);
  }
  await button(page, 'Run stage').click();
  await expect(page.getByTestId('stage-counter')).toHaveText('Stage 2 of 20');
  expect(errors).toEqual([]);
});

test('the sum preset: models load on demand, the warm start shows its progress and can be paused', async ({
  page,
}) => {
  test.setTimeout(180_000);
  const fetched: string[] = [];
  page.on('request', (request) => fetched.push(request.url()));
  await page.goto('/');
  await expect(page.getByTestId('event-text')).toHaveText('Press Step to begin.', { timeout: 60_000 });
  expect(fetched.filter((url) => url.endsWith('.wasm'))).toEqual([]);
  await page.goto('/?preset=sum');
  await expect(page.getByRole('list', { name: 'Team' })).toContainText('width 32', { timeout: 60_000 });
  expect(fetched.some((url) => url.endsWith('.wasm'))).toBe(true);
  expect(new Set(fetched.map((url) => new URL(url).origin)).size).toBe(1);
  await expect(page.getByTestId('backend-badge')).toContainText(/Models wasm/i);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByRole('progressbar', { name: /Warm start/ })).toBeVisible({ timeout: 30_000 });
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Run', exact: true })).toBeVisible();
});

test('a stage of an ONNX team on wasm: bound, rates and certificate are labelled estimated', async ({
  page,
}) => {
  test.setTimeout(180_000);
  await page.goto('/?models=wasm');
  await expect(page.getByTestId('event-text')).toHaveText('Press Step to begin.', { timeout: 60_000 });
  await openConfig(
    page,
    'task: {name: sum}\nteam: {policy: onnx, width: 16}\nstages: 2\nsat: {groups: 16, temperature: 2}\nwarmStart: {steps: 20}',
  );
  await expect(page.getByRole('list', { name: 'Team' })).toContainText('width 16', { timeout: 60_000 });
  await page.getByRole('button', { name: 'Run stage', exact: true }).click();
  await expect(page.getByTestId('event-text')).toContainText('The stage ends', { timeout: 90_000 });
  await expect(page.getByText('estimated').first()).toBeVisible();
  await expect(page.getByText(/can never be positive/).first()).toBeVisible();
});
