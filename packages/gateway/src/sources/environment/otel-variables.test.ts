import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OtelVariables, type Signal } from './otel-variables.ts'
import { printProblem } from '../print-problems.ts'

const ALL = 'OTEL_EXPORTER_OTLP_'
const LOGS = 'OTEL_EXPORTER_OTLP_LOGS_'

function read(env: Record<string, string>, signal: Signal = 'logs') {
  const variables = new OtelVariables(env)
  return { collector: variables.collector(signal), problems: variables.problems.map(printProblem) }
}

/** `protocol host:port path`. */
function placeOf(env: Record<string, string>, signal: Signal = 'logs'): string | null {
  const { collector, problems } = read(env, signal)
  assert.deepEqual(problems, [])
  if (collector === null) return null
  const { url, protocol, path } = collector
  return `${protocol} ${url.secure ? 'https' : 'http'}://${url.host}:${url.port}${protocol === 'HTTP' ? path : ''}`
}

test('without an endpoint there is no collector', () => {
  assert.equal(placeOf({}), null)
  assert.equal(placeOf({ [`${ALL}ENDPOINT`]: ' ', [`${ALL}PROTOCOL`]: 'grpc' }), null)
  assert.equal(placeOf({ [`${LOGS}ENDPOINT`]: 'http://a' }, 'metrics'), null)
})

test('below the endpoint of all each signal has its place; one of its own is taken as it is', () => {
  assert.equal(placeOf({ [`${ALL}ENDPOINT`]: 'http://a:4318' }), 'HTTP http://a:4318/v1/logs')
  assert.equal(placeOf({ [`${ALL}ENDPOINT`]: 'https://a/otlp/' }, 'metrics'), 'HTTP https://a:443/otlp/v1/metrics')
  assert.equal(placeOf({ [`${LOGS}ENDPOINT`]: 'http://b' }), 'HTTP http://b:80/')
  const both = { [`${ALL}ENDPOINT`]: 'http://a', [`${LOGS}ENDPOINT`]: 'http://b/in?x=1' }
  assert.equal(placeOf(both), 'HTTP http://b:80/in?x=1')
  assert.equal(placeOf(both, 'traces'), 'HTTP http://a:80/v1/traces')
})

test('the protocol is said, or told by the port', () => {
  assert.equal(placeOf({ [`${ALL}ENDPOINT`]: 'http://[::1]:4317' }), 'GRPC http://::1:4317')
  const said = { [`${ALL}ENDPOINT`]: 'http://a:4317', [`${ALL}PROTOCOL`]: 'http/protobuf' }
  assert.equal(placeOf(said), 'HTTP http://a:4317/v1/logs')
  assert.equal(placeOf({ ...said, [`${LOGS}PROTOCOL`]: 'grpc' }), 'GRPC http://a:4317')
})

test('a signal can be turned off', () => {
  const env = { [`${ALL}ENDPOINT`]: 'http://a' }
  assert.equal(placeOf({ ...env, OTEL_LOGS_EXPORTER: 'none' }), null)
  assert.equal(placeOf({ ...env, OTEL_METRICS_EXPORTER: 'prometheus' }, 'metrics'), null)
  assert.equal(placeOf({ ...env, OTEL_METRICS_EXPORTER: 'prometheus, otlp' }, 'metrics'), 'HTTP http://a:80/v1/metrics')
})

test('headers, time limit and interval', () => {
  const env = { [`${ALL}ENDPOINT`]: 'http://a', [`${ALL}HEADERS`]: 'Api-Key=a%20b,x-team=c', [`${ALL}TIMEOUT`]: '2500' }
  assert.deepEqual(read(env).collector?.headers, [
    { name: 'api-key', value: 'a b' },
    { name: 'x-team', value: 'c' },
  ])
  assert.equal(read(env).collector?.timeoutMs, 2500)
  assert.deepEqual(read({ ...env, [`${LOGS}HEADERS`]: 'only=this' }).collector?.headers, [
    { name: 'only', value: 'this' },
  ])
  const often = { ...env, OTEL_METRIC_EXPORT_INTERVAL: '5000' }
  assert.deepEqual([read(often).collector?.intervalMs, read(often, 'metrics').collector?.intervalMs], [undefined, 5000])
})

