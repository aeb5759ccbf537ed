import { act, screen, waitFor, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { BacktestReport, CheckedConfig, ConfigEffect, ConfigView } from '@portico/gateway/admin-config'
import { type Answers, refusal, useFakeGateway } from '../testing/fake-gateway.ts'
import { openPage, showPart, shownText } from '../testing/render.tsx'
import { NOON, sampleState } from '../testing/samples.ts'
import { DiffView } from './diff-view.tsx'
import { setDraft } from './draft.ts'
import { Editor } from './editor.tsx'

const TEXT = 'binds:\n- port: 8080\n'
const VIEW: ConfigView = {
  ...{ generation: 7, since: NOON, file: 'gateway.yaml', isInMemory: false, text: TEXT, reason: null, version: 'v1' },
  edit: { isAllowed: true, reason: null, token: 'variable' },
  problems: [],
}
const NONE = { added: [], changed: [], dropped: [], counts: { added: 0, changed: 0, dropped: 0 }, total: 1 }
const EFFECT: ConfigEffect = {
  ...{ binds: NONE, listeners: NONE, backends: NONE, policies: NONE, connections: 0 },
  routes: { ...NONE, changed: ['web/orders'], counts: { added: 0, changed: 1, dropped: 0 }, total: 3 },
  ports: { opened: [], closed: [] },
  limits: { reset: [], added: [], dropped: [] },
  streams: { open: 0, onThem: 0, unheard: 0 },
}
const REPORT: BacktestReport = {
  ...{ records: 5000, from: NOON, until: NOON, same: 4988, flipped: 12, unknown: 0, unknowns: [], remarks: [] },
  ...{ counts: { 'newly-denied': 12 }, isCut: false, milliseconds: 900 },
  flips: [
    {
      ...{ kind: 'newly-denied', cause: '403 by authorization on route orders', count: 12 },
      decidedAt: { file: 'gateway.yaml', line: 7, column: 3 },
      example: {
        ...{ id: '0k2f7q9xw3m1a5b', at: NOON, method: 'GET', host: 'a.test', path: '/orders', key: null },
        ...{ before: 'passed to shop', after: '403 by authorization' },
      },
    },
  ],
}
const CHECKED: CheckedConfig = { version: 'v1', problems: [], warnings: [], refused: [], effect: EFFECT }

function useConfigApi(t: TestContext, view: Partial<ConfigView> = {}, others: Answers = {}) {
  t.after(() => act(() => setDraft(null)))
  return useFakeGateway(t, {
    'GET /api/state': sampleState(),
    'GET /api/config': { ...VIEW, ...view },
    'POST /api/config/check': CHECKED,
    'POST /api/backtest': { version: 'v1', warnings: [], report: REPORT },
    ...others,
  })
}

const side = async () => within(await screen.findByRole('complementary', { name: 'Problems and effect' }))

describe('the page of the config', () => {
  test('an edit shows its effect, and is applied with the admin token', async (t) => {
    const gateway = useConfigApi(t, {}, { 'POST /api/config/apply': { generation: 8, version: 'v2' } })
    const { user } = await openPage(t, '/config')
    await screen.findByRole('heading', { name: /gateway\.yaml/ })
    act(() => setDraft({ text: 'binds: []\n', basedOn: 'v1' }))
    assert.ok(await (await side()).findByText('1 of 3 routes changes.'))
    await waitFor(() => assert.equal(screen.getByRole('button', { name: 'Apply …' }).hasAttribute('disabled'), false))
    await user.click(screen.getByRole('button', { name: 'Apply …' }))
    const dialog = within(await screen.findByRole('dialog', { name: 'Apply this config' }))
    assert.ok(await dialog.findByText('1 of 3 routes changes.'))
    const sentence = 'Of the last 5,000 requests 12 would be denied now; 0 would be admitted that were denied.'
    assert.ok(await dialog.findByText(sentence))
    const causes = within(dialog.getByRole('list', { name: 'Changed decisions' }))
    assert.match(
      causes.getByRole('listitem').textContent ?? '',
      /^12 denied now: 403 by authorization on route orders \(line 7\)such as GET a\.test\/orders: passed to shop$/,
    )
    assert.deepEqual(gateway.seen('POST /api/backtest')[0]?.body, { text: 'binds: []\n' })
    assert.equal(dialog.getByRole('button', { name: 'Apply' }).hasAttribute('disabled'), true, 'without a token')
    await user.type(dialog.getByLabelText('Admin token'), 's3cret')
    await user.click(dialog.getByRole('button', { name: 'Apply' }))
    assert.ok(await screen.findByText('Config 8 is live.'))
    const [call] = gateway.seen('POST /api/config/apply')
    assert.equal(call?.headers.get('authorization'), 'Bearer s3cret')
    assert.deepEqual(call?.body, { text: 'binds: []\n', basedOn: 'v1' })
  })

  test('a wrong token is an alert, and the dialog stays', async (t) => {
    useConfigApi(t, {}, { 'POST /api/config/apply': refusal(403, 'the admin token is required') })
    const { user } = await openPage(t, '/config')
    await screen.findByRole('heading', { name: /gateway\.yaml/ })
    act(() => setDraft({ text: 'binds: []\n', basedOn: 'v1' }))
    await waitFor(() => assert.equal(screen.getByRole('button', { name: 'Apply …' }).hasAttribute('disabled'), false))
    await user.click(screen.getByRole('button', { name: 'Apply …' }))
    const dialog = within(await screen.findByRole('dialog'))
    await user.type(await dialog.findByLabelText('Admin token'), 'wrong')
    await user.click(dialog.getByRole('button', { name: 'Apply' }))
    assert.equal((await dialog.findByRole('alert')).textContent, 'the admin token is required')
  })

  test('a back-test that proves nothing says so, and does not keep a config from being applied', async (t) => {
    useConfigApi(t, {}, { 'POST /api/backtest': refusal(409, 'no requests were recorded in the last 1h') })
    const { user } = await openPage(t, '/config')
    await screen.findByRole('heading', { name: /gateway\.yaml/ })
    act(() => setDraft({ text: 'binds: []\n', basedOn: 'v1' }))
    await waitFor(() => assert.equal(screen.getByRole('button', { name: 'Apply …' }).hasAttribute('disabled'), false))
    await user.click(screen.getByRole('button', { name: 'Apply …' }))
    const dialog = within(await screen.findByRole('dialog'))
    assert.ok(await dialog.findByText('Recorded requests tell nothing: no requests were recorded in the last 1h.'))
    await user.type(dialog.getByLabelText('Admin token'), 's3cret')
    assert.equal(dialog.getByRole('button', { name: 'Apply' }).hasAttribute('disabled'), false)
  })

  test('problems of an edit have their location, and keep it from being applied', async (t) => {
    const problems = [{ text: 'gateway.yaml:2:3: unknown key `prot`', line: 2, column: 3 }]
    useConfigApi(t, {}, { 'POST /api/config/check': { ...CHECKED, problems, effect: null } })
    await openPage(t, '/config')
    await screen.findByRole('heading', { name: /gateway\.yaml/ })
    act(() => setDraft({ text: 'binds:\n- prot: 1\n', basedOn: 'v1' }))
    const region = within(await screen.findByRole('region', { name: 'Problems' }))
    assert.ok(region.getByRole('button', { name: '2:3' }))
    assert.ok(region.getByText('unknown key `prot`'))
    assert.equal(screen.getByRole('button', { name: 'Apply …' }).hasAttribute('disabled'), true)
  })

  test('a config that may not be edited says why, and has no buttons to change it', async (t) => {
    const edit = { isAllowed: false, reason: 'set frontend.admin.edit', token: 'variable' } as const
    useConfigApi(t, { edit })
    await openPage(t, '/config')
    assert.ok(await screen.findByText('Read-only: set frontend.admin.edit.'))
    assert.equal(screen.queryByRole('button', { name: 'Apply …' }), null)
    assert.match(shownText(), /secrets are redacted/)
  })

  test('a rejected reload is shown with its problems', async (t) => {
    useConfigApi(t, { problems: [{ text: 'gateway.yaml:1:1: empty', line: 1, column: 1 }] })
    await openPage(t, '/config')
    assert.ok(await screen.findByRole('region', { name: 'The last reload was rejected' }))
    assert.match(shownText(), /This text is not live\./)
  })

  test('a file that changed during an edit asks which text counts', async (t) => {
    useConfigApi(t)
    const { user } = await openPage(t, '/config')
    await screen.findByRole('heading', { name: /gateway\.yaml/ })
    act(() => setDraft({ text: 'binds: []\n', basedOn: 'v0' }))
    const alert = await screen.findByRole('alert')
    assert.match(alert.textContent ?? '', /The file has changed since you began to edit/)
    await user.click(within(alert).getByRole('button', { name: 'Discard your text' }))
    await waitFor(() => assert.equal(screen.queryByRole('alert'), null))
  })

  test('the history of a gateway without earlier configs says so', async (t) => {
    useConfigApi(t, {}, { 'GET /api/config/history': { live: 7, generations: [] } })
    await openPage(t, '/config?tab=history')
    assert.ok(await screen.findByText('No earlier config is available.'))
  })

  test('an earlier config shows what a rollback changes', async (t) => {
    const past = { generation: 6, at: NOON, characters: 9 }
    useConfigApi(
      t,
      {},
      {
        'GET /api/config/history': { live: 7, generations: [past] },
        'GET /api/config/history/6': { ...past, text: 'binds: []\n', reason: null },
      },
    )
    await openPage(t, '/config?tab=history')
    assert.ok(await screen.findByText(/Changes to the file if you roll back\. Config 6 went live at/))
    assert.match(
      (await screen.findByLabelText('Changed lines')).textContent ?? '',
      /−- port: 8080.*\+binds: \[\]|\+binds: \[\]/,
    )
    assert.ok(screen.getByRole('button', { name: 'Roll back to config 6' }))
  })
})

describe('the editor', () => {
  const open = (t: TestContext, isReadOnly: boolean) => {
    const props = { marks: [], place: null, onChange: () => {}, onSave: () => {} }
    return showPart(t, <Editor text={TEXT} isReadOnly={isReadOnly} {...props} />)
  }
  const content = () => document.querySelector('.config-editor')?.shadowRoot?.querySelector('.cm-content')

  test('it has a name, the text, and can be written in', async (t) => {
    await open(t, false)
    assert.equal(content()?.getAttribute('aria-label'), 'Text of the config')
    assert.match(content()?.textContent ?? '', /binds:- port: 8080/)
    assert.equal(content()?.getAttribute('contenteditable'), 'true')
  })

  test('read-only, it stays reachable by key', async (t) => {
    await open(t, true)
    assert.equal(content()?.getAttribute('contenteditable'), 'false')
    assert.equal(content()?.getAttribute('tabindex'), '0')
  })
})

test('a diff marks lines by sign, not by color alone', async (t) => {
  await showPart(t, <DiffView before={'a\nb\n'} after={'a\nc\n'} same="No changes." />)
  assert.match(screen.getByLabelText('Changed lines').textContent ?? '', /−b.*\+c/)
})

test('texts without a difference say so', async (t) => {
  await showPart(t, <DiffView before="a" after="a" same="No changes." />)
  assert.equal(shownText(), 'No changes.')
})
