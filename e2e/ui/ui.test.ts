import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import OpenAI from 'openai'
import type { Browser } from 'playwright-core'
import { type Origin, startOrigin } from '../../packages/gateway/src/testing/origin.ts'
import { type Program, useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { fits, noBrowser, openPage, openReady, seriousFindings, shoot, SIZES, startBrowser } from './browser.ts'
import { clippedControls } from './in-page.ts'

/** The pages in a real browser, before a gateway with real traffic. */

const EVIL = '<img src=x onerror="document.title=1">'
const TOKEN = 'open-sesame'

describe('the web UI', { skip: noBrowser }, () => {
  let browser: Browser
  let origin: Origin
  before(async () => {
    browser = await startBrowser()
    origin = await startOrigin()
  })
  after(async () => {
    await browser.close()
    await origin.close()
  })

  for (const [size, viewport] of Object.entries(SIZES)) {
    it(`shows what happens, in light and dark (${size})`, async (t) => {
      const { program } = await useTraffic(t, origin)
      for (const colorScheme of ['light', 'dark'] as const) {
        const { page, complaints } = await openPage(t, browser, { viewport, colorScheme })
        await openReady({ page, complaints }, `${program.admin}/ui/requests`)
        await page.getByText('Authorization denied the request').first().waitFor()
        for (const [name, path, sign] of PAGES) {
          await page.goto(`${program.admin}/ui${path}`)
          await page.getByText(sign).first().waitFor()
          await page.getByText('Config 1 live').waitFor()
          if (name === 'overview') await page.locator('.react-flow__node').first().waitFor()
          await shoot(page, `${name}-${size}-${colorScheme}`)
          assert.deepEqual(await seriousFindings(page), [], `${name} ${size} ${colorScheme}`)
          assert.ok(await fits(page), `${name} is wider than ${viewport.width} px`)
          assert.deepEqual(await clippedControls(page), [], `${name} ${size}`)
        }
        assert.deepEqual(complaints, [])
      }
    })
  }

  for (const [size, viewport] of Object.entries(SIZES)) {
    it(`opens a request that passed to its path, times and sizes (${size})`, async (t) => {
      const { program } = await useTraffic(t, origin)
      const { page, complaints } = await openPage(t, browser, { viewport })
      await openReady({ page, complaints }, `${program.admin}/ui/requests?q=route:api`)
      await page.locator('.row-passed').first().click()
      await page.waitForURL(/id=/)
      await page
        .locator('.headline')
        .getByText(/^Route api → backend .* answered 200$/)
        .waitFor()
      const facts = page.getByRole('region', { name: 'Path, times and sizes' })
      for (const name of ['Response head after', 'Total', 'Request body', 'Response body', 'Attempts'])
        await facts.getByText(name, { exact: true }).waitFor()
      await shoot(page, `request-passed-${size}`)
      assert.deepEqual(await seriousFindings(page), [])
      assert.deepEqual(await clippedControls(page), [])
      assert.ok(await fits(page), `it is wider than ${viewport.width} px`)
      assert.deepEqual(complaints, [])
    })
  }

  it('leads from a row to its story, by keys alone, and the address is all of it', async (t) => {
    const { program } = await useTraffic(t, origin)
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.wide })
    await openReady({ page, complaints }, `${program.admin}/ui/requests`)
    await page.keyboard.press('/')
    await page.keyboard.type('outcome:limited')
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=outcome/)
    await page.locator('.row-limited').first().waitFor()
    assert.equal(await page.locator('.row-passed').count(), 0)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(/id=/)
    await page.getByText('▲ stopped').waitFor()
    await page.getByText('rateLimit route').waitFor()
    await page.getByRole('region', { name: 'Why, and what would pass' }).getByText('It passes if').waitFor()
    await shoot(page, 'explained-limit')
    assert.deepEqual(await seriousFindings(page), [])
    const address = page.url()
    const again = await openPage(t, browser, { viewport: SIZES.wide })
    await openReady(again, address)
    await again.page.getByText('▲ stopped').waitFor()
    await again.page.getByRole('tab', { name: 'Raw' }).click()
    await again.page.getByText('"outcome": "limited"').waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL((url) => !url.search.includes('id='))
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Go to' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.type('route admin')
    await page.getByRole('option', { name: 'route admin' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/ui\/routes\?route=/)
    await page.getByText('from the route').first().waitFor()
    assert.deepEqual([...complaints, ...again.complaints], [])
  })

  it('is live: a request appears while one looks, and holding stops that', async (t) => {
    const { program } = await useTraffic(t, origin)
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.wide })
    await openReady({ page, complaints }, `${program.admin}/ui/requests`)
    await page.getByText('● Live').waitFor()
    await fetch(`http://127.0.0.1:${program.port()}/api/just-now`)
    await page.getByText('/api/just-now').waitFor()
    await page.keyboard.press('l')
    await page.getByText('▷ Paused').waitFor()
    await fetch(`http://127.0.0.1:${program.port()}/api/while-held`)
    await page.keyboard.press('l')
    await page.getByText('● Live').waitFor()
    await fetch(`http://127.0.0.1:${program.port()}/api/afterwards`)
    await page.getByText('/api/afterwards').waitFor()
    assert.deepEqual(complaints, [])
  })

  it('takes nothing of traffic for markup', async (t) => {
    const { program } = await useTraffic(t, origin)
    await fetch(`http://127.0.0.1:${program.port()}/admin?${encodeURIComponent(EVIL)}`, { headers: { 'x-evil': EVIL } })
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.wide })
    await openReady({ page, complaints }, `${program.admin}/ui/requests?q=outcome:denied`)
    await page.locator('.row-denied').first().click()
    await page.getByRole('tab', { name: 'Request and response' }).click()
    await page.getByText(EVIL).waitFor()
    assert.equal(await page.locator('main img').count(), 0)
    assert.equal(await page.title(), 'Requests · Portico')
    assert.deepEqual(complaints, [])
  })

  it('says what is wrong with a reload, and greys out when the gateway is gone', async (t) => {
    const { program, config } = await useTraffic(t, origin)
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.wide })
    await openReady({ page, complaints }, `${program.admin}/ui/config`)
    await page.getByText('secrets are redacted').waitFor()
    assert.doesNotMatch(await page.innerText('main'), /sk-very-secret/)
    config.edit(configText(origin.port).replace('name: api', 'nam: api'))
    await page.getByText('Reload rejected').waitFor()
    await page.locator('.config-problems').first().waitFor()
    await shoot(page, 'config-refused')
    config.edit(configText(origin.port))
    await page.getByText('Config 2 live').waitFor()
    program.child.kill('SIGKILL')
    await page.getByText('The gateway does not respond').waitFor()
    await page.locator('main.gone').waitFor()
    await shoot(page, 'gone')
  })

  it('asks for the token where there is one, and forgets the session on logout', async (t) => {
    const { program } = await useTraffic(t, origin, { ADMIN_TOKEN: TOKEN })
    const { page } = await openPage(t, browser, { viewport: SIZES.wide })
    await page.goto(`${program.admin}/ui/requests?q=status:403`)
    await page.getByLabel('Admin token').fill('wrong')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByText('That is not a token of this gateway').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await shoot(page, 'login')
    await page.getByLabel('Admin token').fill(TOKEN)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.waitForURL(/\/ui\/requests\?q=status/)
    await page.locator('.row-denied').first().waitFor()
    const cookies = await page.context().cookies()
    assert.deepEqual(
      cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]),
      [['portico_session', true, 'Strict']],
    )
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('Admin token').waitFor()
    await page.goto(`${program.admin}/ui/`)
    await page.getByLabel('Admin token').waitFor()
  })
})

