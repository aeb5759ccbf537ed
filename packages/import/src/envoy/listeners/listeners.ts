import type { Field } from '../../core/yaml-field.ts'
import { type ListenAddress, listenAddress } from '../messages/addresses.ts'
import { type FilterChain, readFilterChains } from './filter-chains.ts'
import { filterKind } from '../filters/http-filters.ts'
import { listAt, memberAt, takeText, typedConfig } from '../messages/message.ts'
import type { Secrets } from '../messages/secrets.ts'

/** A listener on a TCP port, with its filter chains. */
export interface Listener extends ListenAddress {
  readonly name: string
  readonly field: Field
  readonly chains: readonly FilterChain[]
  readonly hasProxyProtocol: boolean
}

/** Returns the listeners of all files, at most one for each port, because a port of the gateway has one address. */
export function readListeners(roots: readonly Field[], secrets: Secrets): Listener[] {
  const found = new Map<number, Listener>()
  for (const field of roots.flatMap((root) => listAt(root, 'static_resources', 'listeners'))) {
    const listener = readListener(field, secrets)
    if (listener === null) continue
    const first = found.get(listener.port)
    if (first === undefined) found.set(listener.port, listener)
    else {
      field.notCarried(`port ${listener.port} belongs to another listener, and a port has one address here`, true)
    }
  }
  return [...found.values()]
}

function readListener(field: Field, secrets: Secrets): Listener | null {
  const address = memberAt(field, 'address')
  const place = listenAddress(address)
  if (typeof place === 'string') {
    field.notCarried(place)
    return null
  }
  const name = takeText(field, 'name') ?? `port-${place.port}`
  for (const [key, note] of Object.entries(NOTES)) memberAt(field, key)?.notCarried(note)
  return {
    ...{ ...place, name, field },
    chains: readFilterChains(field, secrets),
    hasProxyProtocol: readListenerFilters(field),
  }
}

/** Sets notes on the listener filters. Returns whether connections begin with a PROXY protocol header. */
function readListenerFilters(listener: Field): boolean {
  const old = memberAt(listener, 'filter_chains')?.items.some((chain) => memberAt(chain, 'use_proxy_proto')?.isTrue)
  const kinds = listAt(listener, 'listener_filters').map((field) => {
    const config = typedConfig(field)
    const name = takeText(field, 'name') ?? ''
    const type = /\blisteners?\.(\w+)\.v\d/.exec(config?.get('@type')?.text ?? '')?.[1]
    const kind = type ?? filterKind(name.replace('envoy.filters.listener.', ''), null)
    if (kind === 'proxy_protocol') {
      for (const [key, value] of config?.members ?? [])
        if (key !== '@type') value.notCarried('the header is read as it is')
    } else if (kind !== 'tls_inspector' && kind !== 'http_inspector') {
      field.notCarried('connections are taken as they come', /rbac|limit/.test(kind))
    }
    return kind
  })
  return old === true || kinds.includes('proxy_protocol')
}

const NOTES: Readonly<Record<string, string>> = {
  per_connection_buffer_limit_bytes: 'buffers have fixed limits: docs/backends.md',
  listener_filters_timeout: 'frontend.tls.handshakeTimeout is for all listeners',
  continue_on_listener_filters_timeout: 'frontend.tls.handshakeTimeout is for all listeners',
  access_log: 'docs/logs-and-metrics.md',
  traffic_direction: 'a listener has no direction',
  stat_prefix: 'metrics have other names: docs/logs-and-metrics.md',
  socket_options: 'the options of sockets are fixed',
  reuse_port: 'workers share a port',
  enable_reuse_port: 'workers share a port',
  connection_balance_config: 'workers share a port',
  tcp_backlog_size: 'the options of sockets are fixed',
  tcp_fast_open_queue_length: 'the options of sockets are fixed',
  freebind: 'the options of sockets are fixed',
  transparent: 'the options of sockets are fixed',
  bind_to_port: 'the listener accepts connections of the port',
  use_original_dst: 'the listener accepts connections of the port',
  additional_addresses: 'a port has one address, or all addresses of the machine',
  drain_type: 'docs/reload-and-shutdown.md',
  metadata: 'listeners have no metadata',
  udp_listener_config: 'write a UDP listener: docs/udp.md',
  api_listener: 'listeners have ports',
  max_connections_to_accept_per_socket_event: 'the options of sockets are fixed',
  ignore_global_conn_limit: 'frontend.tcp.maxConnections limits connections',
  bypass_overload_manager: 'there is no overload manager',
}
