import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type RawResponse, sendRaw } from '../../packages/gateway/src/testing/client.ts'
import type { Origin } from '../../packages/gateway/src/testing/origin.ts'
import { closedPort, httpConfig } from '../../packages/gateway/src/testing/scene.ts'
import { useShippedGateway } from '../shipped-gateway.ts'
import { checkPage, cells, fieldName, type Meeting } from './difference-list.ts'
import { useEnvoy } from './servers.ts'

/** Envoy and the gateway with the same servers behind them: the same requests to both, and what differs is listed. */

export interface Parts {
  line?: string
  headers?: string[]
  body?: string | Buffer
}

export interface Side {
  port: number
  /** The requests that the external service has received since the last call. */
  asked(): unknown
  /** The requests that the backend has received since the last call. */
  backend(): unknown
}

/** An expected difference and its reason; `requests` names the requests that have it, all when unset. */
export interface Difference {
  what: RegExp
  requests?: string[]
  /**
   * Whether only some runs have the difference, because it depends on time. The text of the page describes it; the
   * table does not.
   */
  isByChance?: true
  why: string
}

/** Changes that Envoy makes to every request. */
export const ownWays: readonly Difference[] = [
  { what: /^backend headers x-request-id$/, why: 'Envoy generates a request id.' },
  { what: /^backend headers x-forwarded-(for|host)$/, why: 'Envoy adds these headers only if configured.' },
  { what: /^backend headers x-envoy-expected-rq-timeout-ms$/, why: 'Only Envoy sends this header.' },
]

/**
 * A new difference fails, and so does one that is gone. The list of what differed in this run is the table of that name in
 * `docs/envoy.md`: `PORTICO_UPDATE_GOLDEN=1` writes it.
 */
export async function compare(
  t: TestContext,
  list: string,
  [envoySide, gatewaySide]: readonly [Side, Side],
  requests: Readonly<Record<string, Parts>>,
  differences: readonly Difference[],
): Promise<void> {
  const [surprises, met] = [[] as string[], new Map<Difference, Meeting>()]
  for (const [name, parts] of Object.entries(requests)) {
    const [envoy, gateway] = [await seenBy(envoySide, parts), await seenBy(gatewaySide, parts)]
    for (const key of new Set([...Object.keys(envoy), ...Object.keys(gateway)])) {
      if (envoy[key] === gateway[key]) continue
      const known = differences.find(({ what, requests: some }) => what.test(key) && (some?.includes(name) ?? true))
      if (known === undefined) surprises.push(`${name}: ${key}: Envoy ${envoy[key]}, the gateway ${gateway[key]}`)
      else {
        const meeting = met.get(known) ?? { fields: new Set(), requests: new Set() }
        met.set(known, meeting)
        meeting.fields.add(fieldName(key))
        meeting.requests.add(name)
      }
    }
  }
  assert.deepEqual(surprises, [])
  const lasting = differences.filter(({ isByChance }) => isByChance !== true)
  const gone = lasting.filter((difference) => !met.has(difference)).map(({ what, why }) => `${what} ${why}`)
  assert.deepEqual(gone, [])
  const rows = [...met]
    .filter(([{ isByChance }]) => isByChance !== true)
    .map(([{ why }, meeting]) => [...cells(meeting, Object.keys(requests).length), why])
  const table = ['Field | Requests | Why', '---|---|---', ...rows.map((row) => row.join(' | '))]
  const text = table.map((row) => (row.startsWith('---') ? `|${row}|` : `| ${row} |`)).join('\n')
  t.diagnostic(`${list}:\n${text}`)
  checkPage(list, text)
}

async function seenBy(side: Side, parts: Parts): Promise<Record<string, string>> {
  const client = told(await sendRaw(side.port, bytesOf(parts)))
  return flat({ asked: side.asked(), client, backend: side.backend() })
}

function bytesOf({ line = 'GET /', headers = [], body = '' }: Parts): Buffer {
  const isCounted = body.length > 0 && !headers.some((header) => header.startsWith('transfer-encoding'))
  const length = isCounted ? [`content-length: ${Buffer.byteLength(body)}`] : []
  const lines = [`${line} HTTP/1.1`, 'host: shop.example', ...headers, ...length, 'connection: close']
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body)])
}

