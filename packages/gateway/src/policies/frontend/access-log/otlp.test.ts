import assert from 'node:assert/strict'
import { createServer as createHttp2Server } from 'node:http2'
import type { Socket } from 'node:net'
import { describe, it, test, type TestContext } from 'node:test'
import { Metadata, ServerCredentials } from '@grpc/grpc-js'
import { checkCompile } from '../../../compile/check.ts'
import { loadConfig } from '../../../sources/file.ts'
import { printProblem } from '../../../sources/print-problems.ts'
import { brokenGrpc, brokenHttp } from '../../../testing/services/broken-services.ts'
import { exchangeRaw, request, sendRaw } from '../../../testing/client.ts'
import type { TestGateway, TestGatewayOptions } from '../../../testing/gateway.ts'
import {
  type Collector,
  type SeenLog,
  useGrpcCollector,
  useHttpCollector,
} from '../../../testing/otlp/otlp-collector.ts'
import { eventually, metric, useConfigFile, useProgram } from '../../../testing/process.ts'
import { useTlsFiles } from '../../../testing/tls-files.ts'
import { closedPort, httpConfig, until, useGateway, useTcpServer } from '../../../testing/scene.ts'

const routes = [{ policies: { directResponse: { status: 200, body: 'x' } } }]
const http = { protocol: 'HTTP' } as const

function config(host: string, otlp: object = {}, more: object = {}): object {
  return httpConfig(routes, { frontend: { accessLog: { otlp: { backendRef: { host }, ...otlp }, ...more } } })
}

async function start(t: TestContext, collector: { host: string }, otlp = {}, options: TestGatewayOptions = {}) {
  return useGateway(t, config(collector.host, otlp), { logFormat: 'json', ...options })
}

/** The fields of a JSON line of the log, which says the same. */
function fieldsOf(line: string | undefined): object {
  const { level: _level, time: _time, scope: _scope, ...fields } = JSON.parse(line ?? '') as Record<string, unknown>
  return fields
}

async function ask(gateway: TestGateway, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await request(gateway.port(), { path: `/${i}` })
}

function count(gateway: TestGateway, name: string, labels: string): number {
  const line = gateway
    .metrics()
    .split('\n')
    .find((text) => text.startsWith(`portico_${name}{${labels}}`))
  return line === undefined ? 0 : Number(line.split(' ')[1])
}

const dropped = (gateway: TestGateway, reason: string) =>
  count(gateway, 'otlp_dropped_records_total', `signal="logs",reason="${reason}"`)
const exported = (gateway: TestGateway) => count(gateway, 'otlp_exported_records_total', 'signal="logs"')
const paths = (logs: SeenLog[]) => logs.map(({ attributes }) => attributes['http.path'])

test('a collector of gRPC gets what the lines of the log say', async (t) => {
  const collector = await useGrpcCollector(t)
  const gateway = await start(t, collector)
  const before = Date.now()
  await ask(gateway, 3)
  await collector.taken(3)
  assert.deepEqual(
    collector.logs.map(({ attributes }) => attributes),
    gateway.lines.map(fieldsOf),
  )
  const [log] = collector.logs
  assert.deepEqual([log?.severity, log?.severityText, log?.body, log?.traceId], [9, 'INFO', 'request', ''])
  assert.deepEqual(log?.scope.name, 'portico')
  assert.deepEqual(Object.keys(log?.resource ?? {}), ['service.name', 'service.version', 'service.instance.id'])
  const time = Number((log?.time ?? 0n) / 1_000_000n)
  assert.ok(time >= before && time <= Date.now())
  await until(() => exported(gateway) === 3)
})

test('so does one of HTTP, at its path', async (t) => {
  const collector = await useHttpCollector(t)
  for (const [otlp, url] of [
    [http, '/v1/logs'],
    [{ ...http, path: '/otlp/logs' }, '/otlp/logs'],
  ] as const) {
    const gateway = await start(t, collector, otlp)
    const known = collector.logs.length
    await ask(gateway, 2)
    await collector.taken(known + 2)
    assert.deepEqual(
      collector.logs.slice(known).map(({ attributes }) => attributes),
      gateway.lines.map(fieldsOf),
    )
    const asked = collector.asked.at(-1)
    assert.deepEqual(
      [asked?.['method'], asked?.['url'], asked?.['content-type'], asked?.['host']],
      ['POST', url, 'application/x-protobuf', collector.host],
    )
  }
})

