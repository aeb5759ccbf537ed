import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConnectionMetrics } from './connection-metrics.ts'
import { createCollector } from './metrics-collect.ts'
import { createRegion, createRegistry } from './metrics.ts'
import { createCallTimer, createPoolMetrics } from './pool-metrics.ts'
import { createRequestMetrics } from './request-metrics.ts'
import type { RequestOutcome } from './request-metrics.ts'

const route = {
  bind: 'bind/80',
  gateway: 'default/default',
  listener: 'web',
  route: 'api',
  backends: [
    { name: 'one', protocol: 'http' },
    { name: 'two', protocol: 'http' },
  ],
}

const outcome: RequestOutcome = {
  method: 'GET',
  status: 200,
  reason: 'Upstream',
  backendIndex: 0,
  retryAttempt: 0,
  requestBytes: 10,
  responseBytes: 53,
  durationMs: 3,
}

const PLACE = 'bind="bind/80",gateway="default/default",listener="web",route="api"'

test('a request is counted under all its labels, with bytes and duration', () => {
  const { record, lines } = start()
  record(outcome)
  record(outcome)
  record({ ...outcome, backendIndex: 1, retryAttempt: 2, status: 503, reason: 'UpstreamFailure' })
  const first = `{backend="one",protocol="http",method="GET",status="200",reason="Upstream",${PLACE}}`
  const second = `{backend="two",protocol="http",method="GET",status="503",reason="UpstreamFailure",${PLACE}}`
  assert.deepEqual(lines('portico_requests_total'), [`${first} 2`, `${second} 1`])
  assert.deepEqual(lines('portico_request_bytes_total'), [`${first} 20`, `${second} 10`])
  assert.deepEqual(lines('portico_response_bytes_total'), [`${first} 106`, `${second} 53`])
  assert.deepEqual(lines('portico_retries_total'), [`${second} 2`])
  assert.deepEqual(lines('portico_request_duration_seconds_sum'), [`${first} 0.006`, `${second} 0.003`])
})

test('clients cannot grow the labels with methods, statuses or reasons of their own', () => {
  const { record, lines } = start()
  for (let i = 0; i < 300; i += 1) {
    record({ ...outcome, method: `M${i}`, status: 600 + i, reason: `Reason${i}` })
    record({ ...outcome, method: 'get' })
  }
  const counted = lines('portico_requests_total')
  assert.ok(counted.length < 70, String(counted.length))
  assert.ok(counted.some((line) => line.includes('method="other",status="other",reason="other"')))
  assert.ok(counted.every((line) => line.includes('method="other"')))
})

test('a request that reached no backend has an unknown one', () => {
  const { record, lines } = start()
  record({ ...outcome, backendIndex: -1, status: 404, reason: 'NotFound' })
  assert.deepEqual(lines('portico_requests_total'), [
    `{backend="unknown",protocol="http",method="GET",status="404",reason="NotFound",${PLACE}} 1`,
  ])
})

test('a tcp connection has a duration and bytes but is no request', () => {
  const { registry, lines } = start()
  const record = createRequestMetrics(registry)({ ...route, backends: [{ name: 'db', protocol: 'tcp' }] })
  record({ ...outcome, method: null, status: 0 })
  assert.deepEqual(lines('portico_requests_total'), [])
  assert.deepEqual(lines('portico_request_duration_seconds_count'), [
    `{backend="db",protocol="tcp",method="unknown",status="unknown",reason="Upstream",${PLACE}} 1`,
  ])
})

test('a route compiled again goes on with the same series', () => {
  const { registry, record, lines } = start()
  record(outcome)
  createRequestMetrics(registry)({ ...route })(outcome)
  assert.match(lines('portico_requests_total').join(), / 2$/)
})

test('connections are counted when they open, their bytes when they close', () => {
  const { registry, lines } = start()
  const connections = createConnectionMetrics(registry, ['bind/443', 'default/default', 'web', 'https'])
  connections.opened()
  connections.opened()
  connections.handshake(0.002)
  connections.closed(100, 200)
  const labels = '{bind="bind/443",gateway="default/default",listener="web",protocol="https"}'
  assert.deepEqual(lines('portico_downstream_connections_total'), [`${labels} 2`])
  assert.deepEqual(lines('portico_downstream_connections_active'), [`${labels} 1`])
  assert.deepEqual(lines('portico_downstream_received_bytes_total'), [`${labels} 100`])
  assert.deepEqual(lines('portico_downstream_sent_bytes_total'), [`${labels} 200`])
  assert.deepEqual(lines('portico_tls_handshake_duration_seconds_count'), [`${labels} 1`])
})

test('connections to backends are timed when they open, and failures are counted apart', () => {
  const { registry, lines } = start()
  const upstream = createPoolMetrics(registry)('tls')
  upstream.opened(4)
  upstream.opened(4)
  upstream.closed()
  upstream.connectFailed()
  createCallTimer(registry, 'Primary', 'Http')(250)
  assert.deepEqual(lines('portico_upstream_connections_active'), ['{transport="tls"} 1'])
  assert.deepEqual(lines('portico_upstream_connect_failures_total'), ['{transport="tls"} 1'])
  assert.deepEqual(lines('portico_upstream_connect_duration_seconds_sum'), ['{transport="tls"} 0.008'])
  assert.deepEqual(lines('portico_upstream_call_duration_seconds_sum'), ['{kind="Primary",subtype="Http"} 0.25'])
})

function start() {
  const collector = createCollector()
  const region = createRegion()
  collector.attach('0', region)
  const registry = createRegistry({ region, announce: (definition) => collector.define('0', definition) })
  const record = createRequestMetrics(registry)(route)
  /** The samples of one name, without it. */
  const lines = (name: string) =>
    [...collector.render()]
      .join('')
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`))
      .map((line) => line.slice(name.length))
  return { registry, record, lines }
}
