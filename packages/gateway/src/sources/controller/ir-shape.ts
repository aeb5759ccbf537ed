import type {
  AiProvider,
  AttachedPolicy,
  Backend,
  BackendTarget,
  Bind,
  Certificate,
  ClientCertificates,
  Listener,
  ListenerTls,
  McpReached,
  McpTarget,
  Route,
  RouteBackend,
  RouteMatch,
  ValueMatch,
} from '../../ir/resources.ts'
import type { AiModel } from '../../backends/ai/models/schema.ts'
import { llmProvider } from '../../llm/providers/schema.ts'
import { backendPolicies, frontendPolicies, trafficPolicies } from '../../policies/index.ts'
import type { Policy } from '../../schema/define-policy.ts'
import type { PickerTarget } from '../../schema/fields/inference-pool.ts'
import type { Schema } from '../../schema/kit.ts'
import { frontendShadowBlock, shadowBlock } from '../policies/schema.ts'
import { type Shape, type ShapeOf, words } from './shape.ts'

/** The shape of configs in this version. A name that is added to a type does not compile until it is here. */

const CERTIFICATE: ShapeOf<Certificate> = { cert: null, key: null }
export const BIND: ShapeOf<Bind> = {
  key: null,
  port: null,
  address: null,
  transport: words<NonNullable<Bind['transport']>>({ udp: true }),
}
const LISTENER_TLS: ShapeOf<ListenerTls> = {
  ...CERTIFICATE,
  root: null,
  others: [CERTIFICATE],
  clientCertificates: words<ClientCertificates>({ Require: true, Request: true }),
  clientsMayLack: null,
}
export const LISTENER: ShapeOf<Listener> = {
  key: null,
  bind: null,
  name: null,
  hostname: null,
  protocol: words<Listener['protocol']>({ HTTP: true, HTTPS: true, TLS: true, TCP: true, UDP: true, HBONE: true }),
  tls: LISTENER_TLS,
  set: null,
}
const VALUE_MATCH: ShapeOf<ValueMatch> = {
  name: null,
  kind: words<ValueMatch['kind']>({ exact: true, regex: true }),
  value: null,
}
const PATH: ShapeOf<RouteMatch['path']> = {
  kind: words<RouteMatch['path']['kind']>({ exact: true, pathPrefix: true, regex: true }),
  value: null,
}
const MATCH: ShapeOf<RouteMatch> = { path: PATH, method: null, headers: [VALUE_MATCH], query: [VALUE_MATCH] }
const ROUTE_BACKEND: ShapeOf<RouteBackend> = { key: null, backend: null, weight: null }
export const ROUTE: ShapeOf<Route> = {
  key: null,
  listener: null,
  name: null,
  rule: null,
  labels: null,
  hostnames: null,
  matches: [MATCH],
  backends: [ROUTE_BACKEND],
  delegates: null,
  within: null,
}
export const BACKEND: ShapeOf<Backend> = { key: null, name: null, target: null }
const AI_PROVIDER: ShapeOf<AiProvider> = { key: null, name: null, config: llmProvider, pool: null }
const AI_MODEL: ShapeOf<AiModel> = {
  name: null,
  visibility: words<AiModel['visibility']>({ Public: true, Internal: true }),
  allow: null,
  price: { input: null, output: null },
  targets: [{ model: null, when: null, weight: null }],
  by: words<NonNullable<AiModel['by']>>({ Order: true, Weight: true, Price: true, Speed: true, Hash: true }),
  hash: null,
  fallback: { contextLength: null, contentFilter: null, rateLimit: null, overload: null, timeout: null },
}
const TOOLS: ShapeOf<NonNullable<McpTarget['tools']>> = {
  include: null,
  exclude: null,
  rename: null,
  description: null,
}
const TIMEOUTS: ShapeOf<McpTarget['timeouts']> = { start: null, initialize: null, list: null }
const MCP_TARGET: ShapeOf<McpTarget> = { key: null, name: null, reached: null, tools: TOOLS, timeouts: TIMEOUTS }

type Target<Kind extends BackendTarget['kind']> = Extract<BackendTarget, { kind: Kind }>

export const TARGETS: { readonly [Kind in BackendTarget['kind']]: ShapeOf<Target<Kind>> } = {
  static: { kind: null, host: null, port: null },
  unix: { kind: null, path: null },
  service: {
    kind: null,
    host: null,
    port: null,
    version: words<NonNullable<Target<'service'>['version']>>({ HTTP1: true, HTTP2: true }),
    affinity: words<NonNullable<Target<'service'>['affinity']>>({ ClientIP: true }),
  },
  invalid: { kind: null, reason: null },
  dynamicForwardProxy: { kind: null, allowCidrs: null, ports: null },
  inferencePool: {
    kind: null,
    endpoints: [{ host: null, port: null }],
    picker: {
      backend: null,
      failureMode: words<PickerTarget['failureMode']>({ FailClosed: true, FailOpen: true }),
      timeoutMs: null,
    },
    version: words<NonNullable<Target<'inferencePool'>['version']>>({ HTTP1: true, HTTP2: true }),
  },
  ai: { kind: null, groups: [[AI_PROVIDER]], models: [AI_MODEL] },
  agentCore: { kind: null, arn: null, region: null, host: null, qualifier: null },
  mcp: {
    kind: null,
    targets: [MCP_TARGET],
    sessionRouting: words<Target<'mcp'>['sessionRouting']>({ Stateful: true, Stateless: true }),
    failureMode: words<Target<'mcp'>['failureMode']>({ FailClosed: true, FailOpen: true }),
    prefixMode: words<Target<'mcp'>['prefixMode']>({ Conditional: true, Always: true, Never: true }),
    sessionIdleTimeout: null,
    maxMessageSize: null,
    sessionLifetime: null,
    allowedHosts: null,
    allowedOrigins: null,
  },
}
export const REACHED: { readonly [By in McpReached['by']]: Readonly<Record<string, Shape>> } = {
  http: {
    by: null,
    host: null,
    port: null,
    path: null,
    protocol: words<Extract<McpReached, { by: 'http' }>['protocol']>({ StreamableHTTP: true, SSE: true }),
    service: null,
  } satisfies ShapeOf<Extract<McpReached, { by: 'http' }>>,
  stdio: {
    by: null,
    cmd: null,
    args: null,
    env: null,
    clearEnv: null,
    cwd: null,
    processes: null,
    maxProcesses: null,
  } satisfies ShapeOf<Extract<McpReached, { by: 'stdio' }>>,
  openapi: { by: null, host: null, port: null, tools: null } satisfies ShapeOf<Extract<McpReached, { by: 'openapi' }>>,
}
const schemasOf = (policies: readonly Policy[]): Readonly<Record<string, Schema>> =>
  Object.fromEntries(policies.map(({ name, schema }) => [name, schema]))
export const POLICY: ShapeOf<AttachedPolicy> = {
  key: null,
  target: {
    key: null,
    kind: words<AttachedPolicy['target']['kind']>({
      gateway: true,
      bind: true,
      listenerSet: true,
      listener: true,
      route: true,
      rule: true,
      backend: true,
    }),
  },
  frontend: { ...schemasOf(frontendPolicies), shadow: frontendShadowBlock() },
  traffic: { ...schemasOf(trafficPolicies), shadow: shadowBlock('listener') },
  phase: words<AttachedPolicy['phase']>({ PreRouting: true, PostRouting: true }),
  backend: schemasOf(backendPolicies),
  origin: null,
  unknown: null,
}
