import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { closedPort } from '../../packages/gateway/src/testing/scene.ts'
import { noBrowser, openPage, openReady, shoot, SIZES, startBrowser } from './browser.ts'
import { logIn, TOKEN, writeConfig } from './editor.ts'

/** The first minutes with a gateway, as the README leads through them. */

describe('a newcomer', { skip: noBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  it('talks to a model and calls a tool of the quick start, and sees both decided', async (t) => {
    const program = await useProgram(t, { env: { PORT: String(await closedPort()), WORKER_THREADS: '1' } })
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.wide })
    await openReady({ page, complaints }, `${program.admin}/ui/`)
    await page.getByRole('link', { name: 'Models', exact: true }).click()
    await chat(page, 'Good morning')
    await page.locator('.turn-model').getByText('[mock]').waitFor()
    const decisions = page.getByRole('region', { name: 'Decisions' })
    await decisions.getByText('POST /v1/chat/completions').first().waitFor()

    await page.getByRole('link', { name: 'Tools', exact: true }).click()
    await page.getByRole('link', { name: /^echo/ }).click()
    await page.getByRole('textbox', { name: 'message' }).fill('hello there')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByRole('region', { name: 'Result' }).getByText('Echo: hello there').waitFor()
    await decisions.getByText('tools/call echo').first().waitFor()
    await shoot(page, 'newcomer-tools')

    await page.getByRole('link', { name: 'Requests', exact: true }).click()
    await page.locator('.table-body .row').filter({ hasText: '/v1/chat/completions' }).first().waitFor()
    await page.locator('.table-body .row').filter({ hasText: 'tools/call echo' }).first().waitFor()
    assert.deepEqual(complaints, [])
  })

  it('breaks a rule in the editor, has the refusal explained, and goes back', async (t) => {
    const { file } = useConfigFile(t, OWN_CONFIG)
    const program = await useProgram(t, { args: ['-f', file], env: { ADMIN_TOKEN: TOKEN } })
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.wide })
    await logIn(page, `${program.admin}/ui/config`)
    complaints.length = 0
    await writeConfig(page, OWN_CONFIG.replace('"POST"', '"PUT"'))
    await page.getByRole('region', { name: 'Effect' }).getByText('1 route changes, of 1 then.').waitFor()
    await page.getByRole('button', { name: 'Apply …' }).click()
    await confirm(page, 'Apply this config')
    await page.getByText('Config 2 is live.').waitFor()

    await page.getByRole('link', { name: 'Models', exact: true }).click()
    await chat(page, 'Good morning')
    await page.getByRole('alert').getByText('403').waitFor()
    const decisions = page.getByRole('region', { name: 'Decisions' })
    await decisions.getByText('▲ stopped').waitFor()
    await decisions.getByRole('link', { name: 'open the request' }).click()
    await page.getByText('Why, and what would pass').waitFor()
    await page.getByText('gateway.yaml:11:').first().waitFor()
    await shoot(page, 'newcomer-refused')

    await page.getByRole('link', { name: 'Config', exact: true }).click()
    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('button', { name: 'config 1' }).click()
    await page.getByRole('button', { name: 'Go back to config 1' }).click()
    await confirm(page, 'Go back to config 1')
    await page.getByText('Config 3 is live.').waitFor()
    await page.getByRole('link', { name: 'Models', exact: true }).click()
    await chat(page, 'And now')
    await page.locator('.turn-model').getByText('[mock]').waitFor()
    assert.deepEqual(complaints, [])
  })
})

const OWN_CONFIG = `config: { workers: 1, ui: { edit: true } }
binds:
- port: 0
  address: 127.0.0.1
  listeners:
  - name: web
    routes:
    - name: chat
      policies:
        authorization:
          rules: ['request.method == "POST"']
      backends:
      - ai: { provider: { mock: {} } }
`

async function chat(page: Page, text: string): Promise<void> {
  await page.getByLabel('Model', { exact: true }).fill('mock')
  await page.getByRole('textbox', { name: 'Message' }).fill(text)
  await page.keyboard.press('Enter')
}

async function confirm(page: Page, name: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name })
  await dialog.getByLabel('Admin token').fill(TOKEN)
  await page.keyboard.press('Enter')
}
