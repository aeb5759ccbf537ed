import type { Page } from 'playwright-core'
import { TOKEN } from '../../packages/gateway/src/testing/edits.ts'

/** The editor of the config page. */

export async function logIn(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await page.getByLabel('Admin token').fill(TOKEN)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.locator('.cm-content').waitFor()
}

/** Takes the place of all that was there. */
export async function writeConfig(page: Page, text: string): Promise<void> {
  await page.locator('.cm-content').focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}
