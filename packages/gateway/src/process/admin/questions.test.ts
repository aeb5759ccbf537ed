import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BackendsView } from '../../admin/config-view.ts'
import type { Evaluation, ExpressionAttachments, RequestList, RouteMatchView } from '../../exports/admin-api.ts'
import type { SeriesView, UsageView } from '../../telemetry/history/series-view.ts'
import { request } from '../../testing/client.ts'
import { startOrigin } from '../../testing/origin.ts'
import { eventually, type Program, useConfigFile, useProgram } from '../../testing/process.ts'

const CHAT = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] }

test('backends are told with what all workers know: evicted ones until when, and why', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const program = await useBoth(t, origin.port, 2)
  await eventually('the broken one is evicted', async () => {
    await ask(program, '/broken')
    return endpointsOf(await backends(program), 'broken')[0]?.state === 'evicted'
  })
  const view = await backends(program)
  const [broken] = endpointsOf(view, 'broken')
  assert.equal(view.unheard, 0)
  assert.deepEqual([broken?.name, broken?.isJudged], ['127.0.0.1:9', true])
  assert.ok((broken?.evictedUntil ?? 0) > Date.now() && (broken?.evictedUntil ?? 0) <= Date.now() + 600_000)
  assert.match(broken?.lastFailure?.cause ?? '', /^connect/)
  assert.ok((broken?.lastFailure?.at ?? 0) > Date.now() - 60_000)
  await ask(program, '/fine')
  const [fine] = endpointsOf(await backends(program), 'fine')
  assert.deepEqual([fine?.state, fine?.evictedUntil, fine?.name], ['healthy', null, `127.0.0.1:${origin.port}`])
})

test('an evicted provider makes the next group the one in use', async (t) => {
  const program = await useBoth(t, 9)
  const models = async () => (await backends(program)).backends.find(({ kind }) => kind === 'ai')
  assert.equal((await models())?.activeGroup, 0)
  const answer = await post(program, CHAT)
  assert.equal(answer.status, 200)
  await eventually('the first provider is evicted', async () => (await models())?.activeGroup === 1)
  const groups = (await models())?.groups ?? []
  assert.deepEqual(
    groups.flat().map(({ name, health }) => [name, health?.state]),
    [
      ['first', 'evicted'],
      ['spare', 'healthy'],
    ],
  )
  assert.match(groups[0]?.[0]?.health?.lastFailure?.cause ?? '', /^connect/)
  const usage = await get<UsageView>(program, '/api/metrics/usage?range=15m')
  assert.deepEqual(
    usage.rows.map(({ provider, route, calls, estimatedCalls }) => [provider, route, calls, estimatedCalls]),
    [['mock', 'chat', 1, 0]],
  )
  assert.ok((usage.rows[0]?.output ?? 0) > 0 && usage.completeSince < Date.now())
})

