import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { GatewayState, RequestBatch, RequestList, RequestRecord } from '../telemetry/recorder/record.ts'
import type { TraceEvent } from '../telemetry/trace/trace-event.ts'
import { exchangeRaw, request } from '../testing/client.ts'
import { useAdmin } from '../testing/admin/admin-servers.ts'
import { requestsOf } from '../testing/admin/requests-source.ts'
import { httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../testing/scene.ts'

test('lists are newest first, in pages that neither miss nor repeat a request', async (t) => {
  const { api, gateway } = await scene(t)
  for (let i = 0; i < 7; i++) await request(gateway.port(), { path: `/page/${i}` })
  await gateway.finished(7)
  const first = await api<RequestList>('/api/requests?limit=3')
  assert.deepEqual(pathsOf(first), ['/page/6', '/page/5', '/page/4'])
  const second = await api<RequestList>(`/api/requests?limit=3&before=${first.next}`)
  assert.deepEqual(pathsOf(second), ['/page/3', '/page/2', '/page/1'])
  const last = await api<RequestList>(`/api/requests?limit=3&before=${second.next}`)
  assert.deepEqual([pathsOf(last), last.next], [['/page/0'], null])
})

test('filters choose by status, outcome, route, policy, time and expression', async (t) => {
  const { api, gateway } = await scene(t)
  await request(gateway.port(), { path: '/page' })
  await request(gateway.port(), { path: '/limited' })
  await request(gateway.port(), { path: '/limited', method: 'POST' })
  await request(gateway.port(), { path: '/nowhere' })
  await gateway.finished(4)
  const found = async (query: string): Promise<string[]> =>
    (await api<RequestList>(`/api/requests?${query}`)).requests.map(({ status, path }) => `${status} ${path}`)
  assert.deepEqual(await found('status=429'), ['429 /limited'])
  assert.deepEqual(await found('status=4xx'), ['404 /nowhere', '429 /limited'])
  assert.deepEqual(await found('status=>=400&status=200'), [
    '404 /nowhere',
    '429 /limited',
    '200 /limited',
    '200 /page',
  ])
  assert.deepEqual(await found('status=400-404'), ['404 /nowhere'])
  assert.deepEqual(await found('outcome=denied,limited'), ['404 /nowhere', '429 /limited'])
  assert.deepEqual(await found('route=limited'), ['429 /limited', '200 /limited'])
  assert.deepEqual(await found('policy=rateLimit'), ['429 /limited'])
  assert.deepEqual(await found('since=1h&until=59m'), [])
  assert.deepEqual(await found(`since=${Date.now() - 60_000}&status=404`), ['404 /nowhere'])
  assert.deepEqual(await found('key=team-a'), [])
  const expression = encodeURIComponent('request.method == "POST" && response.code == 429')
  assert.deepEqual(await found(`expression=${expression}`), ['429 /limited'])
  const failing = encodeURIComponent('request.headers["x-nothing"] == "1"')
  assert.deepEqual(await found(`expression=${failing}`), [])
})

test('an invalid query is rejected with a reason', async (t) => {
  const { admin } = await scene(t)
  const asked = async (path: string, init: RequestInit = {}): Promise<[number, string]> => {
    const response = await fetch(`${admin}${path}`, init)
    return [response.status, await response.text()]
  }
  assert.deepEqual(await asked('/api/requests?colour=red'), [
    400,
    'unknown parameter "colour", expected ?since=, ?until=, ?id=, ?status=, ?route=, ?policy=, ?outcome=, ?key=, ?model=, ?tool=, ?shadow=, ?rehearsal=, ?expression=, ?headline=, ?limit=, ?before=\n',
  ])
  assert.deepEqual(await asked('/api/requests?limit=0'), [400, 'limit: expected a number from 1 to 1000\n'])
  assert.deepEqual(await asked('/api/requests?headline=yes'), [400, 'headline: expected true or false\n'])
  assert.deepEqual(await asked('/api/requests?before=x'), [400, 'before: expected the `next` of a list\n'])
  assert.match((await asked('/api/requests?status=many'))[1], /^status: expected a code/)
  assert.match((await asked('/api/requests?since=yesterday'))[1], /^since: expected a time ago/)
  assert.match((await asked('/api/requests?outcome=sad'))[1], /^outcome: expected one of passed, /)
  assert.match((await asked('/api/requests?expression=request.'))[1], /^invalid expression: column/)
  assert.equal((await asked('/api/requests/000000000000000'))[0], 404)
  assert.equal((await asked('/api/requests/..%2f'))[0], 404)
  assert.equal((await asked('/api/nothing'))[0], 404)
  const headers = { 'x-portico-same-origin': '1' }
  assert.deepEqual(await asked('/api/requests', { method: 'POST', headers }), [405, 'method not allowed\n'])
  assert.equal((await asked('/api/requests', { headers: { host: 'evil.example' } }))[0], 200)
})

test('lists and streams have a sentence for each request where it is asked for', async (t) => {
  const { admin, api, gateway } = await scene(t)
  const told = batchesOf(await fetch(`${admin}/api/requests/stream?headline=true&status=404`))
  await request(gateway.port(), { path: '/page' })
  await request(gateway.port(), { path: '/limited' })
  await request(gateway.port(), { path: '/limited' })
  await request(gateway.port(), { path: `/nowhere/${'x'.repeat(2000)}` })
  await gateway.finished(4)
  const { requests } = await api<RequestList>('/api/requests?headline=true')
  const [nowhere = '', limited = '', , passed = ''] = requests.map(({ headline }) => headline)
  assert.match(passed, /^route page → backend \S+( \(127\.0\.0\.1:\d+\))? answered 200$/)
  assert.match(limited, /^the limit 1\/Hours is used up: requests pass again in \d+ s$/)
  assert.match(nowhere, /^no route of listener \S+ matches: none matched GET \/nowhere\/x+…$/)
  assert.ok(nowhere.length <= 300)
  const { value } = await told.next()
  assert.deepEqual(
    value?.requests.map(({ headline }) => headline),
    [nowhere],
  )
  await told.return(undefined)
  const plain = await api<RequestList>('/api/requests')
  assert.ok(plain.requests.every((each) => !('headline' in each)))
})

test('one record is there whole, and as the events of a trace', async (t) => {
  const { api, gateway } = await scene(t)
  await request(gateway.port(), { path: '/limited' })
  await request(gateway.port(), { path: '/limited' })
  await gateway.finished(2)
  const [summary] = (await api<RequestList>('/api/requests?outcome=limited')).requests
  assert.ok(summary !== undefined && !('steps' in summary))
  const record = await api<RequestRecord>(`/api/requests/${summary.id}`)
  assert.equal(record.reason?.code, 'rate_limited')
  assert.equal(record.steps?.find(({ outcome }) => outcome === 'stopped')?.step, 'rateLimit')
  const events = await api<TraceEvent[]>(`/api/requests/${summary.id}/events`)
  assert.deepEqual([events[0]?.message.type, events.at(-1)?.message.type], ['requestStarted', 'requestFinished'])
})

test('all records can be taken away, one on each line', async (t) => {
  const { admin, gateway } = await scene(t)
  for (let i = 0; i < 3; i++) await request(gateway.port(), { path: `/page/${i}` })
  await gateway.finished(3)
  const response = await fetch(`${admin}/api/requests/download?status=200`)
  assert.equal(response.headers.get('content-type'), 'application/jsonl')
  const lines = (await response.text()).trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as RequestRecord).path),
    ['/page/2', '/page/1', '/page/0'],
  )
})

