import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Certificate, HttpPort } from '../../http/model.ts'
import { printPorts } from '../../http/print-ports.ts'
import { readManager } from './connection-manager.ts'
import type { FilterChain } from './filter-chains.ts'
import type { FilterContext } from '../filters/filter.ts'
import type { Listener } from './listeners.ts'
import { guardsOfChain } from './network-filters.ts'
import { tcpRoute } from './tcp-routes.ts'

/**
 * A bind of the imported config. `port` contains the rules that generated tests check; null for TLS and TCP, which
 * tests do not cover.
 */
interface Bind {
  readonly bind: object
  readonly port: HttpPort | null
}

type Surroundings = Pick<FilterContext, 'clusters' | 'services' | 'variables'>

const MOST_LISTENERS = 64

/** Returns the bind of a listener; null when no filter chain of the listener can be imported. */
export function bindOf(listener: Listener, surroundings: Surroundings): Bind | null {
  const { chains } = listener
  for (const chain of chains.filter(({ kind, tls }) => kind === 'tcp' && tls !== null))
    chain.field.notCarried('the gateway decrypts TLS only for HTTP; connections of this chain are closed', true)
  const open = chains.filter(({ kind, tls }) => kind === 'http' || tls === null)
  const isByName = open.some(({ tls, names }) => tls !== null || names.length > 0)
  if (isByName) return tlsBind(listener, open, surroundings)
  const [first, ...others] = open
  for (const each of others) each.field.notCarried('another filter chain takes all connections of the port', true)
  if (first === undefined) return null
  if (first.kind === 'tcp') {
    const route = tcpRoute(first, surroundings.clusters)
    return bindWith(listener, [{ name: `tcp-${listener.port}`, protocol: 'TCP', routes: [route] }], null)
  }
  const port = httpPort(listener, first, null, surroundings)
  const [printed] = port.rules.length === 0 ? [] : printPorts([port])
  return printed === undefined ? null : { bind: printed, port }
}

function bindWith({ port, address }: Listener, listeners: readonly object[], http: HttpPort | null): Bind {
  return { bind: withoutAbsent({ port, address: address ?? undefined, listeners }), port: http }
}

/**
 * Returns a bind with an HTTPS listener for each server name, and a TLS listener for connections that are forwarded
 * without decryption.
 */
function tlsBind(listener: Listener, chains: readonly FilterChain[], surroundings: Surroundings): Bind | null {
  const taken = new Set<string | null>()
  const listeners: object[] = []
  const routes: object[] = []
  for (const chain of chains) {
    if (chain.kind === 'http' && chain.tls === null) {
      chain.field.notCarried('a port of the gateway has either TLS or plain text')
      continue
    }
    const names = (chain.names.length === 0 ? [null] : chain.names).filter((name) => !taken.has(name))
    if (names.length === 0) {
      chain.field.notCarried('other filter chains have the same server names', true)
      continue
    }
    for (const name of names) taken.add(name)
    if (chain.tls === null) {
      if (chain.names.length === 0) chain.field.changed('the chain gets only connections with TLS')
      routes.push(tcpRoute(chain, surroundings.clusters))
      continue
    }
    const { cert, key, root, isOptional } = chain.tls
    const certificates = names.map((hostname): Certificate => ({
      ...{ hostname, cert, key, root },
      ...(isOptional && { clientCertificates: 'Request' as const }),
    }))
    const port = httpPort(listener, chain, certificates, surroundings)
    const [printed] = port.rules.length === 0 ? [] : (printPorts([port]) as { listeners: object[] }[])
    listeners.push(...(printed?.listeners ?? []))
  }
  if (listeners.length >= MOST_LISTENERS)
    listener.field.notCarried('a port of the gateway has at most 63 server names', true)
  if (routes.length > 0) listeners.unshift({ name: `tls-${listener.port}`, protocol: 'TLS', routes })
  return listeners.length === 0 ? null : bindWith(listener, listeners.slice(0, MOST_LISTENERS), null)
}

function httpPort(
  { port, address }: Listener,
  chain: FilterChain,
  certificates: readonly Certificate[] | null,
  surroundings: Surroundings,
): HttpPort {
  const isTls = certificates !== null
  const facts: FilterContext = { ...surroundings, port, isTls, ignoresForwardedFor: true, upgrades: new Map() }
  return { port, address, certificates, ...readManager(chain.config, facts, guardsOfChain(chain, facts)) }
}
