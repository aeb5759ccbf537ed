import type { Explanation, GatewayState, ListedRequest, RecordedLlm, RequestRecord } from '@portico/gateway/admin-api'
import type {
  BackendsView,
  RoutesView,
  ViewedBackend,
  ViewedEndpoint,
  ViewedPart,
  ViewedRoute,
} from '@portico/gateway/admin-config'

/** Noon of a day, in the clock of the machine: pages show local times. */
export const NOON = new Date(2026, 10, 17, 12, 0, 0).getTime()

/** A GET that passed. */
export function sampleRequest(fields: Partial<ListedRequest> = {}): ListedRequest {
  return {
    ...{ id: 'r1', requestId: null, at: NOON, took: 2400, answeredAfter: 2000, protocol: 'http' },
    ...{ method: 'GET', host: 'shop.example.com', path: '/orders?page=2', version: 'HTTP/1.1' },
    ...{ status: 200, outcome: 'passed', isSlow: false, reason: null, error: null, source: '127.0.0.1:40000' },
    ...{ bind: 'bind/1', listener: 'web', route: 'orders', backend: 'shop', endpoint: '127.0.0.1:9000', attempts: 1 },
    ...{ bytesIn: 0, bytesOut: 20_480, generation: 7, worker: '1', key: null, llm: null, mcp: null },
    ...fields,
  }
}

export function sampleRecord(fields: Partial<RequestRecord> = {}): RequestRecord {
  return {
    ...sampleRequest(),
    keys: { listener: 'bind/1/web', route: 'bind/1/web/orders', backend: 'shop' },
    ...{ scheme: 'http', sni: null, identity: null, isSampled: false, steps: null, calls: null, requestHeaders: null },
    ...{ afterPolicies: null, responseHeaders: null, requestBody: null, responseBody: null, variables: null },
    ...fields,
  }
}

/** A request that a rule of `authorization` denied. */
export function deniedRecord(fields: Partial<RequestRecord> = {}): RequestRecord {
  const values = { rule: 2 }
  return sampleRecord({
    ...{ id: 'r2', status: 403, outcome: 'denied', path: '/admin', backend: null, endpoint: null, attempts: 0 },
    answeredAfter: null,
    reason: { kind: 'Authorization', policy: 'authorization', phase: 'route', code: 'denied', values },
    steps: [
      { step: 'jwtAuthentication', phase: 'route', outcome: 'passed', status: null, reason: null, values: {}, at: 100 },
      {
        step: 'authorization',
        phase: 'route',
        outcome: 'stopped',
        status: 403,
        reason: 'Authorization',
        values,
        at: 300,
      },
      { step: 'rateLimit', phase: 'route', outcome: 'notReached', status: null, reason: null, values: {}, at: null },
    ],
    ...fields,
  })
}

export function sampleExplanation(fields: Partial<Explanation> = {}): Explanation {
  return {
    ...{ id: 'r2', status: 403, outcome: 'denied', code: 'denied', headline: 'no rule allows the request' },
    decidedBy: {
      ...{ policy: 'authorization', phase: 'route', origin: 'inline in route admin' },
      place: { file: 'gateway.yaml', line: 41, column: 9 },
    },
    config: { generation: 7, live: 7, isExact: true },
    ...{ values: [], rules: [], candidates: [], spending: null, calls: [], wouldPass: [], steps: [], remarks: [] },
    ...fields,
  }
}

export function sampleLlm(fields: Partial<RecordedLlm> = {}): RecordedLlm {
  return {
    ...{ operation: 'chat', provider: 'openai', providerName: 'main', requestModel: 'gpt-6', responseModel: 'gpt-6' },
    ...{ finishReason: 'stop', streaming: true, inputTokens: 1200, outputTokens: 34, cacheReadTokens: null },
    ...{ cacheWriteTokens: null, reasoningTokens: null, isEstimated: false, timeToFirstToken: 120, attempts: [] },
    ...fields,
  }
}

export function sampleState(fields: Partial<GatewayState> = {}): GatewayState {
  return {
    ...{ version: '0.1.0', generation: 7, since: NOON, startedAt: NOON, source: 'gateway.yaml', problems: [] },
    ...{
      workers: 3,
      restarts: 0,
      isDraining: false,
      keyStore: null,
      ledgerStore: { problem: null },
      requestsPerSecond: 1200,
    },
    access: { token: null, scope: 'Write' },
    recorder: { isEnabled: true, records: 3, bytes: 900, maxBytes: 1_000_000, oldest: NOON, diskBytes: null },
    ...fields,
  }
}

export function sampleEndpoint(fields: Partial<ViewedEndpoint> = {}): ViewedEndpoint {
  return {
    ...{ name: '127.0.0.1:9000', state: 'healthy', isJudged: true, evictedUntil: null, evictions: 0, failures: 0 },
    ...{ health: 1, latency: 12, pending: 0, lastFailure: null },
    ...fields,
  }
}

export function samplePart(fields: Partial<ViewedPart> = {}): ViewedPart {
  return { name: 'main', kind: 'openai', at: 'api.openai.com', health: null, endpoints: [], lastError: null, ...fields }
}

export function sampleBackend(fields: Partial<ViewedBackend> = {}): ViewedBackend {
  return {
    ...{
      key: 'shop',
      name: 'shop',
      kind: 'static',
      at: '127.0.0.1:9000',
      groups: [],
      activeGroup: null,
      endpoints: [],
    },
    ...fields,
  }
}

export function sampleRoute(name: string, fields: Partial<ViewedRoute> = {}): ViewedRoute {
  return {
    ...{ key: `bind/1/web/${name}`, name, rule: '', hostnames: [], policies: [] },
    matches: [{ path: { kind: 'pathPrefix', value: `/${name}` }, method: null, headers: [], query: [] }],
    backends: [{ backend: 'shop', name: 'shop', weight: 1, policies: [] }],
    ...fields,
  }
}

/** One listener, on port 8080. */
export function sampleRoutes(routes: readonly ViewedRoute[]): RoutesView {
  const listener = { key: 'bind/1/web', name: 'web', protocol: 'HTTP', hostname: '', policies: [], routes }
  return { generation: 7, frontend: [], binds: [{ key: 'bind/1', port: 8080, address: '', listeners: [listener] }] }
}

export function sampleBackends(backends: readonly ViewedBackend[]): BackendsView {
  return { generation: 7, unheard: 0, backends }
}