const PAGES = [
  ['overview', '/', '127.0.0.1:9'],
  ['requests', '/requests', 'Authorization denied the request'],
  ['refusals', '/requests?q=outcome:limited,denied', 'Authorization denied the request'],
  ['routes', '/routes', 'Policies, in order of execution'],
  ['expressions', '/expressions?expression=request.method', 'The value has the type string'],
  ['metrics', '/metrics', 'Requests by route'],
  ['spend', '/spend', 'The gateway has no ledger'],
  ['keys', '/keys', 'The gateway keeps no keys'],
  ['config', '/config', 'secrets are redacted'],
] as const

function configText(port: number): string {
  return `config: { workers: 1 }
binds:
- port: 0
  address: 127.0.0.1
  listeners:
  - name: web
    policies: { timeouts: { request: 10s } }
    routes:
    - name: api
      matches: [{ path: { pathPrefix: /api } }]
      policies: { timeouts: { request: 5s }, cors: { allowOrigins: ["https://shop.example.com"] } }
      backends: [{ host: "127.0.0.1:${port}", weight: 2 }, { backend: spare, weight: 1 }]
    - name: limited
      matches: [{ path: { pathPrefix: /limited } }]
      policies: { rateLimit: { local: [{ requests: 1, unit: Hours }] } }
      backends: [{ backend: spare }]
    - name: admin
      matches: [{ path: { pathPrefix: /admin } }]
      policies: { authorization: { rules: ['default(request.headers["x-team"], "") == "ops"'] } }
      backends: [{ backend: spare }]
    - name: broken
      matches: [{ path: { pathPrefix: /broken } }]
      backends: [{ host: "127.0.0.1:9" }]
    - name: chat
      matches: [{ path: { pathPrefix: /v1 } }]
      backends:
      - ai: { provider: { mock: { latency: 1ms, tokensPerSecond: 5000 } } }
        policies: { auth: { key: sk-very-secret } }
backends:
- { name: spare, static: { host: 127.0.0.1, port: ${port} } }
`
}

/** A gateway that has seen some of everything, and goes on to see more. */
async function useTraffic(t: TestContext, origin: Origin, env: Record<string, string> = {}) {
  const config = useConfigFile(t, configText(origin.port))
  const program = await useProgram(t, { args: ['-f', config.file], env })
  await sendSome(program)
  return { program, config }
}

async function sendSome(program: Program): Promise<void> {
  const url = `http://127.0.0.1:${program.port()}`
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const chat = await openai.chat.completions.create({ model: 'fast', messages: [{ role: 'user', content: 'Hello' }] })
  assert.match(chat.choices[0]?.message.content ?? '', /mock/)
  const statuses: number[] = []
  for (const path of ['/api/orders', '/limited', '/limited', '/limited', '/admin', '/broken', '/nowhere', '/api/a?b=1'])
    statuses.push((await fetch(url + path)).status)
  assert.deepEqual(statuses, [200, 200, 429, 429, 403, 503, 404, 200])
}
