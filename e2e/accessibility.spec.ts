import AxeBuilder from '@axe-core/playwright';
import { expect, test } from '@playwright/test';
import { button, open } from './page.ts';

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing wrong with the page, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await open(page);
    await button(page, 'Run stage').click();
    await expect(page.getByTestId('paper-bound-value')).not.toHaveText('–');
    await page.getByLabel('Collision cost').first().fill('3');
    // Tooltips lie outside the landmarks.
    await page.mouse.move(0, 0);
    await expect(page.getByRole('tooltip')).toHaveCount(0);
    const { violations } = await new AxeBuilder({ page }).analyze();
    const found = violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`,
    );
    expect(found).toEqual([]);
  });
}
