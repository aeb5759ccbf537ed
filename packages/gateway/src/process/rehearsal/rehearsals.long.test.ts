import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { EndedRehearsalView, RehearsalStateView, RehearsalView } from '../../admin/rehearsal/rehearsal-view.ts'
import { request } from '../../testing/client.ts'
import { eventually, metric, type Program, useConfigFile, useProgram } from '../../testing/process.ts'
import { useOrigin } from '../../testing/scene.ts'

const model = { method: 'POST', path: '/chat/v1/chat/completions', body: '{"model":"m","messages":[]}' }

/** Starts a gateway whose backend has two routes, and whose model backend has a provider to fail over to. */
async function useRehearsable(t: TestContext) {
  const origin = await useOrigin(t)
  const paths = (prefix: string) => [{ path: { pathPrefix: prefix } }]
  const retry = { attempts: 2, codes: [503] }
  const groups = ['first', 'second'].map((name) => ({ providers: [{ name, mock: { text: `by ${name}` } }] }))
  const routes = [
    { name: 'shop', matches: paths('/shop'), backends: [{ backend: 'orders' }] },
    { name: 'patient', matches: paths('/patient'), policies: { retry }, backends: [{ backend: 'orders' }] },
    { name: 'chat', matches: paths('/chat'), backends: [{ backend: 'models' }] },
    { name: 'fixed', matches: paths('/fixed'), policies: { directResponse: { status: 200 } } },
    {
      name: 'drill',
      matches: paths('/drill'),
      policies: { abort: { status: 500 } },
      backends: [{ backend: 'drilled' }],
    },
    { name: 'other', backends: [{ host: origin.host }] },
  ]
  const config = {
    config: { workers: 2, stateDir: 'state', keys: {} },
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes }] }],
    backends: [
      { name: 'orders', static: { host: '127.0.0.1', port: origin.port } },
      { name: 'drilled', static: { host: '127.0.0.1', port: origin.port } },
      { name: 'models', ai: { groups } },
    ],
  }
  const file = useConfigFile(t, config)
  const program = await useProgram(t, { args: ['-f', file.file] })
  const call = async (path: string, body?: object) => {
    const headers = { 'x-portico-same-origin': '1', 'content-type': 'application/json' }
    const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${program.admin}${path}`, init)
    const text = await response.text()
    return { status: response.status, text, json: <Value>() => JSON.parse(text) as Value }
  }
  const get = async (path: string): Promise<number> => (await request(program.port(), { path })).status
  const start = async (body: object): Promise<RehearsalView> => {
    const answer = await call('/api/rehearsal/start', { for: '1m', lease: '30s', ...body })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<RehearsalView>()
  }
  const state = async () => (await call('/api/rehearsal')).json<RehearsalStateView>()
  return { origin, config, file, program, call, get, start, state }
}

async function lastRecord(program: Program, query: string) {
  const list = (await (await fetch(`${program.admin}/api/requests?${query}&limit=1`)).json()) as {
    requests: { id: string; status: number; outcome: string; rehearsal?: string[] }[]
  }
  const [record] = list.requests
  assert.ok(record !== undefined)
  const explained = await (await fetch(`${program.admin}/api/requests/${record.id}/explain`)).json()
  return { record, explained: explained as { code: string; headline: string; remarks: string[] } }
}

describe('a rehearsal', () => {
  test('fails the calls to a backend until it is ended, and record, explanation, metric, log and audit say so', async (t) => {
    const { origin, program, call, get, start, state } = await useRehearsable(t)
    assert.equal(await get('/shop'), 200)
    const { id, routes } = await start({ backend: 'orders', status: 503 })
    assert.deepEqual(
      routes.map((key) => key.split('/').at(-1)),
      ['shop', 'patient'],
    )
    const response = await request(program.port(), { path: '/shop' })
    assert.deepEqual([response.status, response.headers['x-portico-rehearsal'], origin.seen.length], [503, id, 1])
    assert.equal(await get('/other'), 200)
    const upload = await request(program.port(), { method: 'POST', path: '/shop', body: 'x'.repeat(300_000) })
    assert.equal(upload.status, 503)
    await eventually('recorded', async () => {
      const { text } = await call('/api/requests?rehearsal=true&route=shop')
      return (JSON.parse(text) as { requests: object[] }).requests.length === 2
    })
    const { record, explained } = await lastRecord(program, 'rehearsal=true&route=shop')
    assert.deepEqual([record.outcome, record.rehearsal], ['failed', ['abort 503']])
    assert.equal(explained.code, 'aborted_by_rehearsal')
    assert.match(
      explained.headline,
      /^this was a rehearsal: a call of route shop → backend orders was answered with status 503/,
    )
    assert.deepEqual(explained.remarks, ['a rehearsal took part on purpose: abort 503'])
    assert.equal(await metric(program, 'portico_rehearsal_active'), 1)
    assert.equal(await metric(program, 'portico_rehearsals_total'), 2)
    await program.logged(/rehearsal started.*orders/)

    const ended = (await call('/api/rehearsal/end', { id })).json<EndedRehearsalView>()
    assert.equal(ended.end, 'ended')
    assert.equal(await get('/shop'), 200)
    assert.equal(await metric(program, 'portico_rehearsal_active'), 0)
    assert.deepEqual([(await state()).current, (await state()).last?.id], [null, id])
    assert.equal((await call('/api/rehearsal/renew', { id })).status, 410)
    await program.logged(/rehearsal ended.*orders/)
    await eventually('in the list of changes', async () => {
      const { text } = await call('/api/audit?kind=rehearsal')
      return (
        (JSON.parse(text) as { entries: { action: string }[] }).entries.map(({ action }) => action).join() ===
        'end,start'
      )
    })
  })

  test('is met by retries, and its share leaves other calls alone', async (t) => {
    const { origin, program, get, start } = await useRehearsable(t)
    await start({ backend: 'orders', status: 503 })
    assert.equal(await get('/patient'), 503)
    await eventually('recorded', async () => (await metric(program, 'portico_rehearsals_total')) === 3)
    await eventually('recorded', async () => {
      const found = await (await fetch(`${program.admin}/api/requests?rehearsal=true`)).text()
      return /"rehearsal":\["abort 503","abort 503","abort 503"\]/.test(found)
    })
    assert.equal(origin.seen.length, 0)
  })

  test('makes calls fail over when it is about one provider', async (t) => {
    const { program, start } = await useRehearsable(t)
    await start({ backend: 'models/first', status: 429 })
    const { status, body } = await request(program.port(), model)
    assert.equal(status, 200)
    assert.match(body, /by second/)
  })

  test('gives clients of models an error in their format', async (t) => {
    const { program, start } = await useRehearsable(t)
    await start({ backend: 'models', status: 429 })
    const { status, body } = await request(program.port(), model)
    assert.equal(status, 429)
    assert.match((JSON.parse(body) as { error: { message: string } }).error.message, /rehearsal/)
  })

  test('delays calls, which then reach the backend', async (t) => {
    const { origin, get, start } = await useRehearsable(t)
    await start({ route: 'shop', delay: '300ms' })
    const before = performance.now()
    assert.equal(await get('/shop'), 200)
    assert.ok(performance.now() - before >= 290)
    assert.equal(origin.seen.length, 1)
  })

  test('ends by itself when nobody renews its lease', async (t) => {
    const { call, get, start, state } = await useRehearsable(t)
    const { id } = await start({ backend: 'orders', status: 503, lease: '2s' })
    assert.equal(await get('/shop'), 503)
    assert.equal((await call('/api/rehearsal/renew', { id })).status, 200)
    await eventually('over', async () => (await state()).current === null)
    assert.equal((await state()).last?.end, 'lease')
    assert.equal(await get('/shop'), 200)
    assert.match((await call('/api/rehearsal/renew', { id })).text, /its lease was not renewed/)
  })

  test('ends with its time, although it is renewed', async (t) => {
    const { call, get, start, state } = await useRehearsable(t)
    const { id } = await start({ backend: 'orders', status: 503, for: '1s' })
    await eventually('over', async () => (await call('/api/rehearsal/renew', { id })).status === 410)
    assert.equal((await state()).last?.end, 'time')
    assert.equal(await get('/shop'), 200)
  })

  test('ends when another config becomes active, and stays when a config is rejected', async (t) => {
    const { config, file, program, get, start, state } = await useRehearsable(t)
    await start({ backend: 'orders', status: 503 })
    file.edit({ ...config, binds: [{ prot: 1 }] })
    await program.logged(/config rejected/)
    assert.equal(await get('/shop'), 503)
    assert.equal(await metric(program, 'portico_config_synchronized'), 0)
    file.edit({ ...config, backends: config.backends.toReversed() })
    await eventually('over', async () => (await state()).last?.end === 'config')
    assert.equal(await get('/shop'), 200)
    assert.equal(await metric(program, 'portico_config_synchronized'), 1)
  })

  test('is refused beside another one, beside a policy, and for what is not there', async (t) => {
    const { call, get, start } = await useRehearsable(t)
    const refused: [body: object, status: number, says: RegExp][] = [
      [{ backend: 'orderz', status: 503 }, 404, /there is no backend orderz; did you mean `orders`\?/],
      [{ route: 'nowhere', status: 503 }, 404, /there is no HTTP route nowhere/],
      [{ route: 'fixed', status: 503 }, 409, /calls no backend/],
      [{ backend: 'drilled', status: 503 }, 409, /has the policy abort in its config/],
      [{ backend: 'orders' }, 400, /status/],
      [{ backend: 'orders', route: 'shop', status: 503 }, 400, /backend/],
      [{ backend: 'orders', status: 200 }, 400, /status/],
      [{ backend: 'orders', status: 503, percentage: 0 }, 400, /percentage/],
      [{ backend: 'orders', status: 503, for: '2h' }, 400, /for/],
    ]
    for (const [body, status, says] of refused) {
      const answer = await call('/api/rehearsal/start', { for: '1m', ...body })
      assert.equal(answer.status, status, `${JSON.stringify(body)} ${answer.text}`)
      assert.match(answer.text, says)
    }
    assert.equal(await get('/shop'), 200)
    await start({ backend: 'orders', delay: '1ms' })
    const second = await call('/api/rehearsal/start', { route: 'chat', status: 500, for: '1m' })
    assert.equal(second.status, 409)
    assert.match(second.text, /the rehearsal [0-9a-f]+ of the backend orders runs until .*, started by no token/)
  })
})