/** But for what is new in every answer, and the names of the programs. */
function told({ status, headers: all, body, text }: RawResponse) {
  const own = ['date', 'server', 'x-envoy-upstream-service-time', 'x-portico-decision']
  const headers = Object.fromEntries(Object.entries(all).filter(([name]) => !own.includes(name)))
  return { status, headers, body, trailers: /\r\n0\r\n((?:.+\r\n)+)\r\n$/.exec(text)?.[1] ?? '' }
}

/** The request that an origin has received since the last call, with the length of its body. */
export function lastSeen({ seen }: Pick<Origin, 'seen'>): unknown {
  return seen
    .splice(0)
    .map(({ method, url, headers, trailers, body }) => ({ method, url, headers, trailers, length: body.length }))[0]
}

/** Every leaf by its path. */
function flat(value: unknown, path = ''): Record<string, string> {
  if (typeof value !== 'object' || value === null) return { [path]: String(value) }
  const leaves = Object.entries(value).flatMap(([key, each]) => Object.entries(flat(each, `${path} ${key}`.trim())))
  return Object.fromEntries(leaves)
}

export const portOf = ({ host }: { host: string }): number => Number(host.split(':')[1])

export const any = (type: string, value: object = {}): object => ({
  '@type': `type.googleapis.com/envoy.extensions.${type}`,
  ...value,
})

/** The servers behind Envoy and the gateway, and the configs that point each of them to the external service. */
interface BothParts {
  origin: Origin
  /** Port of the external service. `isGrpc` sets HTTP/2. */
  server: number
  isGrpc: boolean
  filter: { name: string; typed_config: object }
  /** Fields of the only route of Envoy, besides its match. */
  route?: { route: object; typed_per_filter_config?: object }
  /** Whether Envoy accepts HTTP/1.1 trailers, which is off by default. */
  trailers?: boolean
  /** Policies of the only route of the gateway. */
  policies: object
  asked: Side['asked']
}

/** Envoy and the gateway, in this order, with one server and one backend. */
export async function useBoth(t: TestContext, parts: BothParts): Promise<[Side, Side]> {
  const { origin, policies, asked } = parts
  const port = await closedPort()
  await useEnvoy(t, port, envoyConfig(port, parts))
  // Envoy speaks HTTP/1.1 to the backend of a gRPC call too.
  const backend = { host: origin.host, policies: { http: { version: 'HTTP1' } } }
  const gateway = await useShippedGateway(t, httpConfig([{ policies, backends: [backend] }]))
  const side = (at: number): Side => ({ port: at, asked, backend: () => lastSeen(origin) })
  return [side(port), side(gateway.port())]
}

/** Envoy with one filter, which asks the cluster `server`; the cluster `origin` is the backend. */
function envoyConfig(port: number, { origin, server, isGrpc, filter, route, trailers = false }: BothParts): object {
  const address = (at: number) => ({ socket_address: { address: '127.0.0.1', port_value: at } })
  const cluster = (name: string, at: number, more: object = {}) => ({
    name,
    type: 'STATIC',
    connect_timeout: '5s',
    ...more,
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address: address(at) } }] }] },
  })
  const speaking = (explicit_http_config: object) => ({
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': any('upstreams.http.v3.HttpProtocolOptions', {
        explicit_http_config,
      }),
    },
  })
  const http2 = speaking({ http2_protocol_options: {} })
  const http1 = { http_protocol_options: { enable_trailers: trailers } }
  const routes = [{ match: { prefix: '/' }, ...(route ?? { route: { cluster: 'origin' } }) }]
  const manager = any('filters.network.http_connection_manager.v3.HttpConnectionManager', {
    stat_prefix: 'http',
    ...http1,
    route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes }] },
    http_filters: [filter, { name: 'envoy.filters.http.router', typed_config: any('filters.http.router.v3.Router') }],
  })
  return {
    static_resources: {
      listeners: [{ address: address(port), filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }] }],
      clusters: [cluster('origin', origin.port, speaking(http1)), cluster('server', server, isGrpc ? http2 : {})],
    },
  }
}
