import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { noBrowser, openPage, openReady, seriousFindings, shoot, SIZES, startBrowser } from './browser.ts'

/** Figures of real traffic in a real browser: through a model, a limit and a backend that is not there. */

describe('the figures of the last hours', { skip: noBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  for (const [size, viewport] of Object.entries(SIZES)) {
    it(`show rates, shares and tokens, and lead to their requests (${size})`, async (t) => {
      const { file } = useConfigFile(t, CONFIG)
      const program = await useProgram(t, { args: ['-f', file] })
      const { page, complaints } = await openPage(t, browser, { viewport })
      await openReady({ page, complaints }, `${program.admin}/ui/`)
      await page.goto(`${program.admin}/ui/metrics`)
      await page.getByText('No model was called.').waitFor()
      await page.getByText(/No requests in the last 15 minutes|first figures come/).waitFor()

      await sendTraffic(`http://127.0.0.1:${program.port()}`)
      const routes = page.getByRole('region', { name: 'Requests by route' })
      await routes.getByRole('link', { name: 'limited' }).waitFor()
      const shares = page.getByRole('region', { name: 'Refused and failed' })
      // Two of five were refused, one failed: whatever the steps, there is a peak.
      for (const name of ['refused', 'failed'])
        assert.match(await shares.getByRole('row').filter({ hasText: name }).innerText(), /[1-9]\d* %\s*$/)
      await page.getByRole('img', { name: /^Time taken, latest: p50 / }).waitFor()
      await page.getByRole('img', { name: /^Calls by model, latest: mock / }).waitFor()
      assert.equal(await page.locator('.chart').count(), 6)

      await page.reload()
      const usage = page.getByRole('region', { name: 'Table of tokens' })
      const row = usage.getByRole('row').filter({ hasText: 'mock' })
      assert.match(await row.innerText(), /^mock\s+–\s+chat\s+1\s+[1-9]\d*\s+[1-9]\d*\s/)
      await page.getByText(/complete since \d{4}-/).waitFor()
      await page.locator('.chart').nth(5).waitFor()
      assert.deepEqual(await seriousFindings(page), [])
      assert.ok(await fits(page), 'the page is bigger than the screen')
      await shoot(page, `metrics-${size}`)

      await page.getByRole('link', { name: '3 hours' }).click()
      await page.waitForURL(/\/ui\/metrics\?range=3h$/)
      await routes.getByRole('link', { name: 'limited' }).click()
      await page.waitForURL(/\/ui\/requests\?q=/)
      assert.equal(new URL(page.url()).searchParams.get('q'), 'route:limited since:3h')
      const rows = page.locator('.table-body .row')
      await rows.filter({ hasText: '/limited' }).first().waitFor()
      assert.equal(await rows.filter({ hasText: '/v1' }).count(), 0)
      await page.goBack()
      await usage.getByRole('link', { name: 'mock' }).click()
      await page.waitForURL(/model/)
      await rows.filter({ hasText: '/v1' }).first().waitFor()
      assert.equal(await rows.count(), 1)
      assert.deepEqual(complaints, [])
    })
  }

  it('stay where they are, marked as old, when they cannot be read again', async (t) => {
    const { file } = useConfigFile(t, CONFIG)
    const program = await useProgram(t, { args: ['-f', file] })
    const { page } = await openPage(t, browser, { viewport: SIZES.wide })
    await page.route('**/api/metrics/series*', (route) => route.fulfill({ status: 503, body: 'not now' }))
    await page.goto(`${program.admin}/ui/metrics`)
    await page.getByRole('alert').getByText('not now').waitFor()
    await page.unroute('**/api/metrics/series*')
    await sendTraffic(`http://127.0.0.1:${program.port()}`)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.chart').first().waitFor()
    await page.route('**/api/metrics/series*', (route) => route.fulfill({ status: 503, body: 'not now' }))
    await page.getByText(/as of [\d:]+: not now/).waitFor()
    assert.ok((await page.locator('.chart').count()) >= 4)
  })
})

const CONFIG = {
  config: { workers: 1 },
  binds: [
    {
      port: 0,
      address: '127.0.0.1',
      listeners: [
        {
          routes: [
            { name: 'chat', ...path('/v1'), backends: [{ ai: { provider: { mock: {} } } }] },
            {
              name: 'limited',
              ...path('/limited'),
              policies: {
                rateLimit: { local: [{ requests: 1, unit: 'Hours' }] },
                directResponse: { status: 200, body: 'taken' },
              },
            },
            { name: 'broken', ...path('/broken'), backends: [{ host: '127.0.0.1:9' }] },
          ],
        },
      ],
    },
  ],
}

function path(pathPrefix: string): object {
  return { matches: [{ path: { pathPrefix } }] }
}

async function sendTraffic(url: string): Promise<void> {
  const statuses: number[] = []
  for (const at of ['/limited', '/limited', '/limited', '/broken']) statuses.push((await fetch(url + at)).status)
  const chat = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'mock', messages: [{ role: 'user', content: 'Good morning' }] }),
  })
  await chat.text()
  assert.deepEqual([...statuses, chat.status], [200, 429, 429, 503, 200])
}

async function fits(page: Page): Promise<boolean> {
  const isBigger = (side: string): string => `document.documentElement.scroll${side} > window.inner${side}`
  return page.evaluate(`!(${isBigger('Width')} || ${isBigger('Height')})`)
}
