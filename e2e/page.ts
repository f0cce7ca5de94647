import { expect, type Page } from '@playwright/test';

/** Opens the page and waits for its run to be ready. Fails the test on any error that the page throws. */
export async function open(page: Page, query = ''): Promise<string[]> {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(`/${query}`);
  await expect(page.getByTestId('event-text')).toHaveText('Press Step to begin.', { timeout: 60_000 });
  return errors;
}

/** A button by its whole name. */
export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
/** The text of a published value. */
export const value = (page: Page, id: string) =>
  page
    .getByTestId(id)
    .textContent()
    .then((text) => text ?? '');

/** Waits until key numbers and charts show the event that the timeline shows; they are drawn after it. */
export async function settled(page: Page): Promise<void> {
  await expect(async () => {
    const shown = await page.getByRole('slider', { name: 'Event shown' }).getAttribute('aria-valuetext');
    const drawn = await page.getByRole('region', { name: 'Charts' }).getAttribute('data-events');
    expect(shown?.split(' of ')[0]).toBe(drawn);
  }).toPass({ timeout: 15_000 });
}

/** Lets the first stage pass, and waits until the page shows its end everywhere. */
export async function runStage(page: Page): Promise<void> {
  await button(page, 'Run stage').click();
  await expect(page.getByTestId('event-text')).toContainText('The stage ends', { timeout: 60_000 });
  await settled(page);
}

/** Runs a config as a user does: through the dialog. */
export async function openConfig(page: Page, yaml: string): Promise<void> {
  await button(page, 'Open config').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Config (YAML)').fill(yaml);
  await dialog.getByRole('button', { name: 'Run this config' }).click();
  await expect(dialog).toBeHidden();
}

/** Chooses a preset from the menu, by its title. */
export async function choosePreset(page: Page, title: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Preset' }).click();
  await page.getByRole('option', { name: title }).click();
}