test('a gateway whose upstreams refuse connections answers questions', async (t) => {
  const program = await useBoth(t, 9)

  await t.test(
    'expressions are evaluated on a recorded request, and guarded as calls that change something',
    async () => {
      await ask(program, '/broken?x=1')
      let id = ''
      await eventually('it is recorded', async () => {
        id = (await get<RequestList>(program, '/api/requests')).requests[0]?.id ?? ''
        return id !== ''
      })
      const evaluate = (body: unknown, headers: Record<string, string> = { 'x-portico-same-origin': '1' }) =>
        fetch(`${program.admin}/api/expressions/evaluate`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        })
      const answer = await evaluate({ expression: 'request.path == "/broken" && response.code >= 500', requestId: id })
      assert.equal(answer.status, 200)
      const told = (await answer.json()) as Evaluation
      assert.deepEqual([told.tree?.value, told.type, told.tree?.parts.length], [true, 'bool', 2])
      assert.equal((await evaluate({ expression: 'true' }, {})).status, 403)
      assert.equal(
        (await evaluate({ expression: 'true' }, { 'x-portico-same-origin': '1', origin: 'http://evil.example' }))
          .status,
        403,
      )
      const refused: [unknown, RegExp][] = [
        [{ expression: 'true', requestId: 'nothing' }, /no record/],
        [{ expression: '' }, /expected a string/],
        [{ expression: 'x'.repeat(9000) }, /at most/],
        [{ expression: 'true', phase: 'never' }, /expected one of log, request/],
        [{ expression: 'true', variables: {}, requestId: id }, /found both/],
        [{ expression: 'true', variable: {} }, /unknown field/],
        [[], /expected an object/],
      ]
      for (const [body, problem] of refused) {
        const { status, text } = await textOf(await evaluate(body))
        assert.equal(status, 400, text)
        assert.match(text, problem)
      }
      assert.equal((await evaluate({ expression: 'true', variables: { jwt: 'x'.repeat(300_000) } })).status, 413)
      assert.equal((await fetch(`${program.admin}/api/expressions/evaluate`)).status, 405)
      const { places } = await get<ExpressionAttachments>(program, '/api/expressions')
      assert.ok(places.length >= 9)
    },
  )

  await t.test('the router says which route a request would take', async () => {
    const match = async (body: unknown) => {
      const answer = await fetch(`${program.admin}/api/routes/match`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-portico-same-origin': '1' },
        body: JSON.stringify(body),
      })
      return (await answer.json()) as RouteMatchView
    }
    const found = await match({ url: `http://127.0.0.1:${program.port()}/fine/1` })
    assert.deepEqual(
      found.ports.map(({ port, route }) => [port, route?.name]),
      [[program.port(), 'fine']],
    )
    const none = await match({ url: '/nothing', method: 'DELETE' })
    assert.equal(none.ports[0]?.route, null)
    assert.match(none.ports[0]?.nearest[0]?.lacks[0] ?? '', /^path below/)
  })

  await t.test('an MCP target has what went wrong at it last, with the request', async () => {
    await fetch(`http://127.0.0.1:${program.port()}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
      }),
    })
    await eventually('the error is told', async () => {
      const target = (await backends(program)).backends.find(({ kind }) => kind === 'mcp')?.groups[0]?.[0]
      if (target?.lastError == null) return false
      assert.deepEqual([target.name, target.lastError.outcome], ['files', 'unavailable'])
      const found = await fetch(`${program.admin}/api/requests/${target.lastError.request}`)
      assert.equal(found.status, 200)
      return true
    })
  })
})

test('the last minutes are kept in steps', async (t) => {
  const program = await useBoth(t, 9)
  await ask(program, '/broken')
  await eventually('a step is over', async () => {
    const { total } = await get<SeriesView>(program, '/api/metrics/series?range=15m')
    return total.failed.some((count) => count > 0)
  })
  const series = await get<SeriesView>(program, '/api/metrics/series?range=24h')
  assert.deepEqual(
    series.routes.map(({ name }) => name),
    ['broken'],
  )
  assert.equal(series.times.length, series.total.p95.length)
  assert.equal((await fetch(`${program.admin}/api/metrics/series?range=1y`)).status, 400)
  assert.equal((await fetch(`${program.admin}/api/metrics/usage?since=1`)).status, 400)
})

function endpointsOf(view: BackendsView, name: string) {
  return view.backends.find((backend) => backend.name === name)?.endpoints ?? []
}

async function useBoth(t: Parameters<typeof useProgram>[0], port: number, workers = 1): Promise<Program> {
  const { file } = useConfigFile(t, {
    config: { workers },
    binds: [
      {
        port: 0,
        address: '127.0.0.1',
        listeners: [
          {
            routes: [
              { name: 'broken', matches: [{ path: { pathPrefix: '/broken' } }], backends: [{ backend: 'broken' }] },
              { name: 'fine', matches: [{ path: { pathPrefix: '/fine' } }], backends: [{ backend: 'fine' }] },
              { name: 'chat', matches: [{ path: { pathPrefix: '/v1' } }], backends: [{ backend: 'models' }] },
              { name: 'mcp', matches: [{ path: { pathPrefix: '/mcp' } }], backends: [{ backend: 'tools' }] },
            ],
          },
        ],
      },
    ],
    backends: [
      { name: 'broken', static: { host: '127.0.0.1', port: 9 }, policies: { health: EVICT } },
      { name: 'fine', static: { host: '127.0.0.1', port }, policies: { health: EVICT } },
      {
        name: 'models',
        policies: { health: EVICT },
        ai: {
          groups: [
            { providers: [{ name: 'first', openai: {}, host: '127.0.0.1', port: 9 }] },
            { providers: [{ name: 'spare', mock: {} }] },
          ],
        },
      },
      { name: 'tools', mcp: { targets: [{ name: 'files', static: { host: '127.0.0.1', port: 9, path: '/mcp' } }] } },
    ],
  })
  return useProgram(t, { args: ['-f', file] })
}

const EVICT = { eviction: { duration: '300s', consecutiveFailures: 1 } }

async function ask(program: Program, path: string): Promise<number> {
  return (await request(program.port(), { path })).status
}

function post(program: Program, body: unknown): Promise<Response> {
  return fetch(`http://127.0.0.1:${program.port()}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

function backends(program: Program): Promise<BackendsView> {
  return get<BackendsView>(program, '/api/backends')
}

async function get<T>(program: Program, path: string): Promise<T> {
  return (await (await fetch(program.admin + path)).json()) as T
}

async function textOf(answer: Response): Promise<{ status: number; text: string }> {
  return { status: answer.status, text: await answer.text() }
}
