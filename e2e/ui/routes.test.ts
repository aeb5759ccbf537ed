import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { fits, noBrowser, openPage, openReady, seriousFindings, shoot, SIZES, startBrowser } from './browser.ts'
import { clippedControls } from './in-page.ts'

/** A real browser asks which route takes a request. */

describe('the page of routes', { skip: noBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  for (const [size, viewport] of Object.entries(SIZES)) {
    it(`tells which route takes a URL, and what the nearest others lack (${size})`, async (t) => {
      const { file } = useConfigFile(t, CONFIG)
      const program = await useProgram(t, { args: ['-f', file] })
      const { page, complaints } = await openPage(t, browser, { viewport })
      await openReady({ page, complaints }, `${program.admin}/ui/routes`)
      const url = page.getByRole('textbox', { name: 'Does this URL match?' })
      const answer = page.getByRole('list', { name: 'Matching routes' })
      const nearest = page.getByRole('list', { name: 'Nearest other routes' })
      await page
        .locator('.route-detail')
        .getByRole('heading', { name: /^orders/ })
        .waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type(`http://shop.example.com:${program.port()}/rest`)
      await answer.getByText('matches, by its match 1').waitFor()
      await nearest.getByText('lacks path below /orders, and 2 more').waitFor()
      await nearest.getByText('matches too, but has lower precedence').waitFor()
      await page.keyboard.press('Enter')
      await page.locator('.route-detail').getByRole('heading', { name: /^rest/ }).waitFor()
      await page.waitForURL(/route=.*rest/)
      assert.deepEqual(await seriousFindings(page), [])
      assert.ok(await fits(page), `it is wider than ${viewport.width} px`)
      assert.deepEqual(await clippedControls(page), [])
      await shoot(page, `routes-match-${size}`)

      await page.getByRole('textbox', { name: 'Method' }).fill('post')
      await url.fill(`http://shop.example.com:${program.port()}/orders/7`)
      await answer.getByRole('link', { name: 'any', exact: true }).waitFor()
      await nearest.getByText('lacks header x-team').waitFor()
      await page.getByText('Headers', { exact: true }).click()
      const headers = page.getByRole('textbox', { name: 'Headers, one on each line' })
      await headers.fill('x-team')
      await page.getByText('Not a header: x-team').waitFor()
      await headers.fill('x-team: web\nauthorization: Bearer s3cret')
      await answer.locator('.try-taken').getByText('orders').waitFor()
      await page.waitForURL(/headers=x-team/)
      assert.doesNotMatch(page.url(), /s3cret|authorization/)
      await shoot(page, `routes-headers-${size}`)
      assert.deepEqual(await seriousFindings(page), [])

      // The URL alone is enough to show the same result to others.
      await page.reload()
      await answer.locator('.try-taken').getByText('orders').waitFor()
      assert.equal(await headers.inputValue(), 'x-team: web')
      await answer.locator('.try-taken').click()
      await page
        .locator('.route-detail')
        .getByRole('heading', { name: /^orders/ })
        .waitFor()
      await page.waitForURL(/url=.*orders/)

      await url.fill('http://other.example.com/')
      await answer.getByText('No listener matches').waitFor()
      await answer.getByText('their hostnames are shop.example.com').waitFor()
      await url.fill('orders')
      await page.getByText('expected a path that begins with /').waitFor()
      assert.deepEqual(complaints, [])
    })
  }
})

const CONFIG = `config: { workers: 1 }
binds:
- port: 0
  address: 127.0.0.1
  listeners:
  - name: shop
    hostname: shop.example.com
    routes:
    - name: orders
      matches: [{ path: { pathPrefix: /orders }, method: POST, headers: [{ name: x-team, value: { exact: web } }] }]
      backends: [{ host: "127.0.0.1:9" }]
    - name: rest
      matches: [{ path: { exact: /rest } }]
      backends: [{ host: "127.0.0.1:9" }]
    - name: any
      backends: [{ host: "127.0.0.1:9" }]
`