test('a stream tells of what ends from now on, and of nothing that is not asked for', async (t) => {
  const { admin, gateway } = await scene(t)
  await request(gateway.port(), { path: '/page/before' })
  const stream = await fetch(`${admin}/api/requests/stream?route=limited`)
  assert.equal(stream.headers.get('content-type'), 'text/event-stream')
  const told = batchesOf(stream)
  await request(gateway.port(), { path: '/page/other' })
  await request(gateway.port(), { path: '/limited' })
  const { value } = await told.next()
  assert.deepEqual(
    value?.requests.map(({ path }) => path),
    ['/limited'],
  )
  assert.equal(value?.omitted, 0)
  await told.return(undefined)
})

test('a stream says how many it left out', async (t) => {
  const { admin, gateway } = await scene(t)
  const stream = await fetch(`${admin}/api/requests/stream`)
  const told = batchesOf(stream)
  const many = 400
  const requests = 'GET /page HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(many)
  await exchangeRaw(gateway.port(), requests, (text) => text.split('HTTP/1.1 200').length > many)
  let sum = 0
  for await (const { requests: some, omitted } of told) {
    assert.ok(some.length <= 100)
    sum += some.length + omitted
    if (sum >= many) break
  }
  assert.equal(sum, many)
})

test('only so many can listen at once, and places come free', async (t) => {
  const { admin } = await scene(t)
  const open = await Promise.all(Array.from({ length: 16 }, () => fetch(`${admin}/api/requests/stream`)))
  assert.ok(open.every(({ status }) => status === 200))
  const refused = await fetch(`${admin}/api/requests/stream`)
  assert.deepEqual([refused.status, await refused.text()], [503, 'too many streams of requests are open\n'])
  for (const stream of open) await stream.body?.cancel()
  for (;;) {
    const next = await fetch(`${admin}/api/requests/stream`)
    await next.body?.cancel()
    if (next.status === 200) break
  }
})

