import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../../sources/file.ts'
import { printProblem } from '../../../sources/print-problems.ts'
import { request } from '../../../testing/client.ts'
import { useGrpcCollector, useHttpCollector } from '../../../testing/otlp/otlp-collector.ts'
import { runProgram, useConfigFile, useProgram } from '../../../testing/process.ts'
import { httpConfig, until, useGateway } from '../../../testing/scene.ts'

const routes = [{ policies: { directResponse: { status: 200, body: 'x' } } }]
const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT'

test('a collector that only a variable names gets the log by HTTP, with its headers', async (t) => {
  const collector = await useHttpCollector(t)
  const env = {
    [ENDPOINT]: `http://${collector.host}/otlp`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-team=a%20b,Authorization=Basic%20eA==',
  }
  const gateway = await useGateway(t, httpConfig(routes), { env })
  await request(gateway.port(), { path: '/a' })
  await collector.taken(1)
  const [asked] = collector.asked
  assert.deepEqual(
    [asked?.['url'], asked?.['x-team'], asked?.['authorization'], asked?.['content-type']],
    ['/otlp/v1/logs', 'a b', 'Basic eA==', 'application/x-protobuf'],
  )
  assert.equal(collector.logs[0]?.attributes['http.path'], '/a')
})

test('and by gRPC; filters of the config hold', async (t) => {
  const collector = await useGrpcCollector(t)
  const env = {
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `http://${collector.host}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-team=a',
  }
  const frontend = { accessLog: { filter: 'request.path != "/0"' } }
  const gateway = await useGateway(t, httpConfig(routes, { frontend }), { env })
  for (const path of ['/0', '/1']) await request(gateway.port(), { path })
  await collector.taken(1)
  assert.equal(collector.logs[0]?.attributes['http.path'], '/1')
  assert.equal(collector.asked[0]?.['x-team'], 'a')
})

test('a collector of the config wins, with headers and a time limit of its own', async (t) => {
  const [named, other] = [await useGrpcCollector(t), await useHttpCollector(t)]
  const headers = [{ name: 'x-key', value: 'from the file' }]
  const otlp = { backendRef: { host: named.host }, headers, timeout: '30s' }
  const env = { [ENDPOINT]: `http://${other.host}`, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=from-the-environment' }
  const gateway = await useGateway(t, httpConfig(routes, { frontend: { accessLog: { otlp } } }), { env })
  await request(gateway.port(), {})
  await named.taken(1)
  assert.equal(named.asked[0]?.['x-key'], 'from the file')
  assert.deepEqual(other.asked, [])
})

test('a collector that takes too long for the time limit is asked again', async (t) => {
  const silent = Promise.withResolvers<null>()
  const collector = await useGrpcCollector(t, (number) => (number === 1 ? silent.promise : null))
  const otlp = { backendRef: { host: collector.host }, timeout: '50ms' }
  const gateway = await useGateway(t, httpConfig(routes, { frontend: { accessLog: { otlp } } }))
  await request(gateway.port(), {})
  await until(() => collector.asked.length > 1)
  silent.resolve(null)
})

test('a reload takes headers over for what waits', async (t) => {
  const reloaded = Promise.withResolvers<void>()
  const collector = await useHttpCollector(t, async (number) => {
    if (number === 1) await reloaded.promise
    return { status: number === 1 ? 503 : 200 }
  })
  const config = (value: string) => {
    const otlp = { backendRef: { host: collector.host }, protocol: 'HTTP', headers: [{ name: 'x-key', value }] }
    return httpConfig(routes, { frontend: { accessLog: { otlp } } })
  }
  const gateway = await useGateway(t, config('old'))
  await request(gateway.port(), {})
  await until(() => collector.asked.length === 1)
  await gateway.reload(JSON.stringify(config('new')))
  reloaded.resolve()
  await collector.taken(1)
  assert.deepEqual(
    collector.asked.map((asked) => asked['x-key']),
    ['old', 'new'],
  )
})

test('nothing is sent where the SDK is disabled', async (t) => {
  const collector = await useGrpcCollector(t)
  const accessLog = { filter: 'true', otlp: { backendRef: { host: collector.host } } }
  const env = { OTEL_SDK_DISABLED: 'TRUE', [ENDPOINT]: `http://${collector.host}` }
  const gateway = await useGateway(t, httpConfig(routes, { frontend: { accessLog } }), { env })
  await request(gateway.port(), {})
  await gateway.finished(1)
  assert.deepEqual([gateway.exporters.size, gateway.lines.length], [0, 1])
})

test('mistakes in variables that count are found at load', () => {
  const otlp = { backendRef: { host: '127.0.0.1:4317' } }
  const problems = (env: Record<string, string>, accessLog: object = {}): string => {
    const loaded = loadConfig(JSON.stringify({ frontend: { accessLog }, binds: [] }), { file: 'a', dir: '.', env })
    return loaded.ok ? '' : loaded.problems.map(printProblem).join('\n')
  }
  assert.match(problems({ [ENDPOINT]: 'collector' }), /^environment variable OTEL_EXPORTER_OTLP_ENDPOINT: /)
  assert.match(
    problems({ OTEL_RESOURCE_ATTRIBUTES: 'a' }, { otlp }),
    /^environment variable OTEL_RESOURCE_ATTRIBUTES: /,
  )
  // Nobody reads it.
  assert.equal(problems({ OTEL_RESOURCE_ATTRIBUTES: 'a' }), '')
  assert.equal(problems({ OTEL_SDK_DISABLED: 'true', [ENDPOINT]: 'collector' }), '')
  const wrong = { headers: [{ name: 'host', value: 's3cret' }] }
  assert.match(problems({}, { otlp: { ...otlp, ...wrong } }), /headers\[0\]\.name/)
  const secret = problems({}, { otlp: { ...otlp, headers: [{ name: 'x-key', value: 's3cret\n' }] } })
  assert.match(secret, /headers\[0\]\.value/)
  assert.doesNotMatch(secret, /s3cret/)
})

test('a program with a mistake in a variable does not start, and one without shows no credentials', async (t) => {
  const { file } = useConfigFile(t, httpConfig(routes))
  const headers = 'x-vendor=s3cret'
  const broken = { [ENDPOINT]: 'nowhere', OTEL_EXPORTER_OTLP_HEADERS: headers }
  const refused = await runProgram({ args: ['-f', file], env: broken })
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /environment variable OTEL_EXPORTER_OTLP_ENDPOINT: /)
  const env = { [ENDPOINT]: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_HEADERS: headers, LOG_LEVEL: 'trace' }
  const program = await useProgram(t, { args: ['-f', file], env })
  await request(program.port(), {})
  const dump = await (await fetch(`${program.admin}/config_dump`)).text()
  assert.match(dump, /"x-vendor"/)
  await program.logged(/telemetry is not exported/)
  for (const text of [dump, program.stdout(), program.stderr(), refused.stderr]) assert.doesNotMatch(text, /s3cret/)
})
