import type { TestContext } from 'node:test'
import type { Ask } from '../../packages/gateway/src/explain/testing/death-clients.ts'
import {
  type DyingBackend,
  useDyingHttp1,
  useDyingHttp2,
} from '../../packages/gateway/src/explain/testing/dying-backends.ts'
import { acceptOf } from '../../packages/http/src/websocket/websocket-handshake.ts'
import { pathPrefix } from '../../packages/gateway/src/testing/scene.ts'
import { any } from './side-by-side.ts'

/** A kind of backend that can fail in the ways of `deaths`. */
export interface FailingKind {
  name: string
  backend: (t: TestContext) => Promise<DyingBackend>
  clients: readonly ('HTTP/1' | 'HTTP/2')[]
  ask?: Partial<Ask>
  isHttp2?: true
  isTunnel?: true
  /** The name of a death that this kind cannot die. */
  except?: string
}

const BOTH = ['HTTP/1', 'HTTP/2'] as const
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
const OK = 'HTTP/1.1 200 OK\r\nconnection: close\r\n'

/** The head of a WebSocket server, with the proof for the key of the request. */
function switched(request: string): string {
  const key = /^sec-websocket-key: (.+)\r$/im.exec(request)?.[1]
  const proof = key === undefined ? '' : `sec-websocket-accept: ${acceptOf(key)}\r\n`
  return `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n${proof}\r\n`
}

export const failingKinds: readonly FailingKind[] = [
  {
    name: 'HTTP/1, chunked',
    backend: (t) =>
      useDyingHttp1(
        t,
        {
          head: `${OK}transfer-encoding: chunked\r\n\r\n`,
          half: chunk('half'),
          rest: `${chunk('rest')}0\r\n\r\n`,
        },
        false,
      ),
    clients: BOTH,
  },
  {
    name: 'HTTP/1, content-length',
    backend: (t) => useDyingHttp1(t, { head: `${OK}content-length: 8\r\n\r\n`, half: 'half', rest: 'rest' }, false),
    clients: BOTH,
    // Garbage is content here.
    except: 'sends garbage inside the body',
  },
  { name: 'HTTP/2', backend: (t) => useDyingHttp2(t, false, false), clients: BOTH, isHttp2: true },
  {
    name: 'gRPC',
    backend: (t) => useDyingHttp2(t, true, false),
    clients: ['HTTP/2'],
    ask: { method: 'POST', headers: { 'content-type': 'application/grpc', te: 'trailers' }, body: '\0\0\0\0\0' },
    isHttp2: true,
  },
  {
    name: 'WebSocket',
    backend: (t) => useDyingHttp1(t, { head: switched, half: '\x81\x04half', rest: '\x81\x04rest\x88\x00' }, false),
    clients: BOTH,
    ask: { headers: { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' } },
    isTunnel: true,
  },
]

/** A kind of backend with its ports behind one of the two proxies. */
export interface FailingBackend {
  kind: FailingKind
  /** The backend that fails. */
  live: number
  /** Nobody listens there. */
  refused: number
}

// Both proxies have three routes for each kind: to a port without a listener, and to the backend with and without a time limit.

/** The gateway with a port for each kind, in this order. */
export function gatewayConfig(places: readonly FailingBackend[]): object {
  return { binds: places.map((place) => ({ port: 0, listeners: [{ name: 'all', routes: routes(place) }] })) }
}

function routes({ kind, live, refused }: FailingBackend): object[] {
  const backend = { http: { version: kind.isHttp2 === true ? 'HTTP2' : 'HTTP1' } }
  const by = (name: string): object => ({ matches: [{ headers: [{ name, value: { exact: '1' } }] }] })
  const to = (port: number): object[] => [{ host: `127.0.0.1:${port}` }]
  return [
    { name: 'refused', ...by('x-refused'), policies: { backend }, backends: to(refused) },
    { name: 'limited', ...by('x-limited'), policies: { backend, timeouts: { request: '1s' } }, backends: to(live) },
    { name: 'live', ...pathPrefix('/'), policies: { backend }, backends: to(live) },
  ]
}

/** Envoy with a listener for each kind. */
export function envoyConfig(places: readonly (FailingBackend & { listener: number })[]): object {
  return {
    static_resources: {
      listeners: places.map(({ listener }) => ({
        address: address(listener),
        filter_chains: [{ filters: [{ name: 'http', typed_config: manager(listener) }] }],
      })),
      clusters: places.flatMap(({ kind, listener, live, refused }) => [
        cluster(kind, `live-${listener}`, live),
        cluster(kind, `refused-${listener}`, refused),
      ]),
    },
  }
}

function address(port: number): object {
  return { socket_address: { address: '127.0.0.1', port_value: port } }
}

function cluster(kind: FailingKind, name: string, port: number): object {
  const explicit = kind.isHttp2 === true ? { http2_protocol_options: {} } : { http_protocol_options: {} }
  const options = any('upstreams.http.v3.HttpProtocolOptions', { explicit_http_config: explicit })
  return {
    name,
    type: 'STATIC',
    connect_timeout: '5s',
    typed_extension_protocol_options: { 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': options },
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }] },
  }
}

function manager(listener: number): object {
  const route = (header: string | null, to: string, timeout: string) => ({
    match: { prefix: '/', ...(header !== null && { headers: [{ name: header, string_match: { exact: '1' } }] }) },
    route: { cluster: `${to}-${listener}`, timeout },
  })
  const all = [route('x-refused', 'refused', '0s'), route('x-limited', 'live', '1s'), route(null, 'live', '0s')]
  return any('filters.network.http_connection_manager.v3.HttpConnectionManager', {
    stat_prefix: 'http',
    http2_protocol_options: { allow_connect: true },
    upgrade_configs: [{ upgrade_type: 'websocket' }],
    route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes: all }] },
    http_filters: [{ name: 'envoy.filters.http.router', typed_config: any('filters.http.router.v3.Router') }],
  })
}