test('a page of another site gets neither a stream nor an answer', async (t) => {
  const { admin } = await scene(t)
  const stream = await fetch(`${admin}/api/requests/stream`, { headers: { 'sec-fetch-site': 'cross-site' } })
  assert.equal(stream.status, 403)
  const list = await fetch(`${admin}/api/requests`, { headers: { origin: 'https://evil.example' } })
  assert.equal(list.status, 403)
})

test('the state says how much is recorded, and how fast requests come', async (t) => {
  const { api, gateway } = await scene(t)
  for (let i = 0; i < 20; i++) await request(gateway.port(), { path: '/page' })
  await gateway.finished(20)
  const state = await api<GatewayState>('/api/state')
  assert.deepEqual([state.recorder.isEnabled, state.recorder.records], [true, 20])
  assert.equal(state.requestsPerSecond, 2)
  assert.ok(state.recorder.bytes > 0 && state.recorder.bytes < state.recorder.maxBytes)
})

async function scene(t: TestContext) {
  const origin = await useOrigin(t)
  const limit = { rateLimit: { local: [{ requests: 1, unit: 'Hours' }] } }
  const gateway = await useGateway(
    t,
    httpConfig([
      routeTo(origin, limit, { name: 'limited', ...pathPrefix('/limited') }),
      routeTo(origin, {}, { name: 'page', ...pathPrefix('/page') }),
    ]),
  )
  const { at } = await useAdmin(t, { requests: requestsOf(gateway.store) })
  const admin = `http://${at}`
  const api = async <Answer>(path: string): Promise<Answer> => {
    const response = await fetch(`${admin}${path}`)
    assert.equal(response.status, 200, path)
    assert.equal(response.headers.get('content-type'), 'application/json')
    return (await response.json()) as Answer
  }
  return { gateway, admin, api }
}

function pathsOf({ requests }: RequestList): (string | null)[] {
  return requests.map(({ path }) => path)
}

async function* batchesOf(stream: Response): AsyncGenerator<RequestBatch, void, undefined> {
  let rest = ''
  assert.ok(stream.body !== null)
  for await (const chunk of stream.body.pipeThrough(new TextDecoderStream())) {
    rest += chunk
    const frames = rest.split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) if (frame.startsWith('data: ')) yield JSON.parse(frame.slice(6)) as RequestBatch
  }
}