test('filter and attributes hold for both logs', async (t) => {
  const collector = await useGrpcCollector(t)
  const more = {
    filter: 'request.path != "/0"',
    attributes: {
      remove: ['http.method', 'gateway'],
      add: [
        { name: 'teams', expression: '["a", "b"]' },
        { name: 'http.host', expression: 'jwt.sub' },
        { name: 'code', expression: 'response.code + 1' },
      ],
    },
  }
  const gateway = await useGateway(t, config(collector.host, {}, more), { logFormat: 'json' })
  await ask(gateway, 3)
  await collector.taken(2)
  assert.deepEqual(paths(collector.logs), ['/1', '/2'])
  assert.deepEqual(
    collector.logs.map(({ attributes }) => attributes),
    gateway.lines.map(fieldsOf),
  )
  const { attributes } = collector.logs[0]!
  assert.deepEqual([attributes['teams'], attributes['code']], [['a', 'b'], 201])
  assert.deepEqual(
    [attributes['http.host'], attributes['http.method'], attributes['gateway']],
    Array(3).fill(undefined),
  )
})

test('connections and messages that are no requests are sent too', async (t) => {
  const collector = await useGrpcCollector(t)
  const echo = await useTcpServer(t, (socket) => socket.end('bye'))
  const listeners = [{ protocol: 'TCP', name: 'db', routes: [{ backends: [{ host: echo.host }] }] }]
  const whole = config(collector.host) as { binds: object[] }
  const gateway = await useGateway(t, { ...whole, binds: [...whole.binds, { port: 0, listeners }] })
  await sendRaw(gateway.port(0), 'GET / HTTP/1.1\r\nhost : a\r\n\r\n')
  await exchangeRaw(gateway.port(1), 'x', () => false)
  await collector.taken(2)
  assert.deepEqual(
    collector.logs.map(({ attributes }) => [attributes['protocol'], attributes['http.status'], attributes['error']]),
    [
      ['http', 400, 'space_before_colon'],
      ['tcp', undefined, undefined],
    ],
  )
})

test('a record stands in the trace that the client says', async (t) => {
  const collector = await useGrpcCollector(t)
  const gateway = await start(t, collector)
  const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  await request(gateway.port(), { headers: { traceparent: `00-${traceId}-${spanId}-01` } })
  await request(gateway.port(), { headers: { traceparent: 'nonsense' } })
  await collector.taken(2)
  assert.deepEqual(
    collector.logs.map((log) => [log.traceId, log.spanId, log.flags]),
    [
      [traceId, spanId, 1],
      ['', '', 0],
    ],
  )
})

test('lines have the trace of the client too', async (t) => {
  const gateway = await useGateway(t, httpConfig(routes))
  const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  await request(gateway.port(), { headers: { traceparent: `00-${traceId}-${spanId}-01` } })
  await request(gateway.port(), { headers: { traceparent: 'nonsense' } })
  await gateway.finished(2)
  assert.ok(gateway.lines[0]?.includes(` trace_id=${traceId} span_id=${spanId} protocol=http `))
  assert.doesNotMatch(gateway.lines[1] ?? '', /trace_id|span_id/)
})

