import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { SqliteStore } from '../../packages/gateway/src/stores/sqlite/sqlite-store.ts'
import { entryOf } from '../../packages/gateway/src/stores/testing/store-contract.ts'
import { type Program, useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { fits, noBrowser, openPage, openReady, seriousFindings, shoot, SIZES, startBrowser } from './browser.ts'
import { clippedControls } from './in-page.ts'

/** The ledger of a running gateway in a real browser: sixty days of calls, and one that is made meanwhile. */

const CASES = [
  ['wide', SIZES.wide, 'light'],
  ['phone', SIZES.phone, 'light'],
  ['wide-dark', SIZES.wide, 'dark'],
  ['phone-dark', SIZES.phone, 'dark'],
] as const

describe('the page of spend', { skip: noBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  for (const [name, viewport, colorScheme] of CASES) {
    it(`shows sums, a forecast and groups of the ledger (${name})`, async (t) => {
      const program = await useLedger(t)
      const { page, complaints } = await openPage(t, browser, { viewport, colorScheme, acceptDownloads: true })
      await openReady({ page, complaints }, `${program.admin}/ui/spend`)
      await page
        .locator('.spend-figure')
        .first()
        .getByText(/^≥ \$\d/)
        .waitFor()
      const table = page.getByRole('region', { name: 'Table of calls and costs' })
      await table.getByRole('row').filter({ hasText: 'gpt-5.5' }).getByText(/^\$\d/).waitFor()
      await table.getByRole('row').filter({ hasText: 'our-own-model' }).getByText('unknown').waitFor()
      await page
        .getByRole('region', { name: 'Forecast' })
        .getByText(/the average of the last [67]\.\d days/)
        .waitFor()
      assert.equal(await page.title(), 'Spend · Portico')
      await check(page, `spend-${name}`)

      await page.getByRole('navigation', { name: 'Group by' }).getByRole('link', { name: 'Team' }).click()
      await page.waitForURL(/per=model/)
      await table
        .getByRole('row')
        .filter({ hasText: /^gpt-5\.5\s*search/ })
        .waitFor()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download spend.csv' }).click(),
      ])
      assert.equal(download.suggestedFilename(), 'spend.csv')
      await page.getByRole('link', { name: 'Calls', exact: true }).click()
      await page.getByRole('img', { name: /^Calls by day, latest: / }).waitFor()
      await page.getByRole('group', { name: /arrow keys choose one/ }).focus()
      await page.keyboard.press('ArrowLeft')
      await page
        .locator('figcaption')
        .getByText(/^\d{4}-\d\d-\d\d UTC: /)
        .waitFor()
      await check(page, `spend-team-${name}`)
      assert.deepEqual(complaints, [])
    })
  }

  it('is reached by a key, and shows a call that was just made', async (t) => {
    const program = await useLedger(t)
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.wide })
    await openReady({ page, complaints }, `${program.admin}/ui/`)
    const chat = { model: 'mock', messages: [{ role: 'user', content: 'Good morning' }] }
    const url = `http://127.0.0.1:${program.port()}/v1/chat/completions`
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(chat) })
    assert.equal(answer.status, 200, await answer.text())
    await page.keyboard.press('s')
    await page.waitForURL(/\/ui\/spend$/)
    const table = page.getByRole('region', { name: 'Table of calls and costs' })
    await table.getByRole('row').filter({ hasText: 'mock' }).getByText('unknown').waitFor()
    assert.deepEqual(complaints, [])
  })
})

async function check(page: Page, name: string): Promise<void> {
  assert.deepEqual(await seriousFindings(page), [])
  assert.deepEqual(await clippedControls(page), [])
  assert.ok(await fits(page), 'the page is wider than the screen')
  await shoot(page, name)
}

async function useLedger(t: TestContext): Promise<Program> {
  const { file, folder } = useConfigFile(t, CONFIG)
  mkdirSync(join(folder, 'state'))
  const store = new SqliteStore(join(folder, 'state', 'ledger.db'))
  const models = [
    { model: 'gpt-5.5', team: 'search', key: 'search-web' },
    { model: 'claude-sonnet-5', team: 'support', key: 'support-bot', provider: 'anthropic' },
    { model: 'gemini-3-flash', team: 'search', key: 'search-index', provider: 'gcp.gemini' },
  ]
  const entries = Array.from({ length: 60 * 12 }, (_, i) => {
    const tokens = { inputTokens: 4_000 + (i % 7) * 900, outputTokens: 700 + (i % 5) * 150 }
    // A week has a wave, and each model its share.
    const nanoDollars = Math.round(2e9 * (1.4 + Math.sin(i / 13)) * (1 + (i % 3)))
    return entryOf(`c${i}`, { ...models[i % 3], ...tokens, nanoDollars, at: Date.now() - i * 2 * 3_600_000 })
  })
  const own = { model: 'our-own-model', team: 'research', key: 'lab', nanoDollars: null, basis: 'unknown' } as const
  store.add([...entries, entryOf('own', { ...own, at: Date.now() - 50 * 3_600_000 })])
  store.close()
  return useProgram(t, { args: ['-f', file] })
}

const CONFIG = {
  config: { workers: 1, stateDir: 'state', ledger: {} },
  binds: [
    {
      ...{ port: 0, address: '127.0.0.1' },
      listeners: [{ routes: [{ backends: [{ ai: { provider: { mock: {} } } }] }] }],
    },
  ],
}
