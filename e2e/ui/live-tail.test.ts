import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { type Origin, startOrigin } from '../../packages/gateway/src/testing/origin.ts'
import { useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { Crowd } from '../soak/crowd.ts'
import { noBrowser, openPage, SIZES, startBrowser } from './browser.ts'

/** How the page bears a live tail of 2,000 requests a second with as many rows as it holds. */

const RATE = 2_000
const MOST_ROWS = 10_000
const STEP_MS = 100
/** Time for which the full live tail is watched. */
const WATCHED_MS = 10_000

describe('a live tail', { skip: noBrowser }, () => {
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

  it('keeps few rows in the page and uses few messages during a flood of requests', async (t) => {
    const { file } = useConfigFile(t, configText(origin.port))
    const program = await useProgram(t, { args: ['-f', file] })
    const crowd = new Crowd(program.port(), 32)
    t.after(() => crowd.close())
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.wide })
    await page.addInitScript(WATCH)
    await page.goto(`${program.admin}/ui/requests`)
    await page.getByText('● Live').waitFor()
    complaints.length = 0

    const flood = keepAsking(crowd)
    // The head counts as a row.
    await page.locator(`.table[aria-rowcount="${MOST_ROWS + 1}"]`).waitFor({ timeout: 240_000 })
    await read(page)
    const asked = crowd.asked
    const most = await mostRows(page)
    const { messages, tasks, millis } = await read(page)
    const rate = (1000 * (crowd.asked - asked)) / millis
    await flood.stop()

    const seconds = millis / 1000
    t.diagnostic(
      `${Math.round(rate)} requests/s, ${(messages / seconds).toFixed(1)} messages/s, at most ${most} rows in the page; ` +
        `${tasks.length} tasks over 50 ms, the longest ${Math.max(0, ...tasks)} ms (the bar on a quiet machine: 100 ms)`,
    )
    assert.ok(messages > 0 && messages <= 10 * seconds + 2, `${messages} messages in ${seconds} s`)
    assert.ok(most > 10 && most <= 60, `${most} rows in the page`)
    assert.deepEqual(complaints, [])
  })
})

/** Asks for so many in each step as long as it is let; a machine that cannot keep up asks for fewer. */
function keepAsking(crowd: Crowd): { stop(): Promise<void> } {
  const ending = new AbortController()
  const asking = (async () => {
    while (!ending.signal.aborted) {
      const next = performance.now() + STEP_MS
      await crowd.ask((RATE * STEP_MS) / 1000, 60_000)
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())))
    }
  })()
  return {
    stop: () => {
      ending.abort()
      return asking
    },
  }
}

/** Looks again and again for a while. */
async function mostRows(page: Page): Promise<number> {
  let most = 0
  for (const end = performance.now() + WATCHED_MS; performance.now() < end;) {
    most = Math.max(most, await page.locator('.table-body [role=row]').count())
    await page.waitForTimeout(500)
  }
  return most
}

interface TailCounts {
  /** Messages of the stream of requests. */
  messages: number
  /** Milliseconds of each task of the page over 50 ms. */
  tasks: number[]
  millis: number
}

/** Returns the counts since the last call. */
function read(page: Page): Promise<TailCounts> {
  return page.evaluate('window.tailWatch()')
}

/** Runs in the page before its own code. */
const WATCH = `(() => {
  let [messages, tasks, since] = [0, [], performance.now()]
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) tasks.push(Math.round(duration))
  }).observe({ type: 'longtask' })
  const fetched = window.fetch
  window.fetch = async (...args) => {
    const response = await fetched(...args)
    if (!String(args[0]?.url ?? args[0]).includes('/api/requests/stream') || response.body === null) return response
    const decoder = new TextDecoder()
    const counted = new TransformStream({
      transform(chunk, controller) {
        messages += decoder.decode(chunk, { stream: true }).match(/^data:/gm)?.length ?? 0
        controller.enqueue(chunk)
      },
    })
    return new Response(response.body.pipeThrough(counted), response)
  }
  window.tailWatch = () => {
    const found = { messages, tasks, millis: performance.now() - since }
    ;[messages, tasks, since] = [0, [], performance.now()]
    return found
  }
})()`

function configText(port: number): string {
  return `config: { workers: 1, logging: { level: "warn,request=off" } }
binds:
- port: 0
  address: 127.0.0.1
  listeners:
  - routes:
    - name: items
      policies: { authorization: { rules: [{ deny: 'random() < 0.05' }] } }
      backends: [{ host: "127.0.0.1:${port}" }]
`
}
