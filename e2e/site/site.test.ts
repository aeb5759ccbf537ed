import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Browser, chromium } from 'playwright-core'
import { allPages, root } from '../../site/site-pages.ts'
import { htmlFile, markdownFile } from '../../site/stage.ts'
import { BROWSER_PATH, noBrowser, openPage, shoot, SIZES } from '../ui/browser.ts'
import { serveFolder } from './file-server.ts'

/** The site as `npm run docs` built it. */

const dist = join(root, 'site/dist')
const notBuilt = existsSync(join(dist, 'index.html')) ? false : 'site/dist is not there (`npm run docs` builds it)'

describe('the built site', { skip: notBuilt }, () => {
  it('has every page, as HTML and as Markdown', () => {
    for (const page of allPages()) {
      const file = join(dist, htmlFile(page))
      assert.ok(existsSync(file), `${page.path} is not on the site: run \`npm run docs\``)
      assert.ok(existsSync(join(dist, markdownFile(page))), markdownFile(page))
      assert.match(readFileSync(file, 'utf8'), /<h1[ >]/, page.path)
    }
    const copies = [...readFileSync(join(dist, 'examples/index.html'), 'utf8').matchAll(/href="\/(files\/[^"]+)"/g)]
    assert.ok(copies.length > 20, `the page of examples links only ${copies.length} files`)
    for (const [, file = ''] of copies) assert.ok(existsSync(join(dist, file)), file)
    for (const file of ['llms.txt', 'llms-full.txt', 'versions.json', '404.html']) {
      assert.ok(existsSync(join(dist, file)), file)
    }
  })

  it('has an index for the search that knows every page', () => {
    const [index = ''] = globSync('assets/chunks/@localSearchIndex*.js', { cwd: dist })
    const text = readFileSync(join(dist, index), 'utf8')
    for (const page of allPages()) {
      const address = `/${htmlFile(page).replace(/(^|\/)index\.html$/, '$1')}`
      assert.ok(text.includes(address), address)
    }
  })

  it('loads nothing from other servers', () => {
    for (const page of globSync('**/*.html', { cwd: dist })) {
      const html = readFileSync(join(dist, page), 'utf8')
      const loads = html.matchAll(/<(?:script|link|img|iframe|source)\b[^>]*?\s(?:src|href)="([^"]+)"/g)
      for (const [, address = ''] of loads) assert.doesNotMatch(address, /^([a-z]+:)?\/\//, `${page}: ${address}`)
    }
    for (const sheet of globSync('assets/*.css', { cwd: dist })) {
      assert.doesNotMatch(readFileSync(join(dist, sheet), 'utf8'), /url\(["']?(https?:)?\/\//, sheet)
    }
  })
})

describe('the site in a browser', { skip: notBuilt || noBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await chromium.launch({ executablePath: BROWSER_PATH, args: ['--no-sandbox'] })
  })
  after(() => browser.close())

  for (const [size, viewport] of Object.entries(SIZES)) {
    it(`finds a page, turns dark, and asks its own server alone (${size})`, async (t) => {
      const address = await serveFolder(t, dist)
      const { page, complaints } = await openPage(t, browser, { viewport })
      const strangers: string[] = []
      page.on('request', (request) => {
        if (!request.url().startsWith(address) && !request.url().startsWith('data:')) strangers.push(request.url())
      })
      await page.goto(`${address}/`)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await shoot(page, `site-home-${size}`)

      await page.keyboard.press('Control+k')
      await page.locator('#localsearch-input').fill('session persistence')
      const result = page.locator('#localsearch-list a').first()
      await result.waitFor()
      assert.match((await result.textContent()) ?? '', /session\s*persistence/i)
      await result.click()
      await page.waitForURL(/session-persistence/)
      await page.getByRole('link', { name: 'This page as Markdown' }).waitFor()

      assert.equal(await page.evaluate('document.documentElement.classList.contains("dark")'), false)
      await page.evaluate('document.querySelector(".VPSwitchAppearance").click()')
      await page.waitForFunction('document.documentElement.classList.contains("dark")')
      await page.goto(`${address}/`)
      assert.equal(await page.evaluate('document.documentElement.classList.contains("dark")'), true)
      await shoot(page, `site-home-dark-${size}`)
      assert.deepEqual(strangers, [])
      assert.deepEqual(complaints, [])
    })
  }

  it('lists the versions that were built', async (t) => {
    const address = await serveFolder(t, dist)
    const { page } = await openPage(t, browser, { viewport: SIZES.wide })
    await page.goto(`${address}/`)
    const versions = JSON.parse(readFileSync(join(dist, 'versions.json'), 'utf8')) as { version: string }[]
    const options = page.getByRole('combobox', { name: 'Version of the docs' }).locator('option')
    await page.waitForFunction(`document.querySelectorAll('.version-switch option').length === ${versions.length}`)
    assert.deepEqual(
      await options.allTextContents(),
      versions.map(({ version }) => version),
    )
  })
})
