import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { fits, noBrowser, openPage, openReady, seriousFindings, shoot, SIZES, startBrowser } from './browser.ts'
import { clippedControls } from './in-page.ts'

/** Expressions on what a gateway recorded, in a real browser. */

const EVIL = '<img src=x onerror="document.title=1">'

describe('the page of expressions', { skip: noBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  for (const [size, viewport] of Object.entries(SIZES)) {
    it(`tells what each part gives on a recorded request, and where a problem is (${size})`, async (t) => {
      const { file } = useConfigFile(t, CONFIG)
      const program = await useProgram(t, { args: ['-f', file] })
      const { page, complaints } = await openPage(t, browser, { viewport })
      await openReady({ page, complaints }, `${program.admin}/ui/`)
      await page.goto(`${program.admin}/ui/expressions`)
      await page.getByText('No requests recorded yet').waitFor()
      await page.getByText('Write an expression').waitFor()
      const refused = await fetch(`http://127.0.0.1:${program.port()}/orders`, { headers: { 'x-note': EVIL } })
      assert.equal(refused.status, 403)
      const id = refused.headers.get('x-portico-decision') ?? assert.fail('the refusal names no record')

      await page.goto(`${program.admin}/ui/requests?id=${id}`)
      await page.getByRole('link', { name: 'Try an expression on this request' }).click()
      await page.waitForURL(/\/ui\/expressions\?id=/)
      const expression = page.getByRole('textbox', { name: 'Expression' })
      await expression.fill('request.method == "GET" && response.code == 200')
      const parts = page.getByRole('list', { name: 'Values of the parts' })
      await part(parts, 'response.code', '403').waitFor()
      await part(parts, 'response.code == 200', 'false').waitFor()
      await part(parts, 'request.method', '"GET"').waitFor()
      await checkPage(page, `expressions-${size}`)
      await page.waitForURL(/expression=/)
      await page.reload()
      await part(parts, 'response.code', '403').waitFor()

      await expression.fill('request.headers["x-note"]')
      await parts.getByText(JSON.stringify(EVIL)).first().waitFor()
      assert.equal(await page.locator('main img').count(), 0)
      assert.equal(await page.title(), 'Expressions · Portico')

      await expression.fill('request.path ==\n  request.pth')
      const problems = page.getByRole('list', { name: 'Problems' })
      await problems.getByRole('button', { name: '2:11' }).click()
      assert.equal(await problems.locator('mark').textContent(), 'pth')
      assert.equal(await page.evaluate('document.activeElement.selectionStart'), 'request.path ==\n  request.'.length)
      assert.equal(await parts.count(), 0)
      await checkPage(page, `expressions-problem-${size}`)

      await expression.fill('response.code == 403')
      await part(parts, 'response.code == 403', 'true').waitFor()
      await page.getByRole('combobox', { name: 'Used in' }).selectOption('request')
      await problems.getByRole('button', { name: '1:1' }).waitFor()
      assert.match(page.url(), /phase=request/)

      await page.getByRole('button', { name: 'Write variables instead' }).click()
      await expression.fill('jwt.sub == "ann"')
      await page.getByRole('textbox', { name: 'Variables as JSON' }).fill('{"jwt"')
      await page.getByText(/^Invalid JSON/).waitFor()
      await page.getByRole('textbox', { name: 'Variables as JSON' }).fill('{"jwt": {"sub": "bob"}}')
      await part(parts, 'jwt.sub', '"bob"').waitFor()
      await page.getByText(/Available: \d+ variable/).click()
      await checkPage(page, `expressions-variables-${size}`)
      await page.getByRole('list', { name: 'Latest requests' }).getByRole('link').first().click()
      await page.waitForURL(new RegExp(id))
      await page.locator('.expr-latest [aria-current]').getByText('GET /orders').waitFor()
      await part(parts, 'jwt.sub', '(absent)').waitFor()
      assert.deepEqual(complaints, [])
    })
  }
})

const CONFIG = {
  config: { workers: 1 },
  binds: [
    {
      port: 0,
      address: '127.0.0.1',
      listeners: [
        {
          name: 'web',
          routes: [
            {
              name: 'orders',
              policies: {
                authorization: { rules: ['default(request.headers["x-team"], "") == "ops"'] },
                directResponse: { status: 200, body: 'taken' },
              },
            },
          ],
        },
      ],
    },
  ],
}

/** The line of one part, with the value beside it. */
function part(parts: ReturnType<Page['getByRole']>, text: string, value: string) {
  return parts
    .locator('.expr-part')
    .filter({ has: parts.page().getByText(text, { exact: true }) })
    .filter({ has: parts.page().getByText(value, { exact: true }) })
}

async function checkPage(page: Page, name: string): Promise<void> {
  await shoot(page, name)
  assert.deepEqual(await seriousFindings(page), [])
  assert.ok(await fits(page), 'wider than the screen')
  assert.deepEqual(await clippedControls(page), [])
}
