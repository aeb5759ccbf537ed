import type { CallTimer } from '../telemetry/metrics/request-metrics.ts'
import type { Bind, Listener } from '../ir/resources.ts'
import type { Deadlines, Hops } from '@portico/http'
import type { BindState, HandshakePasses, ServerTls, TlsProblem } from '@portico/http/server'
import { acceptTls, createServerTls } from './load-features.ts'
import type { Judge } from '../pipeline/policy/authorization.ts'
import type { CompiledListener, CompiledRoute } from '../pipeline/compiled/compiled.ts'
import { createHostnameTable } from '../pipeline/route/hostname.ts'
import { createEntrance } from '../pipeline/run/entrance.ts'
import type { KeepBodies, RequestIds, RequestTracing, RunServices, Tracer } from '../pipeline/run/run-services.ts'
import type { RawServices } from '../pipeline/run/run-raw.ts'
import type { Specimens } from '../pipeline/run/specimens.ts'
import type { Telemetry } from '../pipeline/run/telemetry.ts'
import { gatewayName, type ProxyIdentity } from '../pipeline/context/proxy-identity.ts'
import { ConfigFault } from '../pipeline/compiled/config-fault.ts'
import type { Containment } from '../pipeline/compiled/containment.ts'
import { forwardedHeaders } from '../policies/frontend/forwarded-headers/apply.ts'
import { http1Options, http2Options } from '../policies/frontend/http/options.ts'
import type { FrontendPolicies } from '../policies/index.ts'
import { ConnectionCount, type Seat } from '../state/connection-count.ts'
import type { SharedCounters } from '@portico/http/client'
import type { WorkerCache } from '../state/worker-cache.ts'
import type { LabelValues } from '../telemetry/metrics/families.ts'
import { bugReport, type Logger } from '../telemetry/log/logger.ts'
import type { Recorder } from '../telemetry/recorder/recorder.ts'

export interface BindServices {
  deadlines: Deadlines
  random: () => number
  now: () => number
  clock: () => number
  identity: ProxyIdentity
  httpDate: () => string
  hops: Hops
  handshakes: HandshakePasses
  callTimer: CallTimer
  tracer: Tracer
  specimens: Specimens
  recorder: Pick<Recorder, 'idOf'>
  log: Logger
  ticketSecret: Buffer
  counters: SharedCounters
  monotonic: () => number
  kept: WorkerCache
  seat: Seat
  containment: Containment
}

export interface CompiledBind {
  /**
   * The state refers to listeners by key: a connection that held the object would keep its whole generation in memory.
   */
  state: BindState<string>
  address: string
  labels: LabelValues<'downstream_connections_total'>
  /** Whether connections admitted by this listener of the previous generation must close. */
  isGone(listener: string): boolean
  tlsByListener: Map<string, ServerTls>
}

interface BindParts {
  bind: Bind
  sources: Listener[]
  listeners: CompiledListener[]
  frontend: FrontendPolicies
  /** Decides whether a new connection may proceed; null admits every connection. */
  network: Judge<Parameters<BindState<string>['onRefused']>[0]> | null
  telemetry: Telemetry
  /** Null when no spans are made. */
  tracing: RequestTracing | null
  /** Null when request ids are off. */
  requestIds: RequestIds | null
  /** Null when no bodies are recorded. */
  keepBodies: KeepBodies | null
}

export function compileBind(given: BindParts, services: BindServices, previous: CompiledBind | null): CompiledBind {
  const { tlsByListener, cut } = compileTls(given, services, previous)
  const parts = cut.size === 0 ? given : withoutListeners(given, cut)
  const { bind, sources, listeners, frontend, network } = parts
  const stayed = stayedListeners(sources, tlsByListener, previous)
  const kind = bindKind(sources)
  const forward = forwardedHeaders(frontend.forwardedHeaders ?? { mode: 'Replace', trustedProxies: [] })
  const entrance = createEntrance(
    { listeners, tlsByListener, forward },
    requestServices(services, parts),
    connectionServices(services, parts.telemetry),
  )
  const keepalive = frontend.tcp?.keepalive
  return {
    address: bind.address,
    labels: [
      bind.key,
      gatewayName(services.identity),
      (listeners.length === 1 ? listeners[0]?.name : undefined) ?? 'several',
      kind,
    ],
    tlsByListener,
    isGone: (listener) => !stayed.has(listener),
    state: {
      kind,
      proxyProtocol: frontend.proxyProtocol ?? null,
      admits: network === null ? null : (info) => network.allows(info),
      keepalive: {
        retries: keepalive?.retries ?? 9,
        timeMs: keepalive?.time ?? 180_000,
        intervalMs: keepalive?.interval ?? 180_000,
      },
      cap: connectionCap(bind.key, frontend.tcp, services),
      handshakeTimeoutMs: frontend.tls?.handshakeTimeout ?? 15_000,
      http1: http1Options(frontend.http),
      http2: http2Options(frontend.http),
      maxConnectionDurationMs: frontend.http?.maxConnectionDuration ?? 0,
      isSilent: sources.every(({ protocol }) => protocol === 'TLS'),
      acceptTls,
      chooseTls: entrance.chooseTls,
      ...(sources.some(({ protocol, tls }) => protocol === 'TLS' && tls !== null) && { isRaw: entrance.isRaw }),
      onExchange: entrance.onExchange,
      onRaw: entrance.onRaw,
      onMalformed: parts.telemetry.malformed,
      onRefused(info, { code, error, sni, listener }) {
        const rules = code === 'network_authorization' ? network?.explain(info) : undefined
        parts.telemetry.refused(
          { source: info.source, sni },
          { code, error, rules, listener: listeners.find(({ key }) => key === listener) ?? null },
        )
      },
    },
  }
}

