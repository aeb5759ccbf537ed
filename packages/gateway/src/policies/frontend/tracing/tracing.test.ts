import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { test, type TestContext } from 'node:test'
import { checkCompile } from '../../../compile/check.ts'
import { loadConfig } from '../../../sources/file.ts'
import { printProblem } from '../../../sources/print-problems.ts'
import { request } from '../../../testing/client.ts'
import type { TestGatewayOptions } from '../../../testing/gateway.ts'
import {
  type Collector,
  type SeenSpan,
  useGrpcCollector,
  useHttpCollector,
} from '../../../testing/otlp/otlp-collector.ts'
import { eventually, useConfigFile, useProgram } from '../../../testing/process.ts'
import { closedPort, httpConfig, pathPrefix, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'
const traceparent = `00-${traceId}-${spanId}-01`
const SERVER = 2
const CLIENT = 3
const direct = { policies: { directResponse: { status: 200, body: 'x' } } }

function config(collector: { host: string }, routes: object[], tracing: object = {}, more: object = {}): object {
  const own = { backendRef: { host: collector.host }, randomSampling: true, ...tracing }
  return httpConfig(routes, { frontend: { tracing: own }, ...more })
}

async function scene(t: TestContext, routes: object[], tracing: object = {}, options: TestGatewayOptions = {}) {
  const collector = await useGrpcCollector(t)
  const gateway = await useGateway(t, config(collector, routes, tracing), { logFormat: 'json', ...options })
  return { collector, gateway }
}

const server = ({ spans }: Collector): SeenSpan => spans.find(({ kind }) => kind === SERVER) ?? assert.fail('no span')
const calls = ({ spans }: Collector): SeenSpan[] => spans.filter(({ kind }) => kind === CLIENT)
const lineOf = (text: string | undefined) => JSON.parse(text ?? '') as Record<string, unknown>

test('a request begins a trace, and its backend is told of the span of the call', async (t) => {
  const origin = await useOrigin(t)
  const before = BigInt(Date.now()) * 1_000_000n
  const { collector, gateway } = await scene(t, [routeTo(origin, {}, pathPrefix('/shop'))])
  await request(gateway.port(), { path: '/shop/1?q=1' })
  await collector.taken(2)
  const own = server(collector)
  const [call] = calls(collector)
  assert.match(own.traceId, /^[0-9a-f]{32}$/)
  assert.deepEqual([own.parentId, own.name, own.status], ['', 'GET /shop/*', null])
  assert.deepEqual([call?.traceId, call?.parentId, call?.status], [own.traceId, own.spanId, null])
  assert.equal(origin.seen[0]?.headers['traceparent'], `00-${own.traceId}-${call?.spanId}-01`)
  assert.equal(origin.seen[0]?.headers['tracestate'], undefined)
  assert.ok(own.start >= before && call !== undefined)
  assert.ok(own.start <= call.start && call.start <= call.end && call.end <= own.end)
  const { attributes } = own
  assert.deepEqual(
    [attributes['http.path'], attributes['http.status'], attributes['url.scheme']],
    ['/shop/1?q=1', 200, 'http'],
  )
  assert.deepEqual([call.attributes['http.path'], call.attributes['portico.call']], ['/shop/1', 'backend'])
  const stable = [
    'http.request.method',
    'http.response.status_code',
    'http.route',
    'url.path',
    'server.address',
    'server.port',
    'client.address',
    'network.protocol.version',
  ]
  assert.deepEqual(
    stable.map((name) => attributes[name]),
    ['GET', 200, '/shop/*', '/shop/1', 'test.example', 80, '127.0.0.1', '1.1'],
  )
  const ofCall = [...stable.slice(0, 2), 'url.path', 'server.address', 'network.peer.address', 'network.peer.port']
  assert.deepEqual(
    ofCall.map((name) => call.attributes[name]),
    ['GET', 200, '/shop/1', 'test.example', '127.0.0.1', origin.port],
  )
  assert.deepEqual(
    [call.attributes['url.scheme'], call.attributes['url.full']],
    ['http', 'http://test.example/shop/1'],
    'the query may hold a key',
  )
  assert.deepEqual([own.resource['service.name'], own.scope.name], ['portico', 'portico'])
  const line = lineOf(gateway.lines[0])
  assert.deepEqual([line['trace_id'], line['span_id']], [own.traceId, own.spanId])
  assert.deepEqual(gateway.bugs, [])
})

test('a trace of the client goes on, with its state', async (t) => {
  const origin = await useOrigin(t)
  const { collector, gateway } = await scene(t, [routeTo(origin)], { randomSampling: false })
  await request(gateway.port(), { headers: { traceparent, tracestate: 'vendor=1' } })
  await collector.taken(2)
  const own = server(collector)
  const [call] = calls(collector)
  assert.deepEqual([own.traceId, own.parentId, own.tracestate, own.flags], [traceId, spanId, 'vendor=1', 0x301])
  assert.deepEqual([call?.tracestate, call?.flags], ['vendor=1', 0x101])
  const { headers } = origin.seen[0] ?? assert.fail('nothing was sent')
  assert.deepEqual([headers['traceparent'], headers['tracestate']], [`00-${traceId}-${call?.spanId}-01`, 'vendor=1'])
})

test('headers of Zipkin begin and carry a trace too', async (t) => {
  const origin = await useOrigin(t)
  const { collector, gateway } = await scene(t, [routeTo(origin)])
  await request(gateway.port(), { headers: { b3: `${traceId}-${spanId}-1` } })
  await collector.taken(2)
  const own = server(collector)
  const [call] = calls(collector)
  assert.deepEqual([own.traceId, own.parentId], [traceId, spanId])
  const { headers } = origin.seen[0] ?? assert.fail('nothing was sent')
  assert.equal(headers['traceparent'], `00-${traceId}-${call?.spanId}-01`)
  assert.equal(headers['b3'], `${traceId}-${call?.spanId}-1-${own.spanId}`)
})

test('one that the client does not sample, or says wrongly, leaves headers as they are', async (t) => {
  const origin = await useOrigin(t)
  const { collector, gateway } = await scene(t, [routeTo(origin)], { randomSampling: 'request.path == "/sampled"' })
  const quiet = `00-${traceId}-${spanId}-00`
  await request(gateway.port(), { headers: { traceparent: quiet } })
  await request(gateway.port(), { headers: { b3: '0' }, path: '/sampled' })
  await request(gateway.port(), { headers: { traceparent: 'nonsense', tracestate: 'a=1' } })
  assert.deepEqual(
    origin.seen.map(({ headers }) => [headers['traceparent'], headers['b3'], headers['tracestate']]),
    [
      [quiet, undefined, undefined],
      [undefined, '0', undefined],
      ['nonsense', undefined, 'a=1'],
    ],
  )
  // A malformed one begins a new trace, and what stands beside it counts for nothing.
  await request(gateway.port(), { headers: { traceparent: 'nonsense', tracestate: 'a=1' }, path: '/sampled' })
  await collector.taken(2)
  assert.equal(collector.spans.length, 2)
  const { headers } = origin.seen[3] ?? assert.fail('nothing was sent')
  assert.match(String(headers['traceparent']), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  assert.equal(headers['tracestate'], undefined)
  const [line] = gateway.lines
  assert.deepEqual([lineOf(line)['trace_id'], lineOf(line)['span_id']], [traceId, spanId])
})

test('shares, truth values and expressions decide', async (t) => {
  const cases: [object, Record<string, string>, number][] = [
    [{ randomSampling: 0.4 }, {}, 0],
    [{ randomSampling: 0.6 }, {}, 1],
    [{ randomSampling: '0.6' }, {}, 1],
    [{ randomSampling: false }, {}, 0],
    [{ randomSampling: 1 }, {}, 1],
    [{ randomSampling: 'request.headers["x"] == "1" ? 0.6 : 0.4' }, { x: '1' }, 1],
    [{ randomSampling: 'request.headers["x"] == "1" ? 0.6 : 0.4' }, { x: '2' }, 0],
    [{ randomSampling: 'request.headers["x"] == "1"' }, {}, 0],
    [{ randomSampling: 'request.headers["x"] == "1" ? 1.0 : 0.0' }, { x: '1' }, 1],
    [{ randomSampling: 'request.headers["x"] == "1" ? 1.0 : 0.0' }, { x: '2' }, 0],
    [{ randomSampling: 'request.headers["x"] == "1" ? 1u : 0u' }, { x: '1' }, 1],
    [{ randomSampling: 'request.headers["x"] == "1" ? 1 : 0' }, { x: '1' }, 1],
    [{ randomSampling: '1' }, {}, 1],
    [{ randomSampling: '"text"' }, {}, 0],
    [{ clientSampling: 0 }, { traceparent }, 0],
    [{ clientSampling: 'request.method == "GET"' }, { traceparent }, 1],
  ]
  for (const [tracing, headers, expected] of cases) {
    const collector = await useGrpcCollector(t)
    const gateway = await useGateway(t, config(collector, [direct], tracing), { random: () => 0.5 })
    await request(gateway.port(), { headers })
    await collector.taken(expected)
    await until(() => gateway.exporters.size === 0)
    assert.equal(collector.spans.length, expected, JSON.stringify(tracing))
  }
})

test('a trace of a request tells what was decided', async (t) => {
  const { gateway } = await scene(t, [direct], { clientSampling: false })
  const decisions: unknown[] = []
  for (const headers of [{}, { traceparent }] as Record<string, string>[]) {
    const watched = gateway.trace()
    await request(gateway.port(), { headers })
    const events = await watched
    decisions.push(events.find(({ message }) => message['type'] === 'traceSampling')?.message['decision'])
  }
  assert.deepEqual(decisions, ['sample (random)', 'not sampled (client)'])
})

test('attributes and resources are what the config makes of them', async (t) => {
  const origin = await useOrigin(t)
  const tracing = {
    attributes: {
      remove: ['http.path', 'gateway'],
      add: [
        { name: 'team', expression: 'request.headers["x-team"]' },
        { name: 'http.host', expression: 'jwt.sub' },
        { name: 'codes', expression: '[response.code]' },
        { name: 'span.name', expression: '"orders " + request.method' },
      ],
    },
    resources: [
      { name: 'deployment.environment.name', expression: '"prod"' },
      { name: 'pod', expression: 'env.podName' },
      { name: 'none', expression: 'null' },
    ],
  }
  const { collector, gateway } = await scene(t, [routeTo(origin)], tracing)
  await request(gateway.port(), { headers: { 'x-team': 'a' }, path: '/secret' })
  await collector.taken(2)
  const { name, attributes, resource } = server(collector)
  assert.deepEqual([name, attributes['team'], attributes['codes']], ['orders GET', 'a', [200]])
  for (const span of collector.spans) {
    for (const gone of [
      'http.path',
      'url.path',
      'url.full',
      'http.route',
      'http.host',
      'server.address',
      'gateway',
      'span.name',
    ])
      assert.equal(span.attributes[gone], undefined)
  }
  assert.deepEqual(
    [resource['deployment.environment.name'], resource['pod'], resource['none']],
    ['prod', 'test', undefined],
  )
})

test('a collector of HTTP gets them at its path', async (t) => {
  const collector = await useHttpCollector(t)
  for (const [tracing, url] of [
    [{ protocol: 'HTTP' }, '/v1/traces'],
    [{ protocol: 'HTTP', path: '/otlp/traces' }, '/otlp/traces'],
  ] as const) {
    const known = collector.spans.length
    const gateway = await useGateway(t, config(collector, [direct], tracing))
    await request(gateway.port(), { path: '/' })
    await collector.taken(known + 1)
    assert.equal(collector.asked.at(-1)?.['url'], url)
  }
})

test('replies of the gateway itself have a span without a call, and only faults of servers are errors', async (t) => {
  const dead = { host: `127.0.0.1:${await closedPort()}` }
  const denied = { authorization: { action: 'Deny', policy: { matchExpressions: ['true'] } } }
  const routes = [
    { ...direct, ...pathPrefix('/direct') },
    routeTo(dead, denied, pathPrefix('/denied')),
    routeTo(dead, {}, pathPrefix('/dead')),
  ]
  const { collector, gateway } = await scene(t, routes)
  for (const path of ['/direct', '/denied', '/nowhere', '/dead']) await request(gateway.port(), { path })
  await collector.taken(5)
  const told = collector.spans
    .filter(({ kind }) => kind === SERVER)
    .map(({ name, status, attributes }) => {
      return [name, attributes['http.status'], attributes['reason'], status?.code, attributes['error.type']]
    })
  assert.deepEqual(told, [
    ['GET /direct/*', 200, 'DirectResponse', undefined, undefined],
    ['GET /denied/*', 403, 'Authorization', undefined, undefined],
    ['GET', 404, 'NotFound', undefined, undefined],
    ['GET /dead/*', 503, 'UpstreamFailure', 2, 'UpstreamFailure'],
  ])
  const [call] = calls(collector)
  assert.deepEqual([call?.status?.code, call?.attributes['error.type']], [2, 'connect_failed'])
})

test('clients of HTTP/2 have spans too', async (t) => {
  const origin = await useOrigin(t)
  const { collector, gateway } = await scene(t, [routeTo(origin)])
  const client = connect(`http://127.0.0.1:${gateway.port()}`)
  t.after(() => client.destroy())
  const stream = client.request({ ':path': '/h2', traceparent })
  stream.resume().end()
  await collector.taken(2)
  const own = server(collector)
  assert.deepEqual([own.traceId, own.parentId, own.attributes['network.protocol.version']], [traceId, spanId, '2'])
})

test('calls to the collector are in no trace, even through the gateway itself', async (t) => {
  const collector = await useHttpCollector(t)
  const gateway = await useGateway(t, config(collector, [direct]))
  const through = { host: `127.0.0.1:${gateway.port()}` }
  const routes = [{ ...direct, ...pathPrefix('/direct') }, routeTo(collector)]
  await gateway.reload(JSON.stringify(config(through, routes, { protocol: 'HTTP' })))
  await request(gateway.port(), { path: '/direct' })
  await collector.taken(1)
  await until(() => gateway.exporters.size === 0)
  assert.equal(collector.spans.length, 1)
  assert.deepEqual(new Set(gateway.records.map(({ target }) => target)), new Set(['/direct', '/v1/traces']))
})

test('a reload while a request runs loses no span, and the old collector gets it', async (t) => {
  const [one, two] = [await useGrpcCollector(t), await useGrpcCollector(t)]
  const waiting = Promise.withResolvers<void>()
  const origin = await useOrigin(t, (_seen, response) => void waiting.promise.then(() => response.end('late')))
  const gateway = await useGateway(t, config(one, [routeTo(origin)]))
  const slow = request(gateway.port(), { path: '/slow' })
  await until(() => origin.seen.length === 1)
  await gateway.reload(JSON.stringify(config(two, [direct])))
  await request(gateway.port(), { path: '/new' })
  waiting.resolve()
  await slow
  await Promise.all([one.taken(2), two.taken(1)])
  assert.deepEqual([one.spans.length, two.spans.length], [2, 1])
  await gateway.reload(JSON.stringify(httpConfig([direct])))
  await request(gateway.port(), { path: '/off' })
  await until(() => gateway.exporters.size === 0)
  assert.deepEqual([one.spans.length, two.spans.length], [2, 1])
})

test('a scrape in the form of OpenMetrics leads from a bucket to a trace', async (t) => {
  const { gateway } = await scene(t, [direct], { randomSampling: false })
  await request(gateway.port(), { path: '/' })
  assert.doesNotMatch(gateway.metrics('openMetrics'), /trace_id/)
  await request(gateway.port(), { headers: { traceparent } })
  await gateway.finished(2)
  const text = gateway.metrics('openMetrics')
  const { span_id: own } = lineOf(gateway.lines[1])
  const exemplar = new RegExp(
    `^portico_request_duration_seconds_bucket\\{.*le="[^"]+"\\} [12] # \\{trace_id="${traceId}",span_id="${String(own)}"\\} [0-9.e-]+ [0-9]+\\.[0-9]{3}$`,
    'm',
  )
  assert.match(text, exemplar)
  assert.match(text, /^# TYPE portico_requests counter$/m)
  assert.match(text, /^portico_requests_total\{/m)
  assert.match(text, /le="1\.0"/)
  assert.ok(text.endsWith('# EOF\n'))
  // Numbers are the same, and the older form has no place for traces.
  assert.doesNotMatch(gateway.metrics(), /trace_id|# EOF|le="1\.0"/)
})

test('two workers send all spans before they end', async (t) => {
  const collector = await useGrpcCollector(t)
  const whole = { config: { workers: 2 }, ...config(collector, [direct]) }
  const program = await useProgram(t, { args: ['-f', useConfigFile(t, whole).file] })
  await Promise.all(Array.from({ length: 60 }, (_, i) => request(program.port(), { path: `/${i}` })))
  await eventually('a scrape leads to a trace', async () => {
    const accept = 'application/openmetrics-text; version=1.0.0'
    const response = await fetch(`${program.stats}/metrics`, { headers: { accept } })
    assert.match(response.headers.get('content-type') ?? '', /^application\/openmetrics-text; version=1\.0\.0/)
    return /_bucket\{.*\} \d+ # \{trace_id="[0-9a-f]{32}"/.test(await response.text())
  })
  program.child.kill('SIGTERM')
  await program.ended
  assert.equal(collector.spans.length, 60)
  assert.equal(new Set(collector.spans.map((span) => span.traceId)).size, 60)
  assert.equal(new Set(collector.spans.map(({ attributes }) => attributes['http.path'])).size, 60)
})

test('a collector that only a variable names gets the traces that clients sample', async (t) => {
  const collector = await useHttpCollector(t)
  const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://${collector.host}/v1/traces` }
  const gateway = await useGateway(t, httpConfig([direct]), { env })
  await request(gateway.port(), { path: '/none' })
  await request(gateway.port(), { path: '/one', headers: { traceparent } })
  await collector.taken(1)
  assert.deepEqual([server(collector).traceId, server(collector).attributes['http.path']], [traceId, '/one'])
})

test('a sampler that a variable names holds for a collector of variables, and for none of the config', async (t) => {
  const collector = await useHttpCollector(t)
  const sampler = { OTEL_TRACES_SAMPLER: 'always_on' }
  const env = { ...sampler, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://${collector.host}/v1/traces` }
  const gateway = await useGateway(t, httpConfig([direct]), { env })
  await request(gateway.port(), { path: '/refused', headers: { traceparent: traceparent.replace(/01$/, '00') } })
  await request(gateway.port(), { path: '/new' })
  await collector.taken(1)
  assert.equal(server(collector).attributes['http.path'], '/new')

  const tracing = { backendRef: { host: collector.host }, protocol: 'HTTP', path: '/v1/traces' }
  const own = await useGateway(t, httpConfig([direct], { frontend: { tracing } }), { env: sampler })
  await request(own.port(), { path: '/not-new' })
  await request(own.port(), { path: '/sampled', headers: { traceparent } })
  await collector.taken(2)
  assert.deepEqual(
    collector.spans.map(({ attributes }) => attributes['http.path']),
    ['/new', '/sampled'],
  )
})

test('mistakes are found at load', () => {
  const problems = (tracing: object): string => {
    const text = JSON.stringify({ frontend: { tracing }, binds: [] })
    const loaded = loadConfig(text, { file: 'a.yaml', dir: '.', env: {} })
    return loaded.ok
      ? checkCompile(loaded.ir).map(loaded.explain).join('\n')
      : loaded.problems.map(printProblem).join('\n')
  }
  const backendRef = { host: '127.0.0.1:4317' }
  assert.equal(problems({ backendRef }), '')
  assert.match(problems({}), /backendRef/)
  assert.match(problems({ backendRef, randomSampling: 2 }), /a share from 0 to 1/)
  assert.match(problems({ backendRef, randomSampling: 'response.code == 1' }), /response/)
  assert.match(problems({ backendRef, clientSampling: [] }), /a share from 0 to 1/)
  assert.match(problems({ backendRef, attributes: { remove: ['http.methd'] } }), /did you mean `http.method`/)
  assert.match(problems({ backendRef, resources: [{ name: 'a', expression: 'request.path' }] }), /request/)
})
