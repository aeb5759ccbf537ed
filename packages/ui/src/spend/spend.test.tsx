import { screen, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { UsageGroup } from '@portico/gateway/admin-api'
import { refusal, type SeenCall, useFakeGateway } from '../testing/fake-gateway.ts'
import { openPage } from '../testing/render.tsx'
import { sampleState } from '../testing/samples.ts'

const COUNTS = {
  inputTokens: 1000,
  outputTokens: 200,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  cachedCalls: 0,
  savedUsd: '0.00',
}

function groupOf(group: Record<string, string>, fields: Partial<UsageGroup> = {}): UsageGroup {
  return { group, calls: 2, unpricedCalls: 0, estimatedCalls: 0, ...COUNTS, costUsd: '12.50', ...fields }
}

/** The hours of the last ten days, each with a call of a dollar. */
function steadyHours(until: number): UsageGroup[] {
  return Array.from({ length: 240 }, (_, back) => {
    const hour = `${new Date(until - back * 3_600_000).toISOString().slice(0, 13)}:00Z`
    return groupOf({ hour }, { calls: 1, costUsd: '1.00' })
  })
}

/** A ledger with the groups of each `by`. */
function useLedger(t: TestContext, groups: Readonly<Record<string, readonly UsageGroup[]>>) {
  const until = Date.now()
  const answer = ({ path }: SeenCall) => {
    const by = new URLSearchParams(path.split('?')[1]).get('by') ?? ''
    const answered = groups[by] ?? (by === 'hour' ? steadyHours(until) : [])
    return { by: by === '' ? [] : by.split(','), since: 0, until, groups: answered, isCut: false }
  }
  return useFakeGateway(t, { 'GET /api/state': sampleState(), 'GET /api/usage': answer })
}

const today = (): string => new Date().toISOString().slice(0, 10)
const TOTAL = groupOf({}, { calls: 5, unpricedCalls: 1, estimatedCalls: 2, costUsd: '12.500000001' })

describe('the page of spend', () => {
  test('shows costs, with unknown and estimated ones apart', async (t) => {
    useLedger(t, {
      '': [TOTAL],
      day: [groupOf({ day: today() }, { unpricedCalls: 1 })],
      model: [
        groupOf({ model: 'gpt-5.5' }, { calls: 4, estimatedCalls: 2 }),
        groupOf({ model: 'own' }, { calls: 1, unpricedCalls: 1, costUsd: null }),
        groupOf({ model: '' }, { calls: 1, costUsd: '0.00' }),
      ],
    })
    await openPage(t, '/spend')
    assert.ok(await screen.findByText('≥ $12.50', { selector: '.spend-figure' }))
    assert.ok(screen.getByText(/costs that are estimated are included: 2 calls/))
    assert.ok(screen.getByText(/Calls of unknown cost are not included: 1 of 5\./))
    const table = within(await screen.findByRole('region', { name: 'Table of calls and costs' }))
    assert.ok(await table.findByRole('row', { name: 'gpt-5.5 4 0 2 1,000 0 0 200 0 ≈ $12.50' }))
    assert.ok(table.getByRole('row', { name: 'own 1 1 0 1,000 0 0 200 0 unknown' }))
    assert.ok(table.getByRole('row', { name: 'none 1 0 0 1,000 0 0 200 0 $0' }))
    assert.ok(table.getByRole('row', { name: /^Total 5 1 2 .* ≥ \$12\.50$/ }))
    assert.ok(await screen.findByRole('img', { name: 'Cost by day, latest: ≥ $12.50' }))
    assert.equal(document.title, 'Spend · Portico')
  })

  test('says how the forecast is made, for each period', async (t) => {
    useLedger(t, { '': [TOTAL] })
    const { user, address } = await openPage(t, '/spend')
    const part = within(await screen.findByRole('region', { name: 'Forecast' }))
    assert.ok(
      await part.findByText(
        / since \d{4}-\d\d-01 \(UTC\), and \d+\.\d days to go at \$2\d\.\d\d a day, the average of the last [67]\.\d days\.$/,
      ),
    )
    await user.click(part.getByRole('link', { name: 'This day' }))
    assert.equal(address(), '/spend?period=day')
    assert.ok(await part.findByText(new RegExp(` since ${today()} \\(UTC\\)`)))
    await user.click(part.getByRole('link', { name: 'This month' }))
    assert.equal(address(), '/spend')
  })

  test('groups, range and bars are a part of the address', async (t) => {
    const gateway = useLedger(t, {
      '': [TOTAL],
      'model,team': [groupOf({ model: 'm', team: 'support' })],
    })
    const { user, address } = await openPage(t, '/spend')
    await user.click(
      within(await screen.findByRole('navigation', { name: 'Group by' })).getByRole('link', { name: 'Team' }),
    )
    assert.ok(await screen.findByRole('heading', { name: 'By model and team' }))
    assert.ok(await screen.findByRole('row', { name: /^m support 2/ }))
    await user.click(screen.getByRole('link', { name: 'Tokens' }))
    assert.ok(await screen.findByRole('img', { name: 'Tokens by day, latest: 0' }))
    await user.click(screen.getByRole('link', { name: '24 hours' }))
    assert.ok(await screen.findByRole('img', { name: 'Tokens by hour, latest: 1,200' }))
    assert.equal(address(), '/spend?last=24h&per=model%2Cteam&show=tokens')
    const currentIn = (name: string) =>
      within(screen.getByRole('navigation', { name }))
        .getAllByRole('link')
        .flatMap((link) => (link.hasAttribute('aria-current') ? link.textContent : []))
    assert.deepEqual(['Time range', 'Bars', 'Group by'].map(currentIn), [['24 hours'], ['Tokens'], ['Model', 'Team']])
    assert.ok(gateway.seen('GET /api/usage').some(({ path }) => /by=model%2Cteam&since=20\d\d-/.test(path)))
  })

  test('bars have their values as text, chosen by keys', async (t) => {
    const [before = '', now = ''] = [1, 0].map((back) =>
      new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10),
    )
    useLedger(t, {
      '': [TOTAL],
      day: [groupOf({ day: now }), groupOf({ day: before }, { unpricedCalls: 2, costUsd: null })],
    })
    const { user } = await openPage(t, '/spend')
    assert.ok(await screen.findByText(/: \$12\.50, 2 calls, 1,200 tokens$/))
    screen.getByRole('group', { name: 'Cost by day; arrow keys choose one' }).focus()
    await user.keyboard('{ArrowLeft}')
    assert.ok(screen.getByText(/: unknown, 2 calls, 1,200 tokens, ▲ 2 of unknown cost$/))
    await user.keyboard('{ArrowRight}{ArrowRight}')
    assert.ok(screen.getByText(/: \$12\.50, 2 calls/))
  })

  test('days come newest first, and the rows that are shown can be saved', async (t) => {
    useLedger(t, {
      '': [TOTAL],
      day: [groupOf({ day: '2026-11-01' }), groupOf({ day: '2026-11-03' }, { costUsd: '1.00' })],
    })
    const files: Blob[] = []
    const names: string[] = []
    t.mock.method(URL, 'createObjectURL', (blob: Blob) => (files.push(blob), 'blob:1'))
    t.mock.method(HTMLAnchorElement.prototype, 'click', function (this: HTMLAnchorElement) {
      names.push(this.download)
    })
    const { user } = await openPage(t, '/spend?per=day')
    await user.click(await screen.findByRole('button', { name: 'Download spend.csv' }))
    await user.click(screen.getByRole('button', { name: 'Download spend.json' }))
    assert.deepEqual(names, ['spend.csv', 'spend.json'])
    assert.match(
      (await files[0]?.text()) ?? '',
      /^day,calls.*\n2026-11-03,2,.*,1\.00,0\.00\n2026-11-01,2,.*,12\.50,0\.00\n$/,
    )
    assert.equal((JSON.parse((await files[1]?.text()) ?? '') as { groups: unknown[] }).groups.length, 2)
  })

  test('many groups are shown in portions', async (t) => {
    const model = Array.from({ length: 450 }, (_, i) => groupOf({ model: `m${i}` }))
    useLedger(t, { '': [TOTAL], model })
    const { user } = await openPage(t, '/spend')
    assert.ok(await screen.findByText(/200 of 450 rows are shown/))
    // The test searches by text, because a search by role computes the names of all rows.
    await user.click(screen.getByText('Show more'))
    await user.click(screen.getByText('Show more'))
    assert.equal(screen.queryByText('Show more'), null)
    assert.ok(screen.getByText('m449'))
  })

  test('says so when no model was called', async (t) => {
    useLedger(t, {})
    await openPage(t, '/spend?last=7d')
    assert.ok(await screen.findByText('No model was called in the last 7 days.'))
    assert.equal(screen.queryByRole('img'), null)
  })

  test('says how to turn the ledger on', async (t) => {
    useFakeGateway(t, { 'GET /api/state': sampleState({ ledgerStore: null }) })
    await openPage(t, '/spend')
    assert.ok(await screen.findByRole('heading', { name: 'The gateway has no ledger' }))
    assert.ok(screen.getByText(/stateDir: state\s+ledger: \{\}/))
  })

  test('shows why the store failed, and reads again', async (t) => {
    const gateway = useLedger(t, { '': [TOTAL] })
    const failure = refusal(503, 'the ledger cannot be read: disk I/O error\n')
    gateway.now({ 'GET /api/usage': failure })
    const { user } = await openPage(t, '/spend')
    const alert = within(await screen.findByRole('alert'))
    assert.ok(alert.getByText('the ledger cannot be read: disk I/O error'))
    gateway.now({ 'GET /api/usage': { by: [], since: 0, until: Date.now(), groups: [], isCut: false } })
    await user.click(alert.getByRole('button', { name: 'Try again' }))
    assert.ok(await screen.findByText('No model was called in the last 30 days.'))
  })
})
