import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { type Origin, startOrigin } from '../../packages/gateway/src/testing/origin.ts'
import type { RoutesView } from '../../packages/gateway/src/admin/config-view.ts'
import { type Program, useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { noBrowser, openPage, openReady, seriousFindings, shoot, SIZES, startBrowser } from './browser.ts'
import { clippedControls } from './in-page.ts'

/** Figures of real traffic in a real browser: through a model, a limit and a backend that is not there. */

describe('the figures of the last hours', { skip: noBrowser }, () => {
  let browser: Browser
  let provider: Origin
  before(async () => {
    browser = await startBrowser()
    provider = await startProvider()
  })
  after(async () => {
    await browser.close()
    await provider.close()
  })

  for (const [size, viewport] of Object.entries(SIZES)) {
    it(`show rates, shares and tokens, and lead to their requests (${size})`, async (t) => {
      const { file } = useConfigFile(t, CONFIG)
      const program = await useProgram(t, { args: ['-f', file] })
      const { page, complaints } = await openPage(t, browser, { viewport })
      await openReady({ page, complaints }, `${program.admin}/ui/`)
      await page.goto(`${program.admin}/ui/metrics`)
      await page.getByText('No model was called.').waitFor()
      await page.getByText(/No requests in the last 15 minutes|first data arrives/).waitFor()

      await sendTraffic(`http://127.0.0.1:${program.port()}`)
      const routes = page.getByRole('region', { name: 'Requests by route' })
      await routes.getByRole('link', { name: 'limited' }).waitFor()
      const shares = page.getByRole('region', { name: 'Denied and failed' })
      // Two of five were denied, one failed: each has a peak once the step of its request is over.
      for (const name of ['denied', 'failed'])
        await shares
          .getByRole('row')
          .filter({ hasText: new RegExp(`${name}.*[1-9]\\d* %$`) })
          .waitFor()
      await page.getByRole('img', { name: /^Time taken, latest: p50 / }).waitFor()
      await page.getByRole('img', { name: /^Calls by model, latest: mock / }).waitFor()
      assert.equal(await page.locator('.chart').count(), 6)

      await page.reload()
      const usage = page.getByRole('region', { name: 'Table of tokens and cost' })
      const row = usage.getByRole('row').filter({ hasText: 'mock' })
      assert.match(await row.innerText(), /^mock\s+–\s+chat\s+1\s+[1-9]\d*\s+[1-9]\d*\s/)
      await page.getByText(/Records go back to \d{4}-/).waitFor()
      await page.locator('.chart').nth(5).waitFor()
      assert.deepEqual(await seriousFindings(page), [])
      assert.deepEqual(await clippedControls(page), [])
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

  for (const [size, viewport] of Object.entries(SIZES)) {
    it(`say what tokens cost, by prices of a date, and where each figure comes from (${size})`, async (t) => {
      const { file } = useConfigFile(t, paidConfig(provider.port))
      const program = await useProgram(t, { args: ['-f', file] })
      const { page, complaints } = await openPage(t, browser, { viewport })
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      await openReady({ page, complaints }, `${program.admin}/ui/metrics`)
      await page.getByText('No model was called.').waitFor()
      assert.deepEqual(asked.filter(isPriceTable), [])

      const url = `http://127.0.0.1:${program.port()}`
      await chat(`${url}/paid`, 'gpt-4o', 'key-of-team-a')
      await chat(`${url}/paid`, 'gpt-4o', 'key-of-team-a')
      await chat(`${url}/paid`, 'gpt-4o', 'key-of-team-b')
      await chat(`${url}/paid`, 'silent', 'key-of-team-b')
      await chat(`${url}/own`, 'our-own-model')
      await page.reload()
      const table = page.getByRole('region', { name: 'Table of tokens and cost' })
      const row = (text: string) => table.getByRole('row').filter({ hasText: text })
      // A thousand in, of which 400 are from the cache, and 200 out: 0.0015 + 0.0005 + 0.002 dollars each.
      await row('team-a').getByText('≈ $0.0080').waitFor()
      await row('team-b').filter({ hasText: 'gpt-4o-2024-08-06' }).getByText('≈ $0.0040').waitFor()
      await row('team-a').getByText('reported by the provider').waitFor()
      await row('team-a').getByText('OpenAI gpt-4o: $2.50 input').waitFor()
      await row('team-a').getByText(`Called at 127.0.0.1:${provider.port}, priced as OpenAI itself`).waitFor()
      const unknown = await row('our-own-model').first().innerText()
      assert.match(unknown, /unknown\s[^]*No price known for our-own-model/)
      assert.match(await row('gpt-4o-mini').innerText(), /< \$0\.0001\s+counted by the gateway/)
      assert.match(await row('Total').innerText(), /\s5\s[^]*≥ \$0\.0120/)
      await page.getByText(/an estimate: .*@pydantic\/genai-prices 0\.\d+\.\d+ had them on 20\d\d-\d\d-\d\d/).waitFor()
      assert.equal(asked.filter(isPriceTable).length, 1)
      assert.deepEqual(await seriousFindings(page), [])
      assert.deepEqual(await clippedControls(page), [])
      assert.ok(await fits(page), 'the page is bigger than the screen')
      await table.scrollIntoViewIfNeeded()
      await shoot(page, `cost-${size}`)

      await page.getByRole('link', { name: 'By key' }).click()
      await page.waitForURL(/by=key/)
      await row('team-a').getByText('≈ $0.0080').waitFor()
      await row('team-b').getByText('≈ $0.0040').waitFor()
      await row('team-b').getByText('1 of 2 counted by the gateway').waitFor()
      assert.equal(await table.getByRole('row').count(), 5)
      await page.getByRole('link', { name: '3 hours' }).click()
      await page.waitForURL((to) => to.search.includes('range=3h') && to.search.includes('by=key'))
      await row('team-a').getByRole('link', { name: 'team-a' }).click()
      await page.waitForURL(/\/ui\/requests\?q=/)

      await page.locator('.table-body .row').first().click()
      await page.getByRole('tab', { name: 'Model' }).click()
      const facts = page.getByLabel('Model call')
      await facts.getByText('≈ $0.0040').waitFor()
      await facts.getByText('1,000 input (400 from the cache), 200 output').waitFor()
      await facts.getByText('reported by the provider').waitFor()
      assert.match(page.url(), /tab=model/)
      assert.deepEqual(await seriousFindings(page), [])
      assert.deepEqual(await clippedControls(page), [])
      await shoot(page, `model-facts-${size}`)

      await page.goto(
        `${program.admin}/ui/models?model=gpt-4o&whole=true&route=${encodeURIComponent(await ownRoute(program))}`,
      )
      await page.getByText('24 h: 1,200 tokens, cost unknown').waitFor()
      await page.getByRole('textbox', { name: 'Message' }).fill('Good morning')
      await page.keyboard.press('Enter')
      await page.locator('.turn-model').getByText('1,000 + 200 tokens · ≈ $0.0040').waitFor()
      assert.deepEqual(
        asked.filter((address) => !address.startsWith(`${program.admin}/`)),
        [],
      )
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
    await page.getByText(/As of [\d:]+: not now/).waitFor()
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

/** A server that speaks as OpenAI does; of one model it never says what it used. */
function startProvider(): Promise<Origin> {
  return startOrigin(({ body }, response) => {
    const { model } = JSON.parse(body) as { model: string }
    const usage = {
      ...{ prompt_tokens: 1000, completion_tokens: 200, total_tokens: 1200 },
      prompt_tokens_details: { cached_tokens: 400 },
    }
    response.setHeader('content-type', 'application/json').end(
      JSON.stringify({
        ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1 },
        model: { 'gpt-4o': 'gpt-4o-2024-08-06', silent: 'gpt-4o-mini' }[model] ?? model,
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
        ...(model !== 'silent' && { usage }),
      }),
    )
  })
}

function isPriceTable(address: string): boolean {
  return /\/price-table-[\w-]+\.js$/.test(address)
}

function paidConfig(port: number): object {
  const backends = [{ ai: { provider: { openai: {}, host: '127.0.0.1', port } } }]
  const data = { 'team-a': 'key-of-team-a', 'team-b': 'key-of-team-b' }
  const listeners = [
    {
      routes: [
        {
          ...{ name: 'paid', ...path('/paid'), backends },
          policies: { apiKeyAuthentication: { secretRef: { data } } },
        },
        { name: 'own', ...path('/own'), backends },
      ],
    },
  ]
  return { config: { workers: 1 }, binds: [{ port: 0, address: '127.0.0.1', listeners }] }
}

async function ownRoute(program: Program): Promise<string> {
  const { binds } = (await (await fetch(`${program.admin}/api/routes`)).json()) as RoutesView
  const routes = binds.flatMap(({ listeners }) => listeners.flatMap((listener) => listener.routes))
  return routes.find(({ name }) => name === 'own')?.key ?? assert.fail('there is no such route')
}

async function chat(url: string, model: string, key?: string): Promise<void> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Good morning' }] }),
  })
  assert.equal(answer.status, 200, await answer.text())
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
