import type { Field } from '../../core/yaml-field.ts'
import { routeHost } from '../../http/addresses.ts'
import { type DownstreamTls, readDownstreamTls } from './downstream-tls.ts'
import { filterKind } from '../filters/http-filters.ts'
import { listAt, memberAt, membersOf, takeText, typedConfig } from '../messages/message.ts'
import type { Secrets } from '../messages/secrets.ts'

/** An imported filter chain of Envoy. */
export interface FilterChain {
  readonly field: Field
  /** The server names that the chain serves; empty when the chain serves all connections. */
  readonly names: readonly string[]
  readonly tls: DownstreamTls | null
  /** Whether the chain ends in an HTTP connection manager (`http`) or a TCP proxy (`tcp`). */
  readonly kind: 'http' | 'tcp'
  readonly config: Field
  /** The network filters that run first and may restrict access. */
  readonly guards: readonly { readonly kind: string; readonly config: Field }[]
}

const KINDS: Readonly<Record<string, 'http' | 'tcp'>> = { http_connection_manager: 'http', tcp_proxy: 'tcp' }

/** Returns the filter chains of a listener. The default filter chain is the last. */
export function readFilterChains(listener: Field, secrets: Secrets): FilterChain[] {
  const standard = memberAt(listener, 'default_filter_chain')
  const chains = [...listAt(listener, 'filter_chains'), ...(standard === null ? [] : [standard])]
  return chains.flatMap((field) => readChain(field, secrets) ?? [])
}

function readChain(field: Field, secrets: Secrets): FilterChain | null {
  takeText(field, 'name')
  for (const [name, note] of Object.entries(NOTES)) memberAt(field, name)?.notCarried(note)
  const names = readMatch(field)
  if (names === null) return null
  const filters = listAt(field, 'filters').map((filter) => {
    const name = takeText(filter, 'name') ?? ''
    const config = typedConfig(filter)
    return { kind: filterKind(name, config), config: config ?? filter }
  })
  const last = filters.at(-1)
  const kind = KINDS[last?.kind ?? '']
  if (last === undefined || kind === undefined) {
    field.notCarried('the chain ends with neither an HTTP connection manager nor a TCP proxy')
    return null
  }
  const tls = readDownstreamTls(field, secrets)
  if (typeof tls === 'string') {
    field.notCarried(tls)
    return null
  }
  const guards = filters.slice(0, -1).filter((each) => {
    const note = HARMLESS[each.kind]
    if (note !== undefined) each.config.notCarried(note, each.kind.includes('limit'))
    return note === undefined
  })
  return { field, names, tls, kind, config: last.config, guards }
}

/** Returns the server names of a FilterChainMatch; null when the match has other conditions. */
function readMatch(chain: Field): string[] | null {
  const match = memberAt(chain, 'filter_chain_match')
  const names = listAt(match, 'server_names').flatMap((field) => {
    const host = routeHost(field.text ?? '')
    if (host === null) field.notCarried('the value is not a valid hostname')
    else field.carried()
    return host ?? []
  })
  const others = membersOf(match).filter(([name]) => !['server_names', 'transport_protocol'].includes(name))
  const transport = memberAt(match, 'transport_protocol')
  transport?.carried()
  const lost = others.filter(([name, field]) => {
    const isAny = name === 'application_protocols' && isHttp(field)
    if (isAny) field.carried()
    return !isAny
  })
  if (lost.length === 0) return listAt(match, 'server_names').length > 0 && names.length === 0 ? null : names
  chain.notCarried(
    `the gateway cannot choose a listener by ${lost
      .map(([name]) => name)
      .join(', ')
      .slice(0, 80)}`,
    true,
  )
  return null
}

function isHttp(protocols: Field): boolean {
  return protocols.items.length > 0 && protocols.items.every(({ text }) => /^(h2|h2c|http\/1\.[01])$/.test(text ?? ''))
}

const NOTES: Readonly<Record<string, string>> = {
  metadata: "the gateway's listeners have no metadata",
  transport_socket_connect_timeout: 'configure frontend.tls.handshakeTimeout, which applies to all listeners',
  on_demand_configuration: 'the gateway opens all listeners when it loads the config',
}

const HARMLESS: Readonly<Record<string, string>> = {
  connection_limit: 'configure frontend.tcp.maxConnections to limit connections',
  local_ratelimit: 'configure frontend.tcp.maxConnections to limit connections',
  echo: 'the gateway has no echo listener',
  sni_cluster: "the gateway's routes name their backends in the config",
  direct_response: 'the gateway cannot respond to TCP connections',
}