test('the policies of the backend hold for the calls', async (t) => {
  const grpc = await useGrpcCollector(t)
  const plain = await useHttpCollector(t)
  for (const { collector, otlp } of [
    { collector: grpc, otlp: {} },
    { collector: plain, otlp: http },
  ]) {
    const [host, port] = collector.host.split(':')
    const policies = {
      auth: { key: 'k-71', location: { header: { name: 'x-team-key' } } },
      transformation: { request: { set: [{ name: 'x-set', value: '"by " + request.method' }] } },
    }
    const backends = [{ name: 'otel', static: { host, port: Number(port) }, policies }]
    const accessLog = { otlp: { backendRef: { name: 'otel' }, ...otlp } }
    const gateway = await useGateway(t, httpConfig(routes, { frontend: { accessLog }, backends }))
    await ask(gateway, 1)
    await collector.taken(1)
    const [asked] = collector.asked
    assert.deepEqual([asked?.['x-team-key'], asked?.['x-set']], ['k-71', 'by POST'])
    assert.deepEqual(gateway.bugs, [])
  }
})

test('a collector behind TLS is reached by gRPC, and not without trust', async (t) => {
  const { dir, authority } = useTlsFiles(t, [])
  const { cert, key } = authority.issue({ names: ['otel.test'] })
  const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) }
  const collector = await useGrpcCollector(t, undefined, ServerCredentials.createSsl(null, [pair]))
  const [host, port] = collector.host.split(':')
  const ask = async (tls: object): Promise<TestGateway> => {
    const backends = [{ name: 'otel', static: { host, port: Number(port) }, policies: { tls } }]
    const accessLog = { otlp: { backendRef: { name: 'otel' } } }
    const options = { dir, exportLimits: { retryMs: 50, maxPauseMs: 20 } }
    const gateway = await useGateway(t, httpConfig(routes, { frontend: { accessLog }, backends }), options)
    await request(gateway.port(), { path: '/secure' })
    return gateway
  }
  const strange = await ask({ sni: 'otel.test' })
  await until(() => dropped(strange, 'unreachable') === 1)
  await ask({ sni: 'otel.test', caCertificateRefs: ['ca.crt'] })
  await collector.taken(1)
  assert.deepEqual(paths(collector.logs), ['/secure'])
})

