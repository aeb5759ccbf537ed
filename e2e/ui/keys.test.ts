import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { KeyFields, StoredKey } from '../../packages/gateway/src/stores/key-store.ts'
import { SqliteKeyStore } from '../../packages/gateway/src/stores/sqlite/sqlite-key-store.ts'
import { type Program, useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { fits, noBrowser, openPage, openReady, seriousFindings, shoot, SIZES, startBrowser } from './browser.ts'
import { clippedControls } from './in-page.ts'

/** The store of keys of a running gateway in a real browser. */

const CASES = [
  ['wide', SIZES.wide, 'light'],
  ['phone', SIZES.phone, 'light'],
  ['wide-dark', SIZES.wide, 'dark'],
  ['phone-dark', SIZES.phone, 'dark'],
] as const
const READ_TOKEN = 'read-token-of-a-dashboard'
const FROM_HERE = { 'x-portico-same-origin': '1', 'content-type': 'application/json' }

describe('the page of keys', { skip: noBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  for (const [name, viewport, colorScheme] of CASES) {
    it(`shows keys, teams and their changes (${name})`, async (t) => {
      const program = await useKeys(t)
      assert.equal(await chat(program, await fillStore(program)), 200)
      const { page, complaints } = await openPage(t, browser, { viewport, colorScheme })
      await openReady({ page, complaints }, `${program.admin}/ui/keys`)
      const table = page.getByRole('region', { name: 'Table of keys' })
      for (const state of ['active', 'not yet valid', 'expired', 'disabled', 'revoked'])
        await table.getByText(state).first().waitFor()
      await table.getByText(/of 2,000 tokens per day/).waitFor()
      assert.equal(await page.title(), 'Keys · Portico')
      await check(page, `keys-${name}`)

      await table.getByRole('link', { name: 'support-bot' }).click()
      const detail = page.getByRole('article', { name: 'Key support-bot' })
      await detail.getByText('60 requests per minute').waitFor()
      await detail.getByRole('link', { name: 'Requests with this key' }).waitFor()
      await check(page, `keys-detail-${name}`)
      await detail.getByRole('button', { name: 'Edit' }).click()
      await page.getByRole('dialog', { name: 'Edit support-bot' }).waitFor()
      await checkDialog(page, `keys-edit-${name}`)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })

      await page.getByRole('navigation', { name: 'Lists' }).getByRole('link', { name: 'Teams' }).click()
      await page.getByRole('group', { name: 'Team night-shift' }).waitFor()
      await check(page, `keys-teams-${name}`)
      await page.getByRole('navigation', { name: 'Lists' }).getByRole('link', { name: 'Changes' }).click()
      await page.getByText('disable key').waitFor()
      await check(page, `keys-changes-${name}`)
      assert.deepEqual(complaints, [])
    })
  }

  it('creates, uses, rotates, disables and revokes a key, by keyboard', async (t) => {
    const program = await useKeys(t)
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.wide })
    await openReady({ page, complaints }, `${program.admin}/ui/`)
    await page.keyboard.press('y')
    await page.getByText('No keys yet').waitFor()
    await page.keyboard.press('n')
    const form = page.getByRole('dialog', { name: 'New key' })
    await form.getByLabel('Name').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('night bot')
    await page.keyboard.press('Tab')
    await page.keyboard.type('ann')
    await page.keyboard.press('Enter')
    await form.getByText(/a name of up to 63 letters/).waitFor()
    await checkDialog(page, 'keys-problem')
    await form.getByLabel('Name').fill('night-bot')
    await form.getByRole('button', { name: 'Add a budget' }).click()
    await form.getByLabel('Amount of budget 1').fill('2000')
    await form.getByLabel('Unit of budget 1').selectOption('tokens')
    // The first attempt was refused by the gateway, and browsers report that.
    complaints.length = 0
    await page.keyboard.press('Enter')
    const first = await takeSecret(page, 'night-bot')
    assert.equal(await chat(program, first), 200)

    const table = page.getByRole('region', { name: 'Table of keys' })
    await table.getByRole('link', { name: 'night-bot' }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    const detail = page.getByRole('article', { name: 'Key night-bot' })
    await detail.getByRole('button', { name: 'Rotate' }).click()
    await page.getByLabel('The old key stays valid for').selectOption('0s')
    await page.getByRole('button', { name: 'Make a new key' }).click()
    const second = await takeSecret(page, 'night-bot')
    assert.deepEqual([await chat(program, first), await chat(program, second)], [401, 200])

    await detail.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('button', { name: 'Disable the key' }).click()
    await detail.locator('.key-state', { hasText: 'disabled' }).waitFor()
    assert.equal(await chat(program, second), 401)
    await detail.getByRole('button', { name: 'Enable' }).click()
    await page.getByRole('button', { name: 'Enable the key' }).click()
    await detail.locator('.key-state', { hasText: 'active' }).waitFor()
    assert.equal(await chat(program, second), 200)
    await detail.getByRole('button', { name: 'Revoke' }).click()
    await page
      .getByRole('dialog', { name: 'Revoke night-bot' })
      .getByText(/nobody can undo this/)
      .waitFor()
    await checkDialog(page, 'keys-revoke')
    await page.getByRole('button', { name: 'Revoke the key' }).click()
    await detail.getByText('none: the key is revoked').waitFor()
    assert.equal(await chat(program, second), 401)
    assert.ok(!(await page.content()).includes(second), 'the page does not keep the key')
    assert.deepEqual(complaints, [])
  })

  it('adds the edit of one person to that of another', async (t) => {
    const program = await useKeys(t)
    await fillStore(program)
    const { page } = await openPage(t, browser, { viewport: SIZES.wide })
    await openReady({ page, complaints: [] }, `${program.admin}/ui/keys?key=support-bot`)
    await page.getByRole('button', { name: 'Edit' }).click()
    const form = page.getByRole('dialog', { name: 'Edit support-bot' })
    await form.getByLabel('Models').fill('gpt-5.5\nmock')
    await change(program, 'PATCH', 'keys/support-bot', { owner: 'Cleo' })
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('Somebody else changed this meanwhile').waitFor()
    await form.getByText('owner is now Cleo').waitFor()
    await checkDialog(page, 'keys-conflict')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    const detail = page.getByRole('article', { name: 'Key support-bot' })
    await detail.getByText('Cleo').waitFor()
    await detail.getByText('gpt-5.5').waitFor()
  })

  it('lists ten thousand keys in pages, and finds one of them', async (t) => {
    const program = await useKeys(t, {
      fill: (insert) => {
        for (let i = 0; i < 10_000; i++)
          addKey(insert, `key-${String(i).padStart(5, '0')}`, { owner: `person ${i % 97}` })
      },
    })
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.wide })
    await openReady({ page, complaints }, `${program.admin}/ui/keys`)
    const table = page.getByRole('region', { name: 'Table of keys' })
    await table.getByRole('link', { name: 'key-00099' }).waitFor()
    assert.equal(await table.getByRole('row').count(), 101)
    await page.getByRole('link', { name: 'Next page' }).click()
    await table.getByRole('link', { name: 'key-00100' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('9876')
    await page.keyboard.press('Enter')
    await table.getByRole('link', { name: 'key-09876' }).waitFor()
    assert.equal(await table.getByRole('row').count(), 2)
    assert.deepEqual(complaints, [])
  })

  it('has no controls that change something for a token with the scope Read', async (t) => {
    const program = await useKeys(t, { hasReadToken: true, fill: (insert) => addKey(insert, 'bot', {}) })
    const { page } = await openPage(t, browser, { viewport: SIZES.wide })
    await page.goto(`${program.admin}/ui/keys?key=bot`)
    await page.getByLabel('Admin token').fill(READ_TOKEN)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByText('Read-only: the token dashboard has the scope Read').waitFor()
    const detail = page.getByRole('article', { name: 'Key bot' })
    await detail.locator('.key-state', { hasText: 'active' }).waitFor()
    const buttons = await page.locator('.keys-page').getByRole('button').allTextContents()
    assert.deepEqual(buttons, ['Close'])
    await page.keyboard.press('n')
    assert.equal(await page.getByRole('dialog').count(), 0)
    assert.deepEqual(await seriousFindings(page), [])
  })
})

