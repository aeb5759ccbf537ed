import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Http2Server, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { useAuthorizer } from '../../testing/services/authorizer.ts'
import { request } from '../../testing/client.ts'
import { counting, useLimitServer } from '../../testing/services/limit-server.ts'
import { closedPort, httpConfig, routeTo, until, useGateway, useOrigin } from '../../testing/scene.ts'

const limit = (backendRef: object, more: object = {}) => ({
  rateLimit: {
    global: {
      backendRef,
      domain: 'd',
      descriptors: [{ entries: [{ name: 'all', expression: '"x"' }] }],
      ...more,
    },
  },
})
const byGrpc = (backendRef: object, more: object = {}) => ({ extAuth: { backendRef, ...more } })
const byHttp = (backendRef: object, more: object = {}) => ({ extAuth: { backendRef, http: {}, ...more } })

/** Takes calls, of both versions of HTTP, and never answers; says which are open. */
async function useSilentServer(t: TestContext): Promise<{ host: string; begun: () => number; open: () => number }> {
  const calls = new Set<unknown>()
  let begun = 0
  const taken = (call: ServerHttp2Stream): void => {
    begun++
    calls.add(call)
    call.on('error', () => {}).once('close', () => calls.delete(call))
  }
  const sessions = new Set<Http2Session>()
  const server: Http2Server = createServer().on('stream', taken)
  server.on('session', (session) => sessions.add(session))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { host: `127.0.0.1:${port}`, begun: () => begun, open: () => calls.size }
}

for (const [name, kind, policiesFor] of [
  ['an authorizer that speaks gRPC', 'ExtAuthz', byGrpc],
  ['an authorizer that speaks HTTP', 'ExtAuthz', byHttp],
  ['a rate limit service', 'RateLimit', limit],
] as const) {
  test(`${name} is not asked any more once the client has left`, async (t) => {
    const origin = await useOrigin(t)
    const silent = await useSilentServer(t)
    const backends = [{ name: 'silent', static: addressOf(silent.host), policies: { http: { version: 'HTTP2' } } }]
    const policies = policiesFor({ name: 'silent' }, { timeout: '10m', failureMode: 'FailOpen' })
    const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)], { backends }))
    const client = connect(gateway.port(), '127.0.0.1').on('error', () => {})
    client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await until(() => silent.begun() === 1)
    client.destroy()
    await gateway.finished(1)
    await until(() => silent.open() === 0)
    assert.equal(gateway.records[0]?.reason, 'ClientGone')
    assert.equal(countOf(gateway.metrics(), kind, 'cancelled'), 1)
    assert.equal(countOf(gateway.metrics(), kind, 'timeout'), 0)
    assert.equal(origin.seen.length, 0)
  })

  test(`${name} that is slow or not there is counted as such`, async (t) => {
    const origin = await useOrigin(t)
    const silent = await useSilentServer(t)
    const backends = [
      { name: 'silent', static: addressOf(silent.host), policies: { http: { version: 'HTTP2' } } },
      { name: 'nobody', static: { host: '127.0.0.1', port: await closedPort() } },
    ]
    const routes = ['silent', 'nobody'].map((name) => {
      const timeout = name === 'silent' ? '20ms' : '10m'
      const policies = policiesFor({ name }, { timeout, failureMode: 'FailOpen' })
      return routeTo(origin, policies, { matches: [{ path: { pathPrefix: `/${name}` } }] })
    })
    const gateway = await useGateway(t, httpConfig(routes, { backends }))
    for (const path of ['/silent', '/nobody']) {
      const traced = gateway.trace()
      assert.equal((await request(gateway.port(), { path })).status, 200)
      const outcome = path === '/silent' ? 'timeout' : 'failed'
      assert.equal(countOf(gateway.metrics(), kind, outcome), 1)
      const [callout] = calloutsOf(await traced)
      assert.equal(callout?.outcome, outcome)
    }
  })
}

test('an answer is timed, by kind, and traces say how long it took', async (t) => {
  const origin = await useOrigin(t)
  const authorizer = await useAuthorizer(t, () => ({}))
  const limits = await useLimitServer(t, counting(1))
  const policies = { ...byGrpc({ host: authorizer.host }), ...limit({ host: limits.host }, { timeout: '10s' }) }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  const traced = gateway.trace()
  for (const status of [200, 429]) assert.equal((await request(gateway.port())).status, status)
  const metrics = gateway.metrics()
  for (const kind of ['ExtAuthz', 'RateLimit']) {
    assert.equal(countOf(metrics, kind, 'answered'), 2)
    assert.equal(countOf(metrics, kind, 'failed'), 0)
    assert.match(metrics, new RegExp(`upstream_call_duration_seconds_count\\{kind="Policy",subtype="${kind}"\\} 2`))
  }
  const [first, second] = calloutsOf(await traced)
  assert.deepEqual([first?.target, second?.target], [authorizer.host, limits.host])
  assert.deepEqual([first?.outcome, second?.outcome], ['answered', 'answered'])
  assert.equal(typeof first?.microseconds, 'number')
})

function addressOf(hostAndPort: string): object {
  const [host, port] = hostAndPort.split(':')
  return { host, port: Number(port) }
}

function countOf(metrics: string, kind: string, outcome: string): number {
  const line = new RegExp(`callout_duration_seconds_count\\{kind="${kind}",outcome="${outcome}"\\} (\\d+)`)
  return Number(line.exec(metrics)?.[1])
}

interface NotedCallout {
  target: string
  outcome: string
  microseconds: number
}

function calloutsOf(events: readonly { message: object }[]): NotedCallout[] {
  return events.flatMap(({ message }) => {
    const { result } = message as { result?: { details?: { callout?: NotedCallout } } }
    return result?.details?.callout ?? []
  })
}