test('variables of the environment say who sends', async (t) => {
  const collector = await useGrpcCollector(t)
  const env = { OTEL_SERVICE_NAME: 'edge', OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test' }
  const gateway = await start(t, collector, {}, { env })
  await ask(gateway, 1)
  await collector.taken(1)
  const { resource } = collector.logs[0]!
  assert.deepEqual([resource['service.name'], resource['deployment.environment.name']], ['edge', 'test'])
})

test('a collector that is busy gets the records later, each once', async (t) => {
  const grpc = await useGrpcCollector(t, (number) => (number < 3 ? { code: 14 } : null))
  const plain = await useHttpCollector(t, (number) =>
    number === 1 ? { status: 503 } : number === 2 ? { status: 429, headers: { 'retry-after': '0' } } : { status: 200 },
  )
  for (const [collector, otlp] of [
    [grpc, {}],
    [plain, http],
  ] as const) {
    const gateway = await start(t, collector, otlp)
    await ask(gateway, 4)
    await collector.taken(4)
    await until(() => exported(gateway) === 4)
    assert.deepEqual(paths(collector.logs), ['/0', '/1', '/2', '/3'])
    assert.ok(collector.asked.length >= 3)
  }
})

test('a collector without room gets the records again only where it says when', async (t) => {
  const metadata = new Metadata()
  const type = Buffer.from('type.googleapis.com/google.rpc.RetryInfo')
  // Status { code: 8, details: [RetryInfo { retry_delay: { nanos: 1000 } }] }
  const info = Buffer.from([0x0a, 3, 0x10, 0xe8, 0x07])
  const any = Buffer.concat([Buffer.from([0x0a, type.length]), type, Buffer.from([0x12, info.length]), info])
  metadata.set('grpc-status-details-bin', Buffer.concat([Buffer.from([0x08, 8, 0x1a, any.length]), any]))
  const telling = await useGrpcCollector(t, (number) => (number === 1 ? { code: 8, metadata } : null))
  const gateway = await start(t, telling)
  await ask(gateway, 1)
  await telling.taken(1)
  const silent = await useGrpcCollector(t, () => ({ code: 8 }))
  const other = await start(t, silent)
  await ask(other, 1)
  await until(() => dropped(other, 'refused') === 1)
  assert.equal(silent.asked.length, 1)
})

test('a batch that the collector refuses is not sent again', async (t) => {
  const cases: [Collector, object][] = [
    [await useGrpcCollector(t, () => ({ code: 3, details: 'bad' })), {}],
    [await useHttpCollector(t, () => ({ status: 400 })), http],
    // A collector that speaks the other protocol.
    [await useHttpCollector(t, () => ({ status: 404 })), http],
  ]
  for (const [collector, otlp] of cases) {
    const gateway = await start(t, collector, otlp)
    await ask(gateway, 2)
    await until(() => dropped(gateway, 'refused') === 2)
    assert.equal(gateway.lines.length, 2, 'the log itself has them')
    assert.deepEqual(collector.logs, [])
  }
})

test('records that a collector rejects are counted', async (t) => {
  // partial_success { rejected_log_records: 1, error_message: "no" }
  const partial = Buffer.from([0x0a, 6, 0x08, 1, 0x12, 2, 0x6e, 0x6f])
  const grpc = await useGrpcCollector(t, () => partial)
  const plain = await useHttpCollector(t, () => ({ status: 200, body: partial }))
  for (const [collector, otlp] of [
    [grpc, {}],
    [plain, http],
  ] as const) {
    const gateway = await start(t, collector, otlp)
    await ask(gateway, 1)
    await until(() => dropped(gateway, 'rejected') === 1)
    assert.equal(exported(gateway), 0)
  }
})

test('a collector that takes a batch and says too much gets it once', async (t) => {
  const tooMuch = await useHttpCollector(t, () => ({ status: 200, body: Buffer.alloc(2 * 1024 * 1024) }))
  const unannounced = await useHttpCollector(t, () => ({
    status: 200,
    headers: { 'transfer-encoding': 'chunked' },
    body: Buffer.alloc(2 * 1024 * 1024),
  }))
  for (const collector of [tooMuch, unannounced]) {
    const gateway = await start(t, collector, http)
    await ask(gateway, 1)
    await until(() => exported(gateway) === 1)
    await ask(gateway, 1)
    await until(() => exported(gateway) === 2)
    assert.deepEqual(paths(collector.logs), ['/0', '/0'])
    assert.equal(collector.asked.length, 2)
  }
})

test('a collector that is dead, silent or speaks something else harms no request', async (t) => {
  const sockets = new Set<Socket>()
  const silent = await useTcpServer(t, (socket) => sockets.add(socket))
  const hasty = await useTcpServer(t, (socket) => socket.destroy())
  const rude = await useTcpServer(t, (socket) => socket.end('SSH-2.0-x\r\n'))
  const dead = { host: `127.0.0.1:${await closedPort()}` }
  const limits = { queueItems: 5, batchItems: 2, retryMs: 50, maxPauseMs: 20 }
  for (const place of [silent, hasty, rude, dead]) {
    for (const otlp of [{}, http]) {
      const gateway = await start(t, place, otlp, { exportLimits: limits })
      await ask(gateway, 12)
      assert.equal(gateway.lines.length, 12)
      await until(() => dropped(gateway, 'queue_full') + dropped(gateway, 'unreachable') >= 5)
      assert.equal(exported(gateway), 0)
      assert.deepEqual(gateway.bugs, [])
    }
  }
  for (const socket of sockets) socket.destroy()
})

describe('a collector that is', { concurrency: 4 }, () => {
  for (const [otlp, faults] of [
    [{}, brokenGrpc],
    [http, brokenHttp],
  ] as const) {
    for (const { name, outcome, saysOk, start: startBroken } of faults) {
      if (saysOk === true) continue
      it(`${name}, by ${'protocol' in otlp ? 'HTTP' : 'gRPC'}: nothing counts as taken, and the log says why`, async (t) => {
        const timeout = outcome === 'timeout' ? '50ms' : '60s'
        const place = { host: await startBroken(t) }
        const gateway = await start(t, place, { ...otlp, timeout }, { exportLimits: { retryMs: 50, maxPauseMs: 20 } })
        await ask(gateway, 3)
        await until(() => dropped(gateway, 'unreachable') + dropped(gateway, 'refused') === 3)
        assert.deepEqual([exported(gateway), gateway.lines.length, gateway.bugs], [0, 3, []])
        assert.match(gateway.warnings.join(''), /telemetry is not exported .*cause=/)
      })
    }
  }
})

test('a collector that says yes and then breaks off has taken what it got', async (t) => {
  for (const { saysOk, outcome, start: startBroken } of brokenHttp) {
    if (saysOk !== true) continue
    const timeout = outcome === 'timeout' ? '50ms' : '60s'
    const gateway = await start(t, { host: await startBroken(t) }, { ...http, timeout })
    await ask(gateway, 3)
    await until(() => exported(gateway) === 3)
    assert.deepEqual([gateway.warnings, gateway.bugs], [[], []])
  }
})

test('gRPC to a server of HTTP, and HTTP to one of gRPC, is counted as dropped', async (t) => {
  const plain = await useHttpCollector(t)
  const grpc = await useGrpcCollector(t)
  const exportLimits = { retryMs: 50, maxPauseMs: 20 }
  for (const [place, otlp] of [
    [plain, {}],
    [grpc, http],
  ] as const) {
    const gateway = await start(t, place, otlp, { exportLimits })
    await ask(gateway, 1)
    await until(() => dropped(gateway, 'unreachable') + dropped(gateway, 'refused') === 1)
  }
  assert.deepEqual([...plain.logs, ...grpc.logs], [])
})

test('a stream that ends without an answer is tried again', async (t) => {
  let streams = 0
  const server = createHttp2Server()
  server.on('stream', (stream) => {
    streams++
    stream.on('error', () => {})
    stream.close(8)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const gateway = await start(
    t,
    { host: `127.0.0.1:${port}` },
    {},
    { exportLimits: { retryMs: 2_000, maxPauseMs: 20 } },
  )
  await ask(gateway, 1)
  await until(() => streams > 1)
  await until(() => dropped(gateway, 'unreachable') === 1)
  await gateway.close()
})

test('a reload that leaves the way to the collector as it is keeps what waits', async (t) => {
  const collector = await useGrpcCollector(t)
  // Nothing goes before there are two.
  const exportLimits = { delayMs: 3_600_000, batchItems: 2 }
  const gateway = await useGateway(t, config(collector.host), { exportLimits })
  await ask(gateway, 1)
  await gateway.reload(JSON.stringify(config(collector.host, {}, { filter: 'true' })))
  await ask(gateway, 1)
  await collector.taken(2)
  assert.equal(collector.asked.length, 1)
})

test('a reload leads records elsewhere, or ends them', async (t) => {
  const [one, two] = [await useGrpcCollector(t), await useHttpCollector(t)]
  const gateway = await useGateway(t, config(one.host), { exportLimits: { delayMs: 100 } })
  await ask(gateway, 2)
  // Lines that waited for the old collector are still sent to it.
  await gateway.reload(JSON.stringify(config(two.host, http)))
  await ask(gateway, 3)
  await Promise.all([one.taken(2), two.taken(3)])
  assert.deepEqual([one.logs.length, two.logs.length], [2, 3])
  await gateway.reload(JSON.stringify(httpConfig(routes)))
  await ask(gateway, 2)
  await until(() => gateway.exporters.size === 0)
  assert.deepEqual([one.logs.length, two.logs.length, gateway.lines.length], [2, 3, 7])
})

test('two workers send everything before they end, with the log itself off', async (t) => {
  const collector = await useGrpcCollector(t)
  const whole = { config: { workers: 2, logging: { level: 'info,request=off' } }, ...config(collector.host) }
  const env = { OTEL_SERVICE_NAME: 'edge' }
  const program = await useProgram(t, { args: ['-f', useConfigFile(t, whole).file], env })
  await Promise.all(Array.from({ length: 60 }, (_, i) => request(program.port(), { path: `/${i}` })))
  await eventually('a scrape counts', async () => (await metric(program, 'portico_otlp_exported_records_total')) === 60)
  await Promise.all(Array.from({ length: 40 }, (_, i) => request(program.port(), { path: `/later${i}` })))
  program.child.kill('SIGTERM')
  await program.ended
  assert.equal(new Set(paths(collector.logs)).size, 100)
  assert.equal(collector.logs.length, 100)
  assert.equal(collector.logs[0]?.resource['service.name'], 'edge')
  assert.doesNotMatch(program.stdout(), /http\.path/)
})

test('the lines of requests that shutdown cuts are sent too', async (t) => {
  const collector = await useGrpcCollector(t)
  const sockets = new Set<Socket>()
  const silent = await useTcpServer(t, (socket) => sockets.add(socket))
  t.after(() => sockets.forEach((socket) => socket.destroy()))
  const settings = { workers: 1, connectionTerminationDeadline: '200ms' }
  const { frontend } = config(collector.host) as { frontend: object }
  const whole = { config: settings, ...httpConfig([{ backends: [{ host: silent.host }] }], { frontend }) }
  const program = await useProgram(t, { args: ['-f', useConfigFile(t, whole).file] })
  const cut = sendRaw(program.port(), 'GET /never HTTP/1.1\r\nhost: a\r\n\r\n')
  await until(() => sockets.size === 1)
  program.child.kill('SIGTERM')
  await Promise.all([cut, program.ended])
  assert.match(program.stdout(), /http\.path=\/never/)
  assert.deepEqual(paths(collector.logs), ['/never'])
})

test('a collector that hangs does not keep the gateway from ending', async (t) => {
  const sockets = new Set<Socket>()
  const silent = await useTcpServer(t, (socket) => sockets.add(socket))
  t.after(() => sockets.forEach((socket) => socket.destroy()))
  const whole = { config: { workers: 1 }, ...config(silent.host) }
  const program = await useProgram(t, { args: ['-f', useConfigFile(t, whole).file] })
  await request(program.port(), { path: '/a' })
  program.child.kill('SIGTERM')
  const { code } = await program.ended
  assert.equal(code, 0)
  assert.match(program.stdout(), /telemetry is not exported .*cause="the gateway ends" dropped=1/)
})

test('mistakes are found at load', () => {
  const problems = (otlp: object, more: object = {}): string => {
    const text = JSON.stringify({ frontend: { accessLog: { otlp } }, binds: [], ...more })
    const loaded = loadConfig(text, { file: 'a.yaml', dir: '.', env: {} })
    return loaded.ok ? '' : loaded.problems.map(printProblem).join('\n')
  }
  const backendRef = { host: '127.0.0.1:4317' }
  assert.equal(problems({ backendRef }), '')
  assert.equal(problems({ backendRef, protocol: 'HTTP', path: '/x' }), '')
  assert.match(problems({}), /backendRef/)
  assert.match(problems({ backendRef: { name: 'otel' } }), /no backend named `otel`/)
  assert.match(problems({ backendRef: { host: 'x' } }), /host:port/)
  assert.match(problems({ backendRef, protocol: 'UDP' }), /GRPC/)
  assert.match(problems({ backendRef, protocol: 'HTTP', path: 'logs' }), /starts with/)
  const targets = [{ name: 'a', static: { host: '127.0.0.1', port: 1 } }]
  for (const kind of [{ dynamicForwardProxy: {} }, { ai: { provider: { mock: {} } } }, { mcp: { targets } }]) {
    const backends = [{ name: 'any', ...kind }]
    assert.match(problems({ backendRef: { name: 'any' } }, { backends }), /a fixed destination/)
  }
})

test('a path makes no sense for gRPC', () => {
  const text = JSON.stringify(config('127.0.0.1:4317', { path: '/x' }), null, 1)
  const loaded = loadConfig(text, { file: 'a.yaml', dir: '.', env: {} })
  assert.ok(loaded.ok)
  const [problem = ''] = checkCompile(loaded.ir).map(loaded.explain)
  assert.match(problem, /^a\.yaml:\d+:\d+.*\/?path/m)
  assert.match(problem, /found a path for gRPC/)
})
