import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { TOKEN, useEditable, view } from '../../packages/gateway/src/testing/edits.ts'
import { type Program, useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { fits, noBrowser, openPage, seriousFindings, shoot, SIZES, startBrowser } from './browser.ts'
import { clippedControls } from './in-page.ts'
import { logIn, writeConfig } from './editor.ts'

/** The config page in a real browser, before a gateway that takes edits. */

const EVIL = '<img src=x onerror="document.title=1">'

describe('the config page', { skip: noBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  it('shows what is wrong with an edit and what would come of it, makes it live with the token, and goes back', async (t) => {
    const { program, config } = await useEditable(t, configText({ isOpen: true }))
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.wide })
    await logIn(page, `${program.admin}/ui/config`)
    complaints.length = 0
    const text = (await view(program)).text ?? ''
    assert.ok(text.includes('<redacted>') && !text.includes('sk-very-secret'))
    await writeConfig(page, text.replace('body: first', 'bod: first'))
    const problems = page.getByRole('region', { name: 'Problems', exact: true })
    await problems.getByRole('button', { name: '11:40' }).waitFor()
    await problems.getByText('did you mean `body`?').waitFor()
    await page.locator('.cm-lint-marker-error').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Apply …' }).isEnabled(), false)
    await shoot(page, 'config-problem')
    await problems.getByRole('button', { name: '11:40' }).click()
    await page.waitForURL(/line=11/)
    await page.locator('.cm-activeLine').getByText('bod').waitFor()
    assert.deepEqual(await seriousFindings(page), [])

    await writeConfig(page, text.replace('body: first', 'body: second'))
    await page.getByRole('region', { name: 'Effect' }).getByText('1 of 2 routes changes.').waitFor()
    await page.getByText('No limit is reset.').waitFor()
    await page.getByText('No stream is open.').waitFor()
    await shoot(page, 'config-effect')
    assert.deepEqual(await seriousFindings(page), [])
    await page.getByRole('tab', { name: 'Difference' }).click()
    await page.locator('.diff-added').getByText('body: second').waitFor()
    await page.waitForURL(/tab=diff/)
    assert.deepEqual(await seriousFindings(page), [])
    await shoot(page, 'config-diff')

    await page.keyboard.press('Control+s')
    const dialog = page.getByRole('dialog', { name: 'Apply this config' })
    await dialog.getByText('1 of 2 routes changes.').waitFor()
    assert.deepEqual(complaints, [])
    await dialog.getByLabel('Admin token').fill('wrong')
    await page.keyboard.press('Enter')
    await dialog.getByText('the admin token is required').waitFor()
    // The browser says of each refused call that it was refused.
    complaints.length = 0
    await dialog.getByLabel('Admin token').fill(TOKEN)
    await shoot(page, 'config-apply')
    assert.deepEqual(await seriousFindings(page), [])
    await page.keyboard.press('Enter')
    await page.getByText('Config 2 is live.').waitFor()
    await page.getByText('Config 2 live').waitFor()
    assert.equal((await page.locator('.config-head').innerText()).match(/is live/g)?.length, 1)
    assert.equal(await answer(program), 'second')
    assert.equal(readFileSync(config.file, 'utf8'), configText({ isOpen: true }).replace('first', 'second'))

    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('button', { name: 'Config 1' }).click()
    await page.waitForURL(/tab=history&generation=1/)
    await page.locator('.diff-added').getByText('body: first').waitFor()
    await shoot(page, 'config-history')
    assert.deepEqual(await seriousFindings(page), [])
    await page.getByRole('button', { name: 'Roll back to config 1' }).click()
    const back = page.getByRole('dialog', { name: 'Roll back to config 1' })
    await back.getByLabel('Admin token').fill(TOKEN)
    await page.keyboard.press('Enter')
    await page.getByText('Config 3 is live.').waitFor()
    assert.equal(await answer(program), 'first')
    assert.equal(readFileSync(config.file, 'utf8'), configText({ isOpen: true }))
    assert.deepEqual(complaints, [])
  })

  it('offers what the schema knows, and what may not be changed there as a copy', async (t) => {
    const { program, config } = await useEditable(t, configText({ isOpen: true }))
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.wide, colorScheme: 'dark' })
    await logIn(page, `${program.admin}/ui/config`)
    complaints.length = 0
    const text = (await view(program)).text ?? ''
    await writeConfig(page, `${text}fron`)
    await page.keyboard.press('Control+Space')
    await page.locator('.cm-tooltip-autocomplete').getByText('frontend').waitFor()
    await page.locator('.cm-completionInfo').getByText('Policies for all incoming connections.').waitFor()
    await shoot(page, 'config-completion')
    await page.keyboard.press('Escape')
    await writeConfig(
      page,
      text.replace('- host: "127.0.0.1:9"', '- mcp: { targets: [{ name: x, stdio: { cmd: sh } }] }'),
    )
    const notHere = page.getByRole('region', { name: 'Changes for the file' })
    await notHere.getByText('a program that the gateway starts').waitFor()
    await notHere.getByRole('button', { name: 'Copy the changed lines' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Apply …' }).isEnabled(), false)
    assert.deepEqual(await seriousFindings(page), [])
    await shoot(page, 'config-refused-edit')
    // Somebody else is quicker.
    config.edit(configText({ isOpen: true }).replace('first', 'theirs'))
    await page.getByText('The file has changed since you began to edit.').waitFor()
    await page.getByRole('button', { name: 'Discard your text' }).click()
    await page.locator('.cm-content').getByText('body: theirs').waitFor()
    assert.equal(await page.locator('img').count(), 0, 'nothing of the config is markup')
    assert.equal(await page.title(), 'Config · Portico')
    assert.deepEqual(complaints, [])
  })

  for (const [size, viewport] of Object.entries(SIZES)) {
    it(`is for reading where nobody allowed more, and says how to (${size})`, async (t) => {
      const { file } = useConfigFile(t, configText({ isOpen: false }))
      const program = await useProgram(t, { args: ['-f', file] })
      for (const colorScheme of ['light', 'dark'] as const) {
        const { page, complaints } = await openPage(t, browser, { viewport, colorScheme })
        await page.goto(`${program.admin}/ui/config?line=3`)
        await page.locator('.frame').waitFor({ timeout: 120_000 })
        complaints.length = 0
        await page.getByText('config: { ui: { edit: true } }').waitFor()
        await page.locator('.cm-content[aria-label="Text of the config"][contenteditable=false]').waitFor()
        await page.locator('.cm-content').getByText(EVIL).waitFor()
        assert.equal(await page.getByRole('button', { name: 'Apply …' }).count(), 0)
        assert.deepEqual(await seriousFindings(page), [])
        assert.ok(await fits(page), `it is wider than ${viewport.width} px`)
        assert.deepEqual(await clippedControls(page), [])
        await shoot(page, `config-reading-${size}-${colorScheme}`)
        await page.getByRole('tab', { name: 'History' }).click()
        await page.getByText('Changes to the file if you roll back.').waitFor()
        assert.ok(await fits(page), `the history is wider than ${viewport.width} px`)
        assert.deepEqual(await clippedControls(page), [])
        assert.equal(await page.getByRole('button', { name: 'Roll back to config 1' }).isEnabled(), false)
        assert.equal(await page.locator('img').count(), 0)
        assert.deepEqual(complaints, [])
      }
    })
  }
})

function configText({ isOpen }: { isOpen: boolean }): string {
  return `config: { workers: 1${isOpen ? ', ui: { edit: true }' : ''} }
# ${EVIL}
binds:
- port: 0
  address: 127.0.0.1
  listeners:
  - name: web
    routes:
    - name: page
      policies:
        directResponse: { status: 200, body: first }
    - name: other
      matches: [{ path: { pathPrefix: /other } }]
      policies: { rateLimit: { local: [{ requests: 5, unit: Hours }] } }
      backends:
      - host: "127.0.0.1:9"
        policies: { auth: { key: sk-very-secret } }
`
}

async function answer(program: Program): Promise<string> {
  return (await fetch(`http://127.0.0.1:${program.port()}/`)).text()
}
