import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { stringify } from 'yaml'
import { type Origin, startOrigin } from '../../packages/gateway/src/testing/origin.ts'
import { useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { fits, noBrowser, openPage, openReady, seriousFindings, shoot, SIZES, startBrowser } from './browser.ts'
import { clippedControls, overlaps } from './in-page.ts'

/** The overview of configs with many routes, in a real browser. */

describe('the overview of many routes', { skip: noBrowser }, () => {
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
    it(`has a table that sorts and finds, and a map of groups that open (${size})`, async (t) => {
      const admin = await useRoutes(t, origin, shopRoutes(), ['/api/orders/3', '/api/orders/3', '/api/users/1'])
      const { page, complaints } = await openPage(t, browser, { viewport })
      await openReady({ page, complaints }, `${admin}/ui/`)
      await page.getByText('121 routes').waitFor()
      const rows = page.locator('.route-table tbody tr')
      assert.equal(await rows.count(), 121)
      await rows.first().getByRole('link', { name: 'orders-3' }).waitFor()
      await shoot(page, `overview-121-table-${size}`)
      assert.deepEqual(await seriousFindings(page), [])
      assert.deepEqual(await clippedControls(page), [])
      await page.getByRole('button', { name: 'Route', exact: true }).click()
      await page.waitForURL(/sort=title/)
      await rows.first().getByRole('link', { name: 'billing-0' }).waitFor()
      const search = page.getByRole('searchbox', { name: 'Search routes' })
      await search.fill('users-1')
      await page.getByText('11 of 121 routes').waitFor()

      await page.getByRole('button', { name: 'Map' }).click()
      await page.getByText('users-10', { exact: true }).waitFor()
      await search.fill('')
      const orders = page.getByRole('button', { name: /\/api\/orders/ })
      await page.getByRole('button', { name: /shop\.example\.com/ }).waitFor()
      await shoot(page, `overview-121-map-${size}`)
      assert.deepEqual(await overlaps(page), [])
      await press(page, page.getByRole('button', { name: /any host/ }))
      await press(page, orders)
      await page.waitForURL(/open=/)
      assert.equal(await orders.getAttribute('aria-expanded'), 'true')
      await shoot(page, `overview-121-open-${size}`)
      assert.deepEqual(await overlaps(page), [])
      assert.deepEqual(await seriousFindings(page), [])
      assert.deepEqual(await clippedControls(page), [])
      assert.ok(await fits(page), `it is wider than ${viewport.width} px`)
      // The address is all that others need to see the same.
      await page.reload()
      await orders.waitFor()
      assert.equal(await orders.getAttribute('aria-expanded'), 'true')
      await press(page, orders)
      await page.locator('[aria-expanded=false]').filter({ hasText: '/api/orders' }).waitFor()
      assert.deepEqual(complaints, [])
    })

    it(`keeps to what can be read with 2,000 routes (${size})`, async (t) => {
      const routes = Array.from({ length: 2000 }, (_, index) => routeTo(`r${index}`, `/r${index}`, index))
      const admin = await useRoutes(t, origin, routes, ['/r1999'])
      const { page, complaints } = await openPage(t, browser, { viewport })
      await openReady({ page, complaints }, `${admin}/ui/`)
      await page.getByText('2,000 routes').waitFor()
      const rows = page.locator('.route-table tbody tr')
      await rows.first().getByRole('link', { name: 'r1999' }).waitFor()
      assert.equal(await rows.count(), 200)
      await shoot(page, `overview-2000-table-${size}`)
      await page.getByRole('button', { name: 'Show 200 more of 1,800' }).click()
      await page.getByRole('button', { name: 'Show 200 more of 1,600' }).waitFor()
      assert.equal(await rows.count(), 400)
      assert.ok(await fits(page), `it is wider than ${viewport.width} px`)
      assert.deepEqual(await clippedControls(page), [])
      await page.goto(`${admin}/ui/?view=map`)
      const group = page.getByRole('button', { name: /r0 … r166/ })
      await group.waitFor()
      assert.ok((await page.locator('.map-box').count()) < 30)
      await shoot(page, `overview-2000-map-${size}`)
      await press(page, group)
      await page.getByRole('button', { name: /r0 … r18/ }).waitFor()
      assert.deepEqual(await overlaps(page), [])
      await page.getByRole('searchbox', { name: 'Search routes' }).fill('/r1999')
      await page.getByText('1 of 2,000 routes').waitFor()
      await page.locator('.map-route').getByText('r1999', { exact: true }).waitFor()
      assert.equal(await page.locator('.map-box').count(), 3)
      assert.deepEqual(complaints, [])
    })
  }
})

/** By the keyboard, which needs no place on the screen: the canvas of a phone is small. */
async function press(page: Page, button: ReturnType<Page['getByRole']>): Promise<void> {
  await button.focus()
  await page.keyboard.press('Enter')
}

function routeTo(name: string, path: string, backend: number, hostnames: string[] = []): object {
  return {
    name,
    ...(hostnames.length > 0 && { hostnames }),
    matches: [{ path: { pathPrefix: path } }],
    backends: [{ backend: `b${backend % 20}` }],
  }
}

/** 121 routes: four services of an API, and a shop with a host of its own. */
function shopRoutes(): object[] {
  const services = ['orders', 'users', 'carts', 'billing']
  return [
    ...services.flatMap((name, service) =>
      Array.from({ length: 25 }, (_, index) => routeTo(`${name}-${index}`, `/api/${name}/${index}`, service)),
    ),
    ...Array.from({ length: 21 }, (_, index) => routeTo(`page-${index}`, `/page${index}`, index, ['shop.example.com'])),
  ]
}

async function useRoutes(t: TestContext, origin: Origin, routes: object[], paths: string[]): Promise<string> {
  const config = {
    config: { workers: 1 },
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ name: 'web', routes }] }],
    backends: Array.from({ length: 20 }, (_, index) => ({
      name: `b${index}`,
      static: { host: '127.0.0.1', port: origin.port },
    })),
  }
  const { file } = useConfigFile(t, stringify(config))
  const program = await useProgram(t, { args: ['-f', file] })
  for (const path of paths) {
    const { status } = await fetch(`http://127.0.0.1:${program.port()}${path}`)
    assert.equal(status, 200, path)
  }
  return program.admin
}
