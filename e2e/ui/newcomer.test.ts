import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { noTerminal, type Program, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { closedPort } from '../../packages/gateway/src/testing/scene.ts'
import { fits, noBrowser, openPage, openReady, seriousFindings, shoot, SIZES, startBrowser } from './browser.ts'
import { clippedControls } from './in-page.ts'
import { writeConfig } from './editor.ts'

/** The first minutes with a gateway, as the README leads through them: `npm start`, and its pages. */

describe('a newcomer', { skip: noBrowser || noTerminal }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  it('chats, calls a tool, breaks a rule, has the refusal explained, and goes back', async (t) => {
    const { program, token } = await useQuickStart(t)
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.wide })
    await openReady({ page, complaints }, `${program.admin}/ui/`)
    const decisions = page.getByRole('region', { name: 'Decisions' })
    await open(page, 'Models')
    await chat(page, 'Good morning')
    await page.locator('.turn-model').getByText('[mock]').waitFor()
    await decisions.getByText('POST /v1/chat/completions').first().waitFor()

    await open(page, 'Tools')
    await page.getByRole('link', { name: /^echo/ }).click()
    await page.getByRole('textbox', { name: 'message' }).fill('hello there')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByRole('region', { name: 'Result' }).getByText('Echo: hello there').waitFor()
    await decisions.getByText('tools/call echo').first().waitFor()
    await shoot(page, 'newcomer-tools')
    await open(page, 'Requests')
    await page.locator('.table-body .row').filter({ hasText: '/v1/chat/completions' }).first().waitFor()
    await page.locator('.table-body .row').filter({ hasText: 'tools/call echo' }).first().waitFor()

    await open(page, 'Config')
    await page.getByRole('heading', { name: 'The quick start' }).waitFor()
    const text = await shownText(program)
    const broken = withBrokenRule(text)
    await writeConfig(page, broken)
    await page.getByRole('region', { name: 'Effect' }).getByText('1 of 3 routes changes.').waitFor()
    await shoot(page, 'newcomer-config')
    assert.deepEqual(await seriousFindings(page), [])
    await page.getByRole('button', { name: 'Apply …' }).click()
    await page.getByRole('dialog').getByText('No file is written.').waitFor()
    await page.getByRole('dialog').getByText('printed in its terminal').waitFor()
    await confirm(page, 'Apply this config', token)
    await page.getByText('Config 2 is live.').waitFor()

    await open(page, 'Models')
    await chat(page, 'Good morning')
    await page.getByRole('alert').getByText('403').waitFor()
    await decisions.getByText('▲ stopped').waitFor()
    await decisions.getByRole('link', { name: 'Open the request' }).click()
    await page.getByText('Why, and what would pass').waitFor()
    await page.getByText(RULE).first().waitFor()
    const line = broken.split('\n').findIndex((each) => each.includes(RULE)) + 1
    await page.getByText(`<quick start>:${line}:`).first().waitFor()
    await shoot(page, 'newcomer-refused')

    await open(page, 'Config')
    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('button', { name: 'Config 1' }).click()
    await page.getByRole('button', { name: 'Roll back to config 1' }).click()
    await confirm(page, 'Roll back to config 1', token)
    await page.getByText('Config 3 is live.').waitFor()
    await open(page, 'Models')
    await chat(page, 'And now')
    await page.locator('.turn-model').getByText('[mock]').waitFor()
    assert.equal(await shownText(program), text)
    assert.deepEqual(complaints, [])
  })

  it('takes the quick start along as a file that runs', async (t) => {
    const { program } = await useQuickStart(t)
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.phone, acceptDownloads: true })
    await openReady({ page, complaints }, `${program.admin}/ui/config`)
    await page.getByText('portico -f portico.yaml', { exact: true }).waitFor()
    assert.ok(await fits(page), 'it is wider than a phone')
    assert.deepEqual(await clippedControls(page), [])
    assert.deepEqual(await seriousFindings(page), [])
    await shoot(page, 'newcomer-config-phone')
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download portico.yaml' }).click()
    const download = await saved
    assert.equal(download.suggestedFilename(), 'portico.yaml')
    const file = await download.path()
    assert.equal(readFileSync(file, 'utf8'), await shownText(program))
    const own = await useProgram(t, { args: ['-f', file], env: await ports() })
    assert.equal((await fetch(`http://127.0.0.1:${own.port()}/`)).status, 200)
    assert.deepEqual(complaints, [])
  })
})

const RULE = "source.address == '10.1.2.3'"

/** As a comment of the config says it. */
function withBrokenRule(text: string): string {
  const edited = text.replace("source.address == '127.0.0.1'", RULE)
  assert.notEqual(edited, text)
  return edited
}

async function ports(): Promise<Record<string, string>> {
  return { PORT: String(await closedPort()), WORKER_THREADS: '1' }
}

/** As `npm start` runs it: on a terminal, which is where the token for changes is shown. */
async function useQuickStart(t: TestContext): Promise<{ program: Program; token: string }> {
  const program = await useProgram(t, { terminal: true, env: await ports() })
  const [, token = ''] = /^ {2}its token {2}(\S+)/m.exec(program.stderr()) ?? []
  assert.notEqual(token, '', program.stderr())
  return { program, token }
}

async function shownText(program: Program): Promise<string> {
  return ((await (await fetch(`${program.admin}/api/config`)).json()) as { text: string }).text
}

async function open(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click()
}

async function chat(page: Page, text: string): Promise<void> {
  await page.getByLabel('Model', { exact: true }).fill('mock')
  await page.getByRole('textbox', { name: 'Message' }).fill(text)
  await page.keyboard.press('Enter')
}

async function confirm(page: Page, name: string, token: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name })
  await dialog.getByLabel('Admin token').fill(token)
  await page.keyboard.press('Enter')
}
