import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { type Breakage, brokenGrpc, brokenHttp } from '../testing/services/broken-services.ts'
import { request } from '../testing/client.ts'
import type { TestGateway } from '../testing/gateway.ts'
import { type SeenSpan, useGrpcCollector } from '../testing/otlp/otlp-collector.ts'
import { httpConfig, pathPrefix, routeTo, until, useGateway, useOrigin } from '../testing/scene.ts'

/** A policy that calls a service, and its response when the call fails. */
interface Asking {
  name: string
  faults: readonly Breakage[]
  policy: (host: string, options: { failureMode: string; timeout: string }) => object
  kind: string
  span: string
  reason: string
  status: number
  body: RegExp
  warning: string
}

const heads = { requestBodyMode: 'None', responseBodyMode: 'None' }
const descriptors = [{ entries: [{ name: 'a', expression: '"b"' }] }]
const authorizer = {
  kind: 'ExtAuthz',
  span: 'extAuth',
  reason: 'ExtAuth',
  status: 403,
  body: /^external authorization failed$/,
  warning: 'ext_authz call failed',
}
const processor = {
  faults: brokenGrpc,
  kind: 'ExtProc',
  span: 'extProc',
  reason: 'ExtProc',
  status: 500,
  body: /^ext_proc failed: [a-z ]+$/,
  warning: 'external processor failed',
}

const policies: Asking[] = [
  {
    ...authorizer,
    name: 'an authorizer by gRPC',
    faults: brokenGrpc,
    policy: (host, options) => ({ extAuth: { backendRef: { host }, ...options } }),
  },
  {
    ...authorizer,
    name: 'an authorizer by HTTP',
    faults: brokenHttp,
    policy: (host, options) => ({ extAuth: { backendRef: { host }, http: {}, ...options } }),
  },
  {
    ...processor,
    name: 'a processor of heads',
    policy: (host, { failureMode, timeout: messageTimeout }) => ({
      extProc: { backendRef: { host }, processingOptions: heads, failureMode, messageTimeout },
    }),
  },
  {
    ...processor,
    name: 'a processor of streams',
    policy: (host, { failureMode, timeout: messageTimeout }) => ({
      extProc: { backendRef: { host }, failureMode, messageTimeout },
    }),
  },
  {
    name: 'a rate limit service',
    faults: brokenGrpc,
    policy: (host, options) => ({
      rateLimit: { global: { backendRef: { host }, domain: 'd', descriptors, ...options } },
    }),
    kind: 'RateLimit',
    span: 'rateLimit',
    reason: 'RateLimit',
    status: 500,
    body: /^rate limit failed$/,
    warning: 'rate limit service unavailable',
  },
]

for (const asking of policies) {
  describe(`${asking.name} that is`, { concurrency: 4 }, () => {
    for (const fault of asking.faults) {
      for (const failureMode of ['FailClosed', 'FailOpen']) {
        it(`${fault.name}, ${failureMode}: client, log, metrics, spans and trace tell the same`, async (t) => {
          await tellsTheSame(t, asking, fault, failureMode)
        })
      }
    }
  })
}

async function tellsTheSame(t: TestContext, asking: Asking, fault: Breakage, failureMode: string): Promise<void> {
  const isOpen = failureMode === 'FailOpen'
  const origin = await useOrigin(t)
  const collector = await useGrpcCollector(t)
  const timeout = fault.outcome === 'timeout' ? '150ms' : '60s'
  const policy = asking.policy(await fault.start(t), { failureMode, timeout })
  const tracing = { backendRef: { host: collector.host }, randomSampling: true }
  const routes = [routeTo(origin, policy, pathPrefix('/asked')), routeTo(origin)]
  const gateway = await useGateway(t, httpConfig(routes, { frontend: { tracing } }))
  const watched = gateway.trace()
  const waiting = request(gateway.port(), { path: '/asked' })
  // Meanwhile others are served.
  assert.equal((await request(gateway.port(), { path: '/other' })).status, 200)
  const { status, body } = await waiting
  assert.equal(status, isOpen ? 200 : asking.status, body)
  if (!isOpen) assert.match(body, asking.body)
  await gateway.finished(2)
  const record = gateway.records.find(({ target }) => target === '/asked') ?? assert.fail('no line')
  assert.equal(record.reason, isOpen ? 'Upstream' : asking.reason)
  assert.equal(record.error === null, isOpen)

  const [warning = '', ...more] = gateway.warnings
  assert.ok(warning.includes(asking.warning) && warning.includes(failureMode), warning)
  assert.deepEqual([more, gateway.bugs], [[], []])
  assert.deepEqual(outcomes(gateway, asking.kind), { [fault.outcome]: 1 })
  const told = JSON.stringify((await watched).map(({ message }) => message))
  assert.match(told, isOpen ? /"failureMode":"FailOpen"/ : /"failureMode":"FailClosed"/)
  if (fault.outcome === 'timeout') assert.match(told, /in time/)

  const call = (): SeenSpan | undefined => collector.spans.find(({ name }) => name === asking.span)
  await until(() => call() !== undefined && collector.spans.some((span) => isOwn(span)))
  assert.deepEqual([call()?.status?.code, call()?.attributes['portico.call']], [2, asking.span])
  assert.notEqual(call()?.attributes['error.type'], undefined)
  const own = collector.spans.find((span) => isOwn(span))
  assert.deepEqual([own?.attributes['http.status'], own?.spanId], [status, call()?.parentId])
}

const isOwn = ({ kind, attributes }: SeenSpan): boolean => kind === 2 && attributes['http.path'] === '/asked'

/** Calls of policies of that kind, by what became of them. */
function outcomes(gateway: TestGateway, kind: string): Record<string, number> {
  const lines = gateway.metrics().matchAll(/callout_duration_seconds_count\{kind="(\w+)",outcome="(\w+)"\} (\d+)/g)
  return Object.fromEntries(
    [...lines].flatMap(([, of, outcome = '', count]) =>
      of === kind && count !== '0' ? [[outcome, Number(count)]] : [],
    ),
  )
}
