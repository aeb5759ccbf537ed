import { Exemplars } from './exemplars.ts'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { createConnectionMetrics } from './connection-metrics.ts'
import { Collector } from './metrics-collect.ts'
import { createRegion, MOST_LABEL_SETS, Registry } from './metrics.ts'
import { createPoolMetrics } from './pool-metrics.ts'
import { type AddedLabels, createCallTimer, createRequestMetrics, type RequestOutcome } from './request-metrics.ts'

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
  startedAt: 1000,
  durationMs: 3,
  llm: null,
  mcp: null,
}

const byTeam: AddedLabels = {
  names: ['team'],
  valuesOf: (scope) => ['team' in scope ? String(scope.team) : 'unknown'],
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

test('every method of the HTTP registry that gateways meet has its own label', () => {
  const { record, lines } = start()
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY']
  for (const method of methods) record({ ...outcome, method })
  const labels = lines('portico_requests_total').map((line) => /method="(\w+)"/.exec(line)?.[1])
  assert.deepEqual(new Set(labels), new Set(methods))
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
  record({ ...outcome, method: null, status: 0 }, null)
  assert.deepEqual(lines('portico_requests_total'), [])
  assert.deepEqual(lines('portico_request_duration_seconds_count'), [
    `{backend="db",protocol="tcp",method="unknown",status="unknown",reason="Upstream",${PLACE}} 1`,
  ])
})

test('a route compiled again goes on with the same series', () => {
  const { registry, record, lines } = start()
  record(outcome)
  createRequestMetrics(registry)({ ...route })(outcome, null)
  assert.match(lines('portico_requests_total').join(), / 2$/)
})

test('labels that a config adds are on every metric of a request', () => {
  const { registry, lines } = start()
  const record = createRequestMetrics(registry)(route, byTeam)
  record({ ...outcome, retryAttempt: 1 }, { team: 'a' })
  record(outcome, { team: 'b' })
  record(outcome, { team: 'b' })
  const labels = (team: string) =>
    `{backend="one",protocol="http",method="GET",status="200",reason="Upstream",${PLACE},team="${team}"}`
  assert.deepEqual(lines('portico_requests_total'), [`${labels('a')} 1`, `${labels('b')} 2`])
  assert.deepEqual(lines('portico_request_bytes_total'), [`${labels('a')} 10`, `${labels('b')} 20`])
  assert.deepEqual(lines('portico_response_bytes_total'), [`${labels('a')} 53`, `${labels('b')} 106`])
  assert.deepEqual(lines('portico_request_duration_seconds_count'), [`${labels('a')} 1`, `${labels('b')} 2`])
  assert.deepEqual(lines('portico_retries_total'), [`${labels('a')} 1`])
})

test('sets of added values beyond the bound are counted together, and told of once', () => {
  const { registry, lines } = start()
  const full: string[] = []
  const requestMetrics = createRequestMetrics(registry, (names) => full.push(names.join()))
  for (let i = 0; i < 2 * MOST_LABEL_SETS; i += 1) {
    // As after reloads, and on several routes: the bound is one for all of them.
    requestMetrics({ ...route, route: `r${i % 3}` }, byTeam)(outcome, { team: `t${i}` })
  }
  const counted = lines('portico_requests_total')
  const others = counted.filter((line) => line.includes('team="other"'))
  assert.equal(counted.length - others.length, MOST_LABEL_SETS)
  assert.equal(others.length, 3)
  assert.equal(sum(others), MOST_LABEL_SETS)
  assert.deepEqual(full, ['team'])
})

test('a reload with other labels starts other series and leaves the earlier ones as they are', () => {
  const { registry, record, lines } = start()
  record(outcome)
  const requestMetrics = createRequestMetrics(registry)
  requestMetrics(route, byTeam)(outcome, { team: 'a' })
  requestMetrics(route, { ...byTeam, names: ['squad'] })(outcome, { team: 'a' })
  requestMetrics(route, byTeam)(outcome, { team: 'a' })
  record(outcome)
  assert.deepEqual(
    lines('portico_requests_total').map((line) => line.slice(line.indexOf('route=') + 11)),
    ['} 2', ',team="a"} 2', ',squad="a"} 1'],
  )
})

test('promtool finds nothing to say about added labels, whatever their values', (t) => {
  const { registry, text } = start()
  const record = createRequestMetrics(registry)(route, byTeam)
  for (const team of ['a', 'with "quotes" \\ and\nlines', 'é', '', '\ufffd']) record(outcome, { team })
  const result = spawnSync('promtool', ['check', 'metrics'], { input: text(), encoding: 'utf8' })
  if (result.error !== undefined) return t.skip(`promtool is not installed: ${result.error.message}`)
  assert.equal(result.status, 0, result.stdout + result.stderr)
})

test('connections are counted when they open, their bytes when they close', () => {
  const { registry, lines } = start()
  const connections = createConnectionMetrics(registry, ['bind/443', 'default/default', 'web', 'https'])
  connections.opened()
  connections.opened()
  connections.handshake(0.002)
  connections.closed(100, 200)
  connections.refused('tls_refused')
  const labels = '{bind="bind/443",gateway="default/default",listener="web",protocol="https"}'
  assert.deepEqual(lines('portico_downstream_connections_total'), [`${labels} 2`])
  assert.deepEqual(lines('portico_downstream_connections_active'), [`${labels} 1`])
  assert.deepEqual(lines('portico_downstream_received_bytes_total'), [`${labels} 100`])
  assert.deepEqual(lines('portico_downstream_sent_bytes_total'), [`${labels} 200`])
  assert.deepEqual(lines('portico_tls_handshake_duration_seconds_count'), [`${labels} 1`])
  assert.deepEqual(lines('portico_downstream_connections_refused_total'), [
    `${labels.slice(0, -1)},reason="tls_refused"} 1`,
  ])
})

test('connections to backends are timed when they open, and failures are counted apart', () => {
  const { registry, lines } = start()
  const upstream = createPoolMetrics(registry)('tls')
  upstream.opened(4)
  upstream.opened(4)
  upstream.closed()
  upstream.connectFailed()
  upstream.fellSilent()
  createCallTimer(registry, ['Primary', 'Http'], new Exemplars(() => {}))(250, null)
  assert.deepEqual(lines('portico_upstream_connections_active'), ['{transport="tls"} 1'])
  assert.deepEqual(lines('portico_upstream_connect_failures_total'), ['{transport="tls"} 1'])
  assert.deepEqual(lines('portico_upstream_connections_silent_total'), ['{transport="tls"} 1'])
  assert.deepEqual(lines('portico_upstream_connect_duration_seconds_sum'), ['{transport="tls"} 0.008'])
  assert.deepEqual(lines('portico_upstream_call_duration_seconds_sum'), ['{kind="Primary",subtype="Http"} 0.25'])
})

function start() {
  const collector = new Collector()
  const region = createRegion()
  collector.attach('0', region)
  const registry = new Registry({ region, announce: (definition) => collector.define('0', definition) })
  const recordRequest = createRequestMetrics(registry)(route)
  const record = (of: RequestOutcome) => recordRequest(of, null)
  /** The samples of one name, without it. */
  const text = () => [...collector.render()].join('')
  const lines = (name: string) =>
    text()
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`))
      .map((line) => line.slice(name.length))
  return { registry, record, lines, text }
}

function sum(lines: readonly string[]): number {
  return lines.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0)
}