/** The connection limit of a bind. The count outlives reloads, so open connections count under the new limit too. */
function connectionCap(bind: string, tcp: FrontendPolicies['tcp'], services: BindServices): BindState<string>['cap'] {
  const limit = tcp?.maxConnections
  if (tcp === undefined || limit === undefined) return null
  const count = services.kept.shared(`connections of ${bind}`, () => {
    const made = ConnectionCount.create(bind, services.seat, services)
    if (made === null) {
      const found = `found no room to count the connections of ${bind}`
      throw new ConfigFault(tcp, ['maxConnections'], { found, expected: 'fewer limits and backends' })
    }
    return made
  })
  return { limit, count }
}

function bindKind(sources: Listener[]): 'http' | 'tls' | 'tcp' {
  if (sources.some((listener) => listener.protocol === 'HTTPS' || listener.protocol === 'TLS')) return 'tls'
  return sources.some((listener) => listener.protocol === 'TCP') ? 'tcp' : 'http'
}

/**
 * Creates the TLS contexts. Unchanged contexts are reused, but nothing else of the previous generation. `cut` has the
 * listeners without a context, which must refuse their connections.
 */
function compileTls(
  { sources, frontend }: BindParts,
  { ticketSecret, containment }: BindServices,
  previous: CompiledBind | null,
): { tlsByListener: Map<string, ServerTls>; cut: Set<string> } {
  const tlsByListener = new Map<string, ServerTls>()
  const cut = new Set<string>()
  for (const source of sources) {
    const { tls, key } = source
    if (tls === null) continue
    const before = previous?.tlsByListener.get(key) ?? null
    // Non-HTTP traffic uses a protocol that only the two ends know, so no ALPN protocol is offered.
    const policy = source.protocol === 'TLS' ? { ...frontend.tls, alpnProtocols: [] } : (frontend.tls ?? null)
    const made = containment.make<ServerTls | null>(
      { kind: 'listener', key },
      () => {
        const result = createServerTls(tls, policy, ticketSecret, before)
        if ('problem' in result) throw tlsFault(source, frontend, result.problem)
        return result.tls
      },
      () => null,
    )
    if (made === null) cut.add(key)
    else tlsByListener.set(key, made)
  }
  return { tlsByListener, cut }
}

/**
 * Closes the cut listeners: their server names still lead to them, so that no other listener gets their clients, but
 * they have no routes.
 */
function withoutListeners(parts: BindParts, cut: ReadonlySet<string>): BindParts {
  const asCut = <One extends { key: string }>(one: One): One =>
    cut.has(one.key) ? { ...one, protocol: 'TLS', tls: null, rawRoutes: NO_RAW_ROUTES } : one
  return { ...parts, sources: parts.sources.map(asCut), listeners: parts.listeners.map(asCut) }
}

const NO_RAW_ROUTES = createHostnameTable<CompiledRoute>([])

function tlsFault(source: Listener, { tls: policy }: FrontendPolicies, { of, message }: TlsProblem): ConfigFault {
  const phrases = { found: `found ${message}`, expected: 'TLS that can be set up' }
  return of === 'policy' ? new ConfigFault(policy ?? null, [], phrases) : new ConfigFault(source, ['tls', of], phrases)
}

/**
 * Listeners whose connections may continue. A set of keys, because a reference to the previous generation would keep it
 * in memory.
 */
function stayedListeners(
  sources: readonly Listener[],
  tlsByListener: ReadonlyMap<string, ServerTls>,
  previous: CompiledBind | null,
): Set<string> {
  const isSame = ({ key }: Listener): boolean => tlsByListener.get(key)?.key === previous?.tlsByListener.get(key)?.key
  return new Set(sources.filter(isSame).map((listener) => listener.key))
}

function requestServices(
  services: BindServices,
  { telemetry, tracing, requestIds, keepBodies }: BindParts,
): RunServices {
  return {
    deadlines: services.deadlines,
    random: services.random,
    now: services.now,
    clock: services.clock,
    identity: services.identity,
    httpDate: services.httpDate,
    hops: services.hops,
    callTimer: services.callTimer,
    tracer: services.tracer,
    specimens: services.specimens,
    bug: bugReport(services.log),
    tracing,
    requestIds,
    keepBodies,
    recordId: (rx) => services.recorder.idOf(rx),
    finished: telemetry.request,
  }
}

function connectionServices(services: BindServices, telemetry: Telemetry): RawServices {
  return {
    random: services.random,
    now: services.now,
    handshakes: services.handshakes,
    finished: telemetry.connection,
  }
}