async function check(page: Page, name: string): Promise<void> {
  assert.deepEqual(await clippedControls(page), [], name)
  await checkDialog(page, name)
}

/** A dialog covers the controls of the page behind it. */
async function checkDialog(page: Page, name: string): Promise<void> {
  assert.deepEqual(await seriousFindings(page), [], name)
  assert.ok(await fits(page), `${name}: the page is wider than the screen`)
  await shoot(page, name)
}

/** Reads the key that is shown once, and closes its dialog. */
async function takeSecret(page: Page, name: string): Promise<string> {
  const dialog = page.getByRole('dialog', { name: `The key of ${name}` })
  const secret = (await dialog.getByText(/^pk_live_/).textContent()) ?? ''
  assert.match(secret, /^pk_live_[\w-]{43}$/)
  await page.keyboard.press('Escape')
  await page.keyboard.press('o')
  await checkDialog(page, 'keys-secret')
  await dialog.getByRole('button', { name: 'I have stored it' }).click()
  await dialog.waitFor({ state: 'hidden' })
  return secret
}

async function chat(program: Program, key: string): Promise<number> {
  const body = JSON.stringify({ model: 'mock', max_tokens: 20, messages: [{ role: 'user', content: 'Good morning' }] })
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`http://127.0.0.1:${program.port()}/v1/chat/completions`, {
    method: 'POST',
    body,
    headers,
  })
  await answer.text()
  return answer.status
}

