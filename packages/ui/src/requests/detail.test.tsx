import { screen, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RequestRecord } from '@portico/gateway/admin-api'
import { refusal, useFakeGateway } from '../testing/fake-gateway.ts'
import { showPart, shownText } from '../testing/render.tsx'
import { deniedRecord, NOON, sampleBackends, sampleExplanation, sampleLlm, sampleRecord } from '../testing/samples.ts'
import { Detail } from './detail.tsx'
import type { DetailTab } from './search.ts'

const SECRET = 'sk-live-1234'

async function showDetail(t: Parameters<typeof showPart>[0], record: RequestRecord, tab: DetailTab = 'decisions') {
  const gateway = useFakeGateway(t, {
    [`GET /api/requests/${record.id}`]: record,
    [`GET /api/requests/${record.id}/explain`]: sampleExplanation({ id: record.id }),
    'GET /api/backends': sampleBackends([]),
  })
  const tabs: DetailTab[] = []
  let closed = 0
  const opened = await showPart(
    t,
    <Detail id={record.id} tab={tab} onTab={(next) => tabs.push(next)} onClose={() => closed++} />,
  )
  await screen.findByRole('tablist')
  return { ...opened, gateway, tabs, closed: () => closed }
}

describe('the detail of a request', () => {
  test('the title says method, path and outcome; the id and a curl command can be copied', async (t) => {
    const { user } = await showDetail(t, sampleRecord({ path: "/it's" }))
    assert.ok(screen.getByRole('heading', { name: "GET shop.example.com/it's → 200" }))
    await user.click(screen.getByRole('button', { name: 'Copy the id' }))
    assert.equal(await navigator.clipboard.readText(), 'r1')
    await user.click(screen.getByRole('button', { name: 'Copy as curl' }))
    assert.match(await navigator.clipboard.readText(), /^curl .*it'\\''s/)
  })

  test('the explanation is a headline in the title, with a capital', async (t) => {
    await showDetail(t, deniedRecord())
    assert.ok(await screen.findByText('No rule allows the request'))
  })

  test('the place of the headline is reserved before the explanation is there', async (t) => {
    const record = sampleRecord()
    useFakeGateway(t, {
      'GET /api/requests/r1': record,
      'GET /api/requests/r1/explain': () => new Promise(() => {}),
    })
    await showPart(t, <Detail id="r1" tab="raw" onTab={() => {}} onClose={() => {}} />)
    await screen.findByRole('tablist')
    assert.ok(document.querySelector('p.headline'), 'a line that is empty until the explanation comes')
  })

  test('arrow keys walk the tabs, and a request without a model has no tab for it', async (t) => {
    const { user, tabs } = await showDetail(t, sampleRecord())
    const names = screen.getAllByRole('tab').map(({ textContent }) => textContent)
    assert.ok(!names.includes('Model'))
    screen.getByRole('tab', { name: 'Decisions' }).focus()
    await user.keyboard('{ArrowRight}')
    assert.deepEqual(tabs, ['heads'])
  })

  test('the close button has a name', async (t) => {
    const { user, closed } = await showDetail(t, sampleRecord())
    await user.click(screen.getByRole('button', { name: 'Close' }))
    assert.equal(closed(), 1)
  })

  test('a request that is gone says so in words of the gateway, and can be read again', async (t) => {
    const gateway = useFakeGateway(t, { 'GET /api/requests/r1': refusal(404, 'no record r1') })
    const { user } = await showPart(t, <Detail id="r1" tab="raw" onTab={() => {}} onClose={() => {}} />)
    const alert = await screen.findByRole('alert')
    assert.ok(within(alert).getByText('no record r1'))
    gateway.now({ 'GET /api/requests/r1': sampleRecord(), 'GET /api/requests/r1/explain': sampleExplanation() })
    await user.click(within(alert).getByRole('button', { name: 'Try again' }))
    assert.ok(await screen.findByRole('tablist'))
  })
})

describe('decisions', () => {
  test('steps stand in order with their outcome, and the one that stopped is marked', async (t) => {
    await showDetail(t, deniedRecord())
    const [, ...rows] = screen.getAllByRole('row')
    const texts = rows.map(({ textContent }) => textContent)
    assert.deepEqual(
      texts.map((text) => /passed|stopped|not reached/.exec(text ?? '')?.[0]),
      ['passed', 'stopped', 'not reached'],
    )
  })

  test('a request that passed says why it has no steps', async (t) => {
    await showDetail(t, sampleRecord())
    assert.match(shownText(), /frontend\.recorder/)
    assert.ok(screen.getByRole('region', { name: 'Path, times and sizes' }))
  })

  test('why: policy, place in the config, rules with their values, redacted ones named as such', async (t) => {
    const { gateway } = await showDetail(t, deniedRecord(), 'raw')
    assert.equal(gateway.seen('GET /api/requests/r2/explain').length, 1)
    const rule = { index: 0, mode: 'allow', expression: 'jwt.sub == "ann"', matched: false, isAgainst: true } as const
    const part = { text: 'jwt.sub', value: null, state: 'hidden', error: null, parts: [] } as const
    const value = { text: 'jwt.sub == "ann"', value: false, state: 'found', error: null, parts: [part] } as const
    const explanation = sampleExplanation({
      id: 'r3',
      rules: [{ ...rule, place: { file: 'gateway.yaml', line: 44, column: 18 }, value }],
      values: [{ name: 'jwt.sub', value: null, state: 'hidden' }],
      wouldPass: [{ text: 'the token has the subject ann', changes: [] }],
      config: { generation: 6, live: 7, isExact: false },
    })
    gateway.now({ 'GET /api/requests/r3': deniedRecord({ id: 'r3' }), 'GET /api/requests/r3/explain': explanation })
    await showPart(t, <Detail id="r3" tab="decisions" onTab={() => {}} onClose={() => {}} />)
    const why = await screen.findByRole('region', { name: 'Why, and what would pass' })
    const text = why.textContent ?? ''
    assert.match(text, /gateway\.yaml:41:9/)
    assert.match(text, /gateway\.yaml:44:18/)
    assert.match(text, /config 6.*7 is live now/)
    assert.ok(within(within(why).getByRole('list', { name: 'Rules' })).getByText('(redacted)'))
    assert.ok(within(why).getByRole('list', { name: 'What would pass' }))
  })

  test('an explanation that cannot be read does not hide the steps', async (t) => {
    useFakeGateway(t, {
      'GET /api/requests/r2': deniedRecord(),
      'GET /api/requests/r2/explain': refusal(500, 'worker restarted'),
    })
    await showPart(t, <Detail id="r2" tab="decisions" onTab={() => {}} onClose={() => {}} />)
    assert.ok(await screen.findByText('worker restarted'))
    assert.ok(screen.getByText('authorization'))
  })
})

describe('request and response', () => {
  test('headers that policies changed have a sign with words, and redacted values stay redacted', async (t) => {
    const requestHeaders = { host: 'a', authorization: '<redacted>', 'x-team': ['a', 'b'] }
    const record = sampleRecord({
      requestHeaders,
      afterPolicies: { path: '/v2/orders', headers: { host: 'a', 'x-user': 'ann', 'x-team': ['a', 'b'] } },
      responseHeaders: { 'content-type': 'text/plain' },
      responseBody: { text: '<script>alert(1)</script>', base64: null, isCut: true },
    })
    await showDetail(t, record, 'heads')
    assert.ok(screen.getByRole('row', { name: /removed by policies.*authorization.*<redacted>/ }))
    assert.ok(screen.getByRole('row', { name: /set by policies.*x-user.*ann/ }))
    assert.ok(screen.getByText('/v2/orders'))
    assert.match(shownText(), /<script>alert\(1\)<\/script>\n… cut here/)
    assert.equal(document.querySelector('script'), null)
    assert.ok(!shownText().includes(SECRET))
  })

  test('headers that were not recorded are said to be missing', async (t) => {
    await showDetail(t, sampleRecord(), 'heads')
    assert.match(shownText(), /Headers are recorded only for/)
  })
})

describe('attempts', () => {
  test('each attempt has its address and result; failures are words', async (t) => {
    const calls = [
      { target: '10.0.0.1:80', status: null, error: 'connect_failed', from: 100, to: 2100 },
      { target: '10.0.0.2:80', status: 200, error: null, from: 2200, to: null },
    ]
    await showDetail(t, sampleRecord({ calls, attempts: 2 }), 'attempts')
    assert.ok(screen.getByRole('row', { name: '1 10.0.0.1:80 0.1 ms 2.0 ms connection failed' }))
    assert.ok(screen.getByRole('row', { name: '2 10.0.0.2:80 2.2 ms 200' }))
  })

  test('none, one and several attempts without details', async (t) => {
    await showDetail(t, sampleRecord({ attempts: 0 }), 'attempts')
    assert.match(shownText(), /No backend was called\./)
  })
})

describe('the model of a request', () => {
  test('tokens say who counted them, and a failover names the providers', async (t) => {
    const attempts = [
      { provider: 'main', outcome: 'response_timeout' },
      { provider: 'spare', outcome: '200' },
    ]
    const llm = sampleLlm({ attempts, isEstimated: true, providerName: 'spare', finishReason: '' })
    await showDetail(t, sampleRecord({ llm }), 'model')
    assert.ok(screen.getByRole('tab', { name: 'Model' }))
    assert.match(shownText(), /1,200 input, 34 output/)
    assert.match(shownText(), /main \(response timed out\), then spare \(200\)/)
    assert.match(shownText(), /counted by the gateway/)
  })

  test('a provider that reported no tokens is not one that used none', async (t) => {
    await showDetail(t, sampleRecord({ llm: sampleLlm({ inputTokens: null, outputTokens: null }) }), 'model')
    assert.match(shownText(), /The provider reported none/)
  })
})

test('raw is the record as JSON, to be copied', async (t) => {
  const record = sampleRecord()
  const { user } = await showDetail(t, record, 'raw')
  await user.click(screen.getByRole('button', { name: 'Copy as JSON' }))
  assert.deepEqual(JSON.parse(await navigator.clipboard.readText()), record)
  assert.equal(record.at, NOON)
})
