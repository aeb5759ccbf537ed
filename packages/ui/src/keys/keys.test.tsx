import { fireEvent, screen, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { AuditEntryView, KeyView, TeamView } from '@portico/gateway/admin-api'
import { type Answers, refusal, type SeenCall, useFakeGateway } from '../testing/fake-gateway.ts'
import { sampleBudget, sampleKey, sampleTeam } from '../testing/key-samples.ts'
import { openPage } from '../testing/render.tsx'
import { sampleRequest, sampleState } from '../testing/samples.ts'

const SECRET = 'pk_live_0123456789012345678901234567890123456789012'
const OPEN = { problem: null, entries: 3, validUntil: null }
const NO_REQUESTS = { requests: [], next: null }

interface Store {
  readonly keys?: readonly KeyView[]
  readonly teams?: readonly TeamView[]
  readonly entries?: readonly AuditEntryView[]
  readonly isReadOnly?: boolean
  readonly answers?: Answers
}

/** A gateway with a store of keys. */
function useStore(t: TestContext, { keys = [], teams = [], entries = [], isReadOnly = false, answers = {} }: Store) {
  const access = isReadOnly
    ? ({ token: 'dashboard', scope: 'Read' } as const)
    : ({ token: null, scope: 'Write' } as const)
  return useFakeGateway(t, {
    'GET /api/state': sampleState({ keyStore: OPEN, access }),
    'GET /api/keys': { keys, next: null },
    'GET /api/teams': { teams },
    'GET /api/audit': { entries, next: null },
    'GET /api/requests': NO_REQUESTS,
    ...Object.fromEntries(keys.map((key) => [`GET /api/keys/${key.name}`, key])),
    ...answers,
  })
}

describe('the list of keys', () => {
  test('shows state, owner, team and what is spent', async (t) => {
    const budgets = [
      sampleBudget(),
      sampleBudget({ tokens: 1000, per: 'Month', spent: 1000, left: 0, usd: undefined as never }),
    ]
    useStore(t, {
      keys: [
        sampleKey({ owner: 'Ann', team: 'support', budgets, expires: '2999-01-31T12:00:00.000Z' }),
        sampleKey({ id: 'k2', name: 'old', state: 'revoked', secrets: [] }),
        sampleKey({ id: 'k3', name: 'web', budgets: [sampleBudget({ spent: null, left: null })] }),
        sampleKey({ id: 'k4', name: 'roll', budgets: [sampleBudget({ per: 'Week', rolling: true })] }),
        sampleKey({ id: 'k5', name: 'once', budgets: [sampleBudget({ per: 'Lifetime', resetsAt: null })] }),
      ],
    })
    await openPage(t, '/keys')
    const row = await screen.findByRole('row', { name: /^support-bot/ })
    assert.match(row.textContent ?? '', /active.*pk_live_ab12….*Ann.*support.*2999-01-31$/)
    assert.match(
      row.textContent ?? '',
      /1,000 of 1,000 tokens per month, 100 % ▲ used up\$0\.5000 of \$5\.00 per day, 10 %/,
    )
    assert.ok(screen.getByRole('row', { name: /^old .*revoked – / }))
    assert.match(screen.getByRole('row', { name: /^web/ }).textContent ?? '', /unknown of \$5\.00 per day/)
    assert.match(screen.getByRole('row', { name: /^roll/ }).textContent ?? '', /of \$5\.00 in the last 7 days, 10 %/)
    assert.ok(within(screen.getByRole('row', { name: /^roll/ })).getByTitle('Has more at 2026-11-20 00:00'))
    assert.match(screen.getByRole('row', { name: /^once/ }).textContent ?? '', /of \$5\.00 for ever, 10 %/)
    assert.ok(within(screen.getByRole('row', { name: /^once/ })).getByTitle('Never begins anew'))
    assert.equal(document.title, 'Keys · Portico')
  })

  test('is filtered and paged by the gateway, and the address has all of it', async (t) => {
    const pageOf = ({ path }: SeenCall): object => {
      const query = new URLSearchParams(path.split('?')[1])
      const after = query.get('after') ?? ''
      // A search reads a part of the keys at a time, and may find none among them.
      if (query.get('text') === 'needle')
        return after === '' ? { keys: [], next: 'm' } : { keys: [sampleKey()], next: null }
      if (after === 'a') return { keys: [sampleKey({ name: 'b' })], next: null }
      return { keys: [sampleKey({ name: 'a' })], next: 'a' }
    }
    const gateway = useStore(t, { answers: { 'GET /api/keys': pageOf } })
    const { user, address } = await openPage(t, '/keys')
    await user.click(await screen.findByRole('link', { name: 'Next page' }))
    assert.ok(await screen.findByRole('link', { name: 'b' }))
    assert.equal(address(), '/keys?after=a')
    await user.click(screen.getByRole('link', { name: 'First page' }))
    assert.ok(await screen.findByRole('link', { name: 'a' }))
    await user.keyboard('/')
    await user.keyboard('needle{Enter}')
    assert.ok(await screen.findByRole('link', { name: 'support-bot' }))
    await user.click(screen.getByRole('link', { name: 'disabled' }))
    assert.equal(address(), '/keys?text=needle&state=disabled')
    assert.ok(
      gateway.seen('GET /api/keys').some(({ path }) => path === '/api/keys?limit=100&text=needle&state=disabled'),
    )
  })

  test('is walked by keys, and a row opens beside it', async (t) => {
    const keys = [
      sampleKey({ id: '1', name: 'a' }),
      sampleKey({ id: '2', name: 'b', owner: 'Bob', tags: { tier: 'gold' } }),
    ]
    const last = { requests: [sampleRequest({ at: Date.now() - 180_000 })], next: null }
    useStore(t, { keys, answers: { 'GET /api/requests': last } })
    const { user, address } = await openPage(t, '/keys')
    await screen.findByRole('link', { name: 'a' })
    await user.keyboard('jj{Enter}')
    const detail = within(await screen.findByRole('article', { name: 'Key b' }))
    assert.ok(await detail.findByText('3 min ago'))
    assert.ok(detail.getByText('tier=gold'))
    assert.equal(
      detail.getByRole('link', { name: 'Requests with this key' }).getAttribute('href'),
      '/ui/requests?q=key%3Ab',
    )
    assert.equal(address(), '/keys?key=b')
    await user.keyboard('k')
    assert.ok(await screen.findByRole('article', { name: 'Key a' }))
    await user.keyboard('{Escape}')
    assert.equal(address(), '/keys')
  })

  test('says how to begin, when there are no keys, and when none matches', async (t) => {
    useStore(t, {})
    const { user, address } = await openPage(t, '/keys?state=expired')
    await user.click(
      within(
        await screen.findByRole('heading', { name: 'No key matches' }).then((each) => each.parentElement ?? each),
      ).getByRole('link'),
    )
    assert.ok(await screen.findByRole('heading', { name: 'No keys yet' }))
    assert.equal(address(), '/keys')
  })
})

describe('the page', () => {
  test('says how to set up a store of keys, and asks for nothing, where there is none', async (t) => {
    const gateway = useFakeGateway(t, { 'GET /api/state': sampleState() })
    await openPage(t, '/keys')
    assert.ok(await screen.findByRole('heading', { name: 'The gateway keeps no keys' }))
    assert.ok(screen.getByText(/stateDir: state\s+keys: \{\}/))
    assert.deepEqual([...new Set(gateway.calls.map(({ path }) => path))], ['/api/state'])
  })

  test('says why the store failed', async (t) => {
    useFakeGateway(t, {
      'GET /api/state': sampleState({ keyStore: { problem: 'disk I/O error', entries: 0, validUntil: null } }),
    })
    await openPage(t, '/keys')
    const alert = within(await screen.findByRole('alert'))
    assert.ok(alert.getByText('disk I/O error'))
    assert.ok(alert.getByText('Requests with keys of this store get 503.'))
  })

  test('says until when a failing store has valid keys', async (t) => {
    const validUntil = Date.parse('2026-11-20T10:30:00Z')
    const keyStore = { problem: 'connection refused', entries: 3, validUntil }
    useFakeGateway(t, { 'GET /api/state': sampleState({ keyStore }) })
    await openPage(t, '/keys')
    const alert = within(await screen.findByRole('alert'))
    assert.ok(alert.getByText(/^Keys that are loaded are accepted until \d\d:30:00/))
  })

  test('has no controls that change something for a token with the scope Read', async (t) => {
    useStore(t, { keys: [sampleKey()], teams: [sampleTeam('support')], isReadOnly: true })
    const { user } = await openPage(t, '/keys?key=support-bot')
    assert.ok(await screen.findByText('Read-only: the token dashboard has the scope Read'))
    const detail = within(await screen.findByRole('article', { name: 'Key support-bot' }))
    await detail.findByText('active')
    assert.deepEqual(
      detail.getAllByRole('button').map(({ textContent }) => textContent),
      ['Close'],
    )
    await user.keyboard('n')
    assert.equal(screen.queryByRole('dialog'), null)
    await user.click(screen.getByRole('link', { name: 'Teams' }))
    const team = within(await screen.findByRole('group', { name: 'Team support' }))
    assert.equal(team.queryByRole('button'), null)
    assert.equal(screen.queryByRole('button', { name: 'New team' }), null)
  })
})

describe('a new key', () => {
  test('is shown once, and no other key of the keyboard leads away from it', async (t) => {
    const gateway = useStore(t, {
      teams: [sampleTeam('support')],
      answers: { 'POST /api/keys': { key: sampleKey(), secret: SECRET } },
    })
    const { user, address } = await openPage(t, '/keys')
    await screen.findByRole('heading', { name: 'No keys yet' })
    await user.keyboard('n')
    const form = within(await screen.findByRole('dialog', { name: 'New key' }))
    await user.type(form.getByLabelText('Name'), 'support-bot')
    await user.selectOptions(await form.findByLabelText('Team'), 'support')
    await user.click(form.getByRole('button', { name: 'Add a budget' }))
    await user.type(form.getByLabelText('Amount of budget 1'), '5')
    await user.type(form.getByLabelText('Time zone of budget 1'), 'Asia/Tokyo')
    await user.selectOptions(form.getByLabelText('Period of budget 1'), 'in the last 24 hours')
    assert.equal(form.queryByLabelText('Time zone of budget 1'), null)
    await user.click(form.getByRole('button', { name: 'Add a limit' }))
    await user.type(form.getByLabelText('Amount of limit 1'), '4')
    await user.selectOptions(form.getByLabelText('What limit 1 counts'), 'calls')
    await user.type(form.getByLabelText('Models'), 'gpt-*{Enter}mock')
    fireEvent.change(form.getByLabelText('Expires'), { target: { value: '2999-01-31T12:00' } })
    await user.click(form.getByRole('button', { name: 'Create the key' }))
    const shown = within(await screen.findByRole('dialog', { name: 'The key of support-bot' }))
    assert.ok(shown.getByText(SECRET))
    assert.ok(shown.getByRole('button', { name: 'Copy the key' }))
    assert.deepEqual(gateway.seen('POST /api/keys').at(-1)?.body, {
      ...{ name: 'support-bot', team: 'support', models: ['gpt-*', 'mock'] },
      ...{ budgets: [{ usd: 5, per: 'Day', rolling: true }], limits: [{ calls: 4 }] },
      expires: new Date('2999-01-31T12:00').toISOString(),
    })
    await user.keyboard('o{Escape}')
    assert.equal(address(), '/keys')
    await user.click(shown.getByRole('button', { name: 'I have stored it' }))
    assert.ok(!document.body.innerHTML.includes(SECRET))
    assert.ok(!JSON.stringify(Object.entries(localStorage)).includes(SECRET))
  })

  test('has the problems of the gateway beside its fields, and keeps what was written', async (t) => {
    const problems =
      'name: found "a b", expected a name\nbudgets[0].usd: found "lots", expected a number\nthe disk is full\n'
    useStore(t, { answers: { 'POST /api/keys': refusal(400, problems) } })
    const { user } = await openPage(t, '/keys')
    await user.click(await screen.findByRole('button', { name: 'New key' }))
    const form = within(await screen.findByRole('dialog', { name: 'New key' }))
    await user.type(form.getByLabelText('Name'), 'a b')
    await user.click(form.getByRole('button', { name: 'Add a budget' }))
    await user.type(form.getByLabelText('Amount of budget 1'), 'lots')
    await user.click(form.getByRole('button', { name: 'Create the key' }))
    assert.match((await form.findByRole('alert')).textContent ?? '', /^the disk is full.*nothing was saved\.$/)
    assert.equal(form.getByLabelText('Name').getAttribute('aria-invalid'), 'true')
    assert.ok(form.getByText('found "a b", expected a name'))
    assert.ok(form.getByText('usd: found "lots", expected a number'))
    assert.deepEqual(
      form.getAllByRole('textbox').flatMap((each) => (each as HTMLInputElement).value || []),
      ['a b', 'lots'],
    )
  })
})

describe('an edit', () => {
  test('is based on the version that people see, and is added to the edit of somebody else', async (t) => {
    const gateway = useStore(t, {
      keys: [sampleKey({ owner: 'ann', models: ['m'] })],
      answers: { 'PATCH /api/keys/support-bot': refusal(409, 'support-bot has been changed meanwhile\n') },
    })
    const { user } = await openPage(t, '/keys?key=support-bot')
    await user.click(await screen.findByRole('button', { name: 'Edit' }))
    const form = within(await screen.findByRole('dialog', { name: 'Edit support-bot' }))
    await user.type(form.getByLabelText('Owner'), ' lee')
    gateway.now({ 'GET /api/keys/support-bot': sampleKey({ version: 'v2', owner: 'bob', routes: ['chat'] }) })
    await user.click(form.getByRole('button', { name: 'Save' }))
    const alert = await form.findByRole('alert')
    assert.match(alert.textContent ?? '', /owner is now bob and your value ann lee replaces it/)
    assert.match(alert.textContent ?? '', /models is now none.*routes is now \["chat"\]$/)
    gateway.now({ 'PATCH /api/keys/support-bot': { key: sampleKey(), secret: null } })
    await user.click(form.getByRole('button', { name: 'Save' }))
    await screen.findByRole('button', { name: 'Edit' })
    assert.deepEqual(
      gateway.seen('PATCH /api/keys/support-bot').map(({ body }) => body),
      [
        { owner: 'ann lee', basedOn: 'v1' },
        { owner: 'ann lee', basedOn: 'v2' },
      ],
    )
    assert.equal(screen.queryByRole('dialog'), null)
  })

  test('without a difference sends nothing', async (t) => {
    const gateway = useStore(t, { keys: [sampleKey({ owner: 'ann', expires: '2999-01-31T12:00:07.123Z' })] })
    const { user } = await openPage(t, '/keys?key=support-bot')
    await user.click(await screen.findByRole('button', { name: 'Edit' }))
    await user.click(await screen.findByRole('button', { name: 'Save' }))
    assert.deepEqual(
      gateway.calls.filter(({ method }) => method !== 'GET'),
      [],
    )
    assert.equal(screen.queryByRole('dialog'), null)
  })
})

describe('a key', () => {
  test('is rotated, and asks how long the old one stays valid', async (t) => {
    const gateway = useStore(t, {
      keys: [sampleKey()],
      answers: { 'POST /api/keys/support-bot/rotate': { key: sampleKey(), secret: SECRET } },
    })
    const { user } = await openPage(t, '/keys?key=support-bot')
    await user.click(await screen.findByRole('button', { name: 'Rotate' }))
    await user.selectOptions(await screen.findByLabelText('The old key stays valid for'), '1h')
    await user.click(screen.getByRole('button', { name: 'Make a new key' }))
    assert.ok(await screen.findByText(SECRET))
    assert.deepEqual(gateway.seen('POST /api/keys/support-bot/rotate')[0]?.body, { overlap: '1h' })
  })

  for (const [task, button, call] of [
    ['Disable', 'Disable the key', 'POST /api/keys/support-bot/disable'],
    ['Revoke', 'Revoke the key', 'POST /api/keys/support-bot/revoke'],
    ['Delete', 'Delete the key', 'DELETE /api/keys/support-bot'],
  ] as const) {
    test(`${task}: only after a question, and a refusal is shown`, async (t) => {
      const gateway = useStore(t, {
        keys: [sampleKey()],
        answers: { [call]: refusal(503, 'the store of keys failed\n') },
      })
      const { user, address } = await openPage(t, '/keys?key=support-bot')
      await user.click(await screen.findByRole('button', { name: task }))
      await user.click(await screen.findByRole('button', { name: 'Cancel' }))
      assert.equal(gateway.seen(call).length, 0)
      await user.click(screen.getByRole('button', { name: task }))
      await user.click(await screen.findByRole('button', { name: button }))
      assert.ok(await screen.findByText('the store of keys failed'))
      gateway.now({ [call]: { key: null, secret: null } })
      await user.click(screen.getByRole('button', { name: button }))
      await screen.findByText(task === 'Delete' ? 'Expires' : 'Close')
      assert.deepEqual(
        [gateway.seen(call).length, address()],
        [2, task === 'Delete' ? '/keys' : '/keys?key=support-bot'],
      )
    })
  }

  test('that is revoked can only be deleted, and one that is disabled be enabled', async (t) => {
    const keys = [
      sampleKey({ id: '1', name: 'a', state: 'revoked', revoked: '2026-11-19T12:00:00Z', secrets: [] }),
      sampleKey({ id: '2', name: 'b', state: 'disabled', disabled: true }),
    ]
    useStore(t, { keys })
    const { user } = await openPage(t, '/keys?key=a')
    const tasks = async (name: string) => {
      const detail = within(await screen.findByRole('article', { name }))
      await detail.findByRole('button', { name: 'Delete' })
      return detail.getAllByRole('button').map(({ textContent }) => textContent)
    }
    assert.deepEqual(await tasks('Key a'), ['Close', 'Delete'])
    await user.click(screen.getByRole('link', { name: 'b' }))
    assert.deepEqual(await tasks('Key b'), ['Close', 'Edit', 'Rotate', 'Enable', 'Revoke', 'Delete'])
  })
})

describe('teams', () => {
  test('are a tree, four levels deep, with their budgets', async (t) => {
    const names = ['company', 'support', 'first-line', 'night-shift']
    const teams = names.map((name, i) =>
      sampleTeam(name, {
        ...(i > 0 && { parent: names[i - 1] ?? '' }),
        budgets: [sampleBudget()],
        limits: [{ calls: 9 }],
      }),
    )
    const gateway = useStore(t, {
      teams,
      answers: {
        'POST /api/teams': { team: sampleTeam('second-line') },
        'DELETE /api/teams/support': refusal(409, 'the team first-line belongs to the team support: change it first\n'),
      },
    })
    const { user } = await openPage(t, '/keys?list=teams')
    const deepest = await screen.findByRole('group', { name: 'Team night-shift' })
    assert.equal(
      deepest
        .closest('ul')
        ?.parentElement?.closest('ul')
        ?.parentElement?.closest('ul')
        ?.parentElement?.closest('ul') === null,
      false,
    )
    assert.equal(within(deepest).queryByRole('button', { name: 'Add a team to night-shift' }), null)
    assert.match(deepest.textContent ?? '', /\$0\.5000 of \$5\.00 per day, 10 %9 calls at once/)
    assert.equal(within(deepest).getByRole('link', { name: 'Keys' }).getAttribute('href'), '/ui/keys?team=night-shift')
    await user.click(screen.getByRole('button', { name: 'Add a team to support' }))
    const form = within(await screen.findByRole('dialog', { name: 'New team' }))
    assert.equal(form.getByLabelText<HTMLSelectElement>('Belongs to').value, 'support')
    await user.type(form.getByLabelText('Name'), 'second-line')
    await user.click(form.getByRole('button', { name: 'Create the team' }))
    assert.deepEqual(gateway.seen('POST /api/teams')[0]?.body, { name: 'second-line', parent: 'support' })
    await user.click(await screen.findByRole('button', { name: 'Remove support' }))
    await user.click(await screen.findByRole('button', { name: 'Remove the team' }))
    assert.ok(await screen.findByText(/the team first-line belongs to the team support/))
  })

  test('are edited', async (t) => {
    const gateway = useStore(t, {
      teams: [sampleTeam('a'), sampleTeam('b', { parent: 'a', limits: [{ requests: 60, unit: 'Minutes' }] })],
      answers: { 'PATCH /api/teams/b': { team: sampleTeam('b') } },
    })
    const { user } = await openPage(t, '/keys?list=teams')
    await user.click(await screen.findByRole('button', { name: 'Edit b' }))
    const form = within(await screen.findByRole('dialog', { name: 'Edit b' }))
    await user.selectOptions(form.getByLabelText('Belongs to'), '')
    await user.click(form.getByRole('button', { name: 'Remove limit 1' }))
    await user.click(form.getByRole('button', { name: 'Save' }))
    await screen.findByRole('button', { name: 'Edit b' })
    const body = { parent: null, limits: null, basedOn: 'v1' }
    assert.deepEqual(gateway.seen('PATCH /api/teams/b')[0]?.body, body)
  })
})

test('the list of changes says when, by whom, and what before and after', async (t) => {
  const entry = (id: number, fields: Partial<AuditEntryView>): AuditEntryView => ({
    ...{
      id,
      at: '2026-11-19T12:00:00.000Z',
      by: 'token ci, from 127.0.0.1',
      action: 'change',
      kind: 'key',
      name: 'bot',
    },
    ...{ before: { name: 'bot', fields: { owner: 'ann' } }, after: { name: 'bot', fields: { owner: 'bob' } } },
    ...fields,
  })
  const gateway = useStore(t, {
    answers: {
      'GET /api/audit': ({ path }: SeenCall) =>
        path.includes('before=2')
          ? { entries: [entry(1, { action: 'create', before: null })], next: null }
          : { entries: [entry(2, {})], next: 2 },
    },
  })
  const { user, address } = await openPage(t, '/keys?list=changes&key=bot')
  const row = await screen.findByRole('row', { name: /^2026-11-19/ })
  assert.match(row.textContent ?? '', /token ci, from 127\.0\.0\.1change key botownerann → bob$/)
  await user.click(screen.getByRole('link', { name: 'Earlier changes' }))
  assert.match((await screen.findByText(/create key/)).closest('tr')?.textContent ?? '', /ownernone → bob$/)
  assert.ok(
    gateway.seen('GET /api/audit').some(({ path }) => path === '/api/audit?limit=100&kind=key&name=bot&before=2'),
  )
  await user.click(screen.getByRole('link', { name: 'All changes' }))
  assert.equal(address(), '/keys?list=changes')
})
