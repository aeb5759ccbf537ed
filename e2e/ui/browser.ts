import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const FOUND = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)

/** Why there is no browser; false where there is one. */
export const noBrowser = FOUND === undefined ? 'Chromium is not installed (Debian: apt-get install chromium)' : false

/** The browser's program; empty where there is none. */
export const BROWSER_PATH = FOUND ?? ''

export const SIZES = { wide: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const

const FRESH_UI = new URL('../../scripts/fresh-ui.mjs', import.meta.url).href

/** With pages built before: beside a gateway they have less right to the processor, which takes long on a busy machine. */
export async function startBrowser(): Promise<Browser> {
  const script = `import(${JSON.stringify(FRESH_UI)}).then(({ freshUi }) => freshUi())`
  await promisify(execFile)(process.execPath, ['--eval', script])
  return chromium.launch({ executablePath: BROWSER_PATH, args: ['--no-sandbox'] })
}

interface WatchedPage {
  page: Page
  /** Errors of the console, and exceptions of the page. */
  complaints: string[]
}

export async function openPage(t: TestContext, browser: Browser, options: BrowserContextOptions): Promise<WatchedPage> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  t.after(() => context.close())
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  // A checkout builds its pages first.
  page.setDefaultTimeout(60_000)
  return { page, complaints }
}

/** A checkout builds its pages when they are first opened, and says so with a 503, which is no fault of theirs. */
export async function openReady({ page, complaints }: WatchedPage, address: string): Promise<void> {
  await page.goto(address)
  await page.locator('.frame').waitFor({ timeout: 60_000 })
  complaints.length = 0
}

export async function fits(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')
}

/** `UI_SHOTS=<folder>` keeps what was seen. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['UI_SHOTS']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.png`), await page.screenshot())
}

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

interface AxeResult {
  violations: { id: string; impact: string; nodes: { target: string[]; failureSummary: string }[] }[]
}

/** Findings of axe that keep people out. The page's own policy forbids scripts of others, so it runs beside the page's code. */
export async function seriousFindings(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails !== undefined)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }
  await evaluate(readFileSync(axePath, 'utf8'))
  const { violations } = (await evaluate('axe.run(document, { resultTypes: ["violations"] })')) as AxeResult
  await session.detach()
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    )
}