async function change(program: Program, method: string, path: string, body?: object): Promise<{ secret?: string }> {
  const answer = await fetch(`${program.admin}/api/${path}`, {
    ...{ method, headers: FROM_HERE },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  assert.ok(answer.ok, text)
  return JSON.parse(text) as { secret?: string }
}

/** Teams four deep, and keys in all states; returns the key `support-bot`. */
async function fillStore(program: Program): Promise<string> {
  const budgets = [{ tokens: 1_000_000, per: 'Month', timeZone: 'Europe/Berlin' }]
  const teams = ['company', 'support', 'first-line', 'night-shift']
  for (const [i, name] of teams.entries())
    await change(program, 'POST', 'teams', { name, budgets, ...(i > 0 && { parent: teams[i - 1] }) })
  const { secret = '' } = await change(program, 'POST', 'keys', {
    ...{
      name: 'support-bot',
      owner: 'Ann Lee',
      team: 'night-shift',
      models: ['mock', 'gpt-*'],
      tags: { tier: 'gold' },
    },
    budgets: [{ tokens: 2_000, per: 'Day' }, ...budgets],
    limits: [{ requests: 60, unit: 'Minutes' }, { calls: 4 }],
  })
  for (const [name, fields] of Object.entries({
    early: { notBefore: '2999-01-01T00:00:00Z' },
    late: { expires: '2020-01-01T00:00:00Z', owner: '<b>Bob</b>' },
    idle: {},
    lost: { team: 'support' },
  }))
    await change(program, 'POST', 'keys', { name, ...fields })
  await change(program, 'POST', 'keys/idle/disable')
  await change(program, 'POST', 'keys/lost/revoke')
  return secret
}

function addKey(insert: StatementSync, name: string, fields: KeyFields): void {
  const created = new Date().toISOString()
  const secrets = [{ hash: hash('sha256', name), prefix: 'pk_live_abcd', created }]
  const key: StoredKey = { id: name, name, fields, secrets, created, changed: created }
  insert.run(name, fields.team ?? '', JSON.stringify(key))
}

interface Options {
  readonly hasReadToken?: boolean
  readonly fill?: (insert: StatementSync) => void
}

async function useKeys(t: TestContext, { hasReadToken = false, fill }: Options = {}): Promise<Program> {
  const tokens = [{ name: 'dashboard', scope: 'Read', secretRef: { env: 'READ_TOKEN' } }]
  const { file, folder } = useConfigFile(t, {
    config: { workers: 1, stateDir: 'state', keys: {}, ...(hasReadToken && { admin: { tokens } }) },
    binds: [
      {
        ...{ port: 0, address: '127.0.0.1' },
        listeners: [
          {
            routes: [
              {
                policies: { apiKeyAuthentication: { store: {} } },
                backends: [{ ai: { provider: { mock: { latency: '1ms', tokensPerSecond: 5_000 } } } }],
              },
            ],
          },
        ],
      },
    ],
  })
  mkdirSync(join(folder, 'state'))
  if (fill !== undefined) {
    const path = join(folder, 'state', 'keys.db')
    new SqliteKeyStore(path).close()
    const database = new DatabaseSync(path)
    database.exec('BEGIN')
    fill(database.prepare('INSERT INTO keys (name, team, entry) VALUES (?, ?, ?)'))
    database.exec('COMMIT')
    database.close()
  }
  return useProgram(t, { args: ['-f', file], env: { READ_TOKEN } })
}
