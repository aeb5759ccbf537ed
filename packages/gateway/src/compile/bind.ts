import { admitting } from '../policies/frontend/network-authorization/admit.ts'
import type { BindParts, BindServices } from './bind-parts.ts'
import type { Listener } from '../ir/resources.ts'
import type { BindState, ServerTls, TlsProblem } from '@portico/http/server'
import { acceptTls, createServerTls, hboneEntrance } from './load-features.ts'
import type { CompiledRoute } from '../pipeline/compiled/compiled.ts'
import { createHostnameTable } from '../pipeline/route/hostname.ts'
import { createEntrance } from '../pipeline/run/entrance.ts'
import type { RunServices, RunTelemetry } from '../pipeline/run/run-services.ts'
import type { RawServices } from '../pipeline/run/run-raw.ts'
import { gatewayName } from '../pipeline/context/proxy-identity.ts'
import { ConfigFault } from '../pipeline/compiled/config-fault.ts'
import { forwardedHeaders } from '../policies/frontend/forwarded-headers/apply.ts'
import { http1Options, http2Options } from '../policies/frontend/http/options.ts'
import type { FrontendPolicies } from '../policies/index.ts'
import { connectionCap } from '../policies/frontend/tcp/connection-cap.ts'
import type { LabelValues } from '../telemetry/metrics/families.ts'
import { bugReport } from '../telemetry/log/logger.ts'

export interface CompiledBind {
  transport: 'tcp'
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

export function compileBind(given: BindParts, services: BindServices, previous: CompiledBind | null): CompiledBind {
  const { tlsByListener, cut } = compileTls(given, services, previous)
  const parts = cut.size === 0 ? given : withoutListeners(given, cut)
  const { bind, sources, listeners, frontend, network, networkShadow } = parts
  const stayed = stayedListeners(sources, tlsByListener, previous)
  const kind = bindKind(sources)
  const forward = forwardedHeaders(frontend.forwardedHeaders ?? { mode: 'Replace', trustedProxies: [] })
  const entrance = createEntrance(
    { listeners, tlsByListener, forward },
    requestServices(services, parts.telemetry),
    connectionServices(services, parts.telemetry, networkShadow),
  )
  const keepalive = frontend.tcp?.keepalive
  const hbone = sources.some(({ protocol }) => protocol === 'HBONE')
    ? hboneEntrance(listeners, services, (info, status, code) => parts.telemetry.malformed(info, status, code))
    : null
  return {
    transport: 'tcp',
    address: bind.address,
    labels: [
      bind.key,
      gatewayName(services.identity),
      (listeners.length === 1 ? listeners[0]?.name : undefined) ?? 'several',
      hbone === null ? kind : 'hbone',
    ],
    tlsByListener,
    isGone: (listener) => !stayed.has(listener),
    state: {
      kind,
      proxyProtocol: frontend.proxyProtocol ?? null,
      admits: admitting(network, networkShadow),
      keepalive: {
        retries: keepalive?.retries ?? 9,
        timeMs: keepalive?.time ?? 180_000,
        intervalMs: keepalive?.interval ?? 180_000,
      },
      cap: connectionCap(bind.key, frontend.tcp, frontend.tcp?.maxConnections, services),
      handshakeTimeoutMs: frontend.tls?.handshakeTimeout ?? 15_000,
      http1: http1Options(frontend.http),
      http2: http2Options(frontend.http),
      maxConnectionDurationMs: frontend.http?.maxConnectionDuration ?? 0,
      isSilent: sources.every(({ protocol }) => protocol === 'TLS'),
      acceptTls,
      chooseTls: entrance.chooseTls,
      ...(sources.some(({ protocol, tls }) => protocol === 'TLS' && tls !== null) && { isRaw: entrance.isRaw }),
      onExchange: entrance.onExchange,
      ...hbone,
      onRaw: entrance.onRaw,
      onMalformed: (info, status, code) => parts.telemetry.malformed(info, status, code),
      onRefused(info, { code, cause, error, sni, listener }) {
        const rules = code === 'network_authorization' ? network?.explain(info) : undefined
        parts.telemetry.refused(
          { source: info.source, sni },
          { code, cause, error, rules, listener: listeners.find(({ key }) => key === listener) ?? null },
        )
      },
    },
  }
}

const TLS_PROTOCOLS: ReadonlySet<Listener['protocol']> = new Set(['HTTPS', 'TLS', 'HBONE'])

function bindKind(sources: Listener[]): 'http' | 'tls' | 'tcp' {
  if (sources.some((listener) => TLS_PROTOCOLS.has(listener.protocol))) return 'tls'
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
  const phrases = { found: `found ${message}`, expected: 'valid TLS settings' }
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

function requestServices(services: BindServices, telemetry: RunTelemetry): RunServices {
  return {
    deadlines: services.deadlines,
    random: services.random,
    now: services.now,
    httpDate: services.httpDate,
    hops: services.hops,
    shapeKeepalive: services.shapeKeepalive,
    bug: bugReport(services.log),
    telemetry,
    ledger: services.ledger,
  }
}

function connectionServices(
  services: BindServices,
  telemetry: RunTelemetry,
  networkShadow: BindParts['networkShadow'],
): RawServices {
  return {
    networkShadow,
    random: services.random,
    now: services.now,
    handshakes: services.handshakes,
    finished: (run) => telemetry.connectionFinished(run),
  }
}
