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
      field.notCarried(`an earlier listener has port ${listener.port}, and a port of the gateway has one address`, true)
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
        if (key !== '@type') value.notCarried('the gateway reads the PROXY protocol header without options')
    } else if (kind !== 'tls_inspector' && kind !== 'http_inspector') {
      field.notCarried('the gateway has no such listener filter', /rbac|limit/.test(kind))
    }
    return kind
  })
  return old === true || kinds.includes('proxy_protocol')
}

const NOTES: Readonly<Record<string, string>> = {
  per_connection_buffer_limit_bytes: "the gateway's buffers have fixed limits: docs/backends.md",
  listener_filters_timeout: 'configure frontend.tls.handshakeTimeout, which applies to all listeners',
  continue_on_listener_filters_timeout: 'configure frontend.tls.handshakeTimeout, which applies to all listeners',
  access_log: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  traffic_direction: "the gateway's listeners have no traffic direction",
  stat_prefix: "the gateway's metrics have fixed names: docs/logs-and-metrics.md",
  socket_options: "the gateway's socket options are fixed",
  reuse_port: "the gateway's workers always share a port",
  enable_reuse_port: "the gateway's workers always share a port",
  connection_balance_config: "the gateway's workers always share a port",
  tcp_backlog_size: "the gateway's socket options are fixed",
  tcp_fast_open_queue_length: "the gateway's socket options are fixed",
  freebind: "the gateway's socket options are fixed",
  transparent: "the gateway's socket options are fixed",
  bind_to_port: "the gateway's listeners accept only connections to their own port",
  use_original_dst: "the gateway's listeners accept only connections to their own port",
  additional_addresses: 'a port of the gateway has one address, or all addresses of the machine',
  drain_type: 'docs/reload-and-shutdown.md',
  metadata: "the gateway's listeners have no metadata",
  udp_listener_config: 'configure a UDP listener: docs/udp.md',
  api_listener: "the gateway's listeners need a port",
  max_connections_to_accept_per_socket_event: "the gateway's socket options are fixed",
  ignore_global_conn_limit: 'configure frontend.tcp.maxConnections to limit connections',
  bypass_overload_manager: 'the gateway has no overload manager',
}