test('samplers say which requests have spans', () => {
  const found = (sampler: string, share = '') =>
    read({ [`${ALL}ENDPOINT`]: 'http://a', OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share }, 'traces')
  const by = (sampler: string, share?: string) => found(sampler, share).collector?.sampling
  const mistakes = (sampler: string, share?: string) => found(sampler, share).problems.join()
  assert.deepEqual([by('', '0.5'), mistakes('', 'unused')], [undefined, ''])
  assert.deepEqual(by('always_on'), { randomSampling: 'true', clientSampling: 'true' })
  assert.deepEqual(by('always_off', 'unused'), { randomSampling: 'false', clientSampling: 'false' })
  assert.deepEqual(by('traceidratio', '0.25'), { randomSampling: '0.25', clientSampling: '0.25' })
  assert.deepEqual(by('parentbased_always_on'), { randomSampling: 'true', clientSampling: 'true' })
  assert.deepEqual(by('parentbased_always_off'), { randomSampling: 'false', clientSampling: 'true' })
  assert.deepEqual(by('parentbased_traceidratio', '0'), { randomSampling: '0', clientSampling: 'true' })
  assert.deepEqual(by('parentbased_traceidratio'), { randomSampling: '1', clientSampling: 'true' })
  assert.match(mistakes('jaeger_remote'), /OTEL_TRACES_SAMPLER: .*one of always_on, .*parentbased_traceidratio/)
  for (const share of ['1.5', '-1', 'request.path', '1e-3', '.5']) {
    assert.match(mistakes('traceidratio', share), /OTEL_TRACES_SAMPLER_ARG: .*a share from 0 to 1/)
  }
  const env = { [`${ALL}ENDPOINT`]: 'http://a', OTEL_TRACES_SAMPLER: 'none at all' }
  assert.deepEqual(read(env, 'logs').problems, [], 'it is about spans alone')
})

test('a mistake is told of with the name of its variable, and without its value', () => {
  const endpoint = { [`${ALL}ENDPOINT`]: 'http://a' }
  const wrong: [Record<string, string>, RegExp][] = [
    [{ [`${ALL}ENDPOINT`]: 's3cret:4317' }, /^environment variable OTEL_EXPORTER_OTLP_ENDPOINT: .*a URL/],
    [{ [`${LOGS}ENDPOINT`]: 'ftp://s3cret' }, /OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: /],
    [{ [`${ALL}ENDPOINT`]: 'http://s3cret:pw@a' }, /OTEL_EXPORTER_OTLP_ENDPOINT: /],
    [{ ...endpoint, [`${ALL}PROTOCOL`]: 'http/json' }, /OTLP_PROTOCOL: .*`grpc` or `http\/protobuf`/],
    [{ ...endpoint, [`${ALL}HEADERS`]: 'x-key s3cret' }, /OTLP_HEADERS: .*name=value/],
    [{ ...endpoint, [`${ALL}HEADERS`]: 'x key=s3cret' }, /OTLP_HEADERS: .*an invalid or reserved header name/],
    [
      { ...endpoint, [`${LOGS}HEADERS`]: 'content-length=s3cret' },
      /OTLP_LOGS_HEADERS: .*an invalid or reserved header name/,
    ],
    [{ ...endpoint, [`${ALL}HEADERS`]: 'x-key=s3cret%0a' }, /OTLP_HEADERS: .*a value of x-key/],
    [{ ...endpoint, [`${ALL}TIMEOUT`]: '10s' }, /OTLP_TIMEOUT: .*milliseconds, 1 to 600000/],
    [{ ...endpoint, [`${ALL}TIMEOUT`]: '0' }, /OTLP_TIMEOUT: /],
  ]
  for (const [env, expected] of wrong) {
    const { collector, problems } = read(env)
    assert.equal(collector, null)
    assert.equal(problems.length, 1, JSON.stringify(env))
    assert.match(problems[0] ?? '', expected)
    assert.doesNotMatch(problems[0] ?? '', /s3cret/)
  }
  for (const [name, text] of [
    ['OTEL_SDK_DISABLED', 'yes'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a'],
  ] as const) {
    const variables = new OtelVariables({ [name]: text })
    variables.isDisabled()
    variables.checkResource()
    assert.equal(variables.problems.length, 1)
    assert.match(variables.problems.map(printProblem).join(), new RegExp(`^environment variable ${name}: `))
  }
  const tooOften = { ...endpoint, OTEL_METRIC_EXPORT_INTERVAL: '10' }
  assert.match(
    read(tooOften, 'metrics').problems.join(),
    /OTEL_METRIC_EXPORT_INTERVAL: .*milliseconds, 1000 to 3600000/,
  )
})
