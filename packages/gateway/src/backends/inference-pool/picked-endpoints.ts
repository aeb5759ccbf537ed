import { SocketAddress } from 'node:net'
import { formatHostPort } from '@portico/http/client'
import { parseHostPort } from '../../formats/address.ts'
import { isIp, isIpv6 } from '@portico/http/text'
import type { JsonObject } from '../../pipeline/context/request-context.ts'

/** Header and metadata key with which a picker names endpoints, and the gateway the members of a pool. */
export const PICKED = 'x-gateway-destination-endpoint'
export const SUBSET = 'x-gateway-destination-endpoint-subset'
export const SERVED = 'x-gateway-destination-endpoint-served'
/** The namespaces of metadata in the endpoint picker protocol. */
export const BALANCING = 'envoy.lb'
export const SUBSET_HINT = 'envoy.lb.subset_hint'

/**
 * Returns the endpoints in the answer of a picker, in its order, as `ip:port`; texts that are no address are left out. The
 * metadata wins over the header.
 */
export function pickedEndpoints(metadata: JsonObject | null, header: string | null): readonly string[] {
  const balancing = metadata?.[BALANCING]
  const named = typeof balancing === 'object' && balancing !== null ? (balancing as JsonObject)[PICKED] : undefined
  if (Array.isArray(named)) return readEndpoints(named)
  const text: unknown = named ?? header
  if (typeof text !== 'string') return []
  const known = readTexts.get(text)
  if (known !== undefined) return known
  const endpoints = readEndpoints([text])
  if (text.length > MAX_KEPT_LENGTH) return endpoints
  if (readTexts.size >= MAX_KEPT) readTexts.clear()
  readTexts.set(text, endpoints)
  return endpoints
}

/** The endpoints of texts that were read before: a pool has few members, and pickers name them in every answer. */
const readTexts = new Map<string, readonly string[]>()

function readEndpoints(texts: readonly unknown[]): readonly string[] {
  const all = texts.flatMap((text) => (typeof text === 'string' ? text.split(',', MAX_PICKED) : []))
  const endpoints = all.slice(0, MAX_PICKED).flatMap((text) => canonicalEndpoint(text.trim()) ?? [])
  return [...new Set(endpoints)]
}

/** Returns the one spelling of an `ip:port`; null for other texts. */
function canonicalEndpoint(text: string): string | null {
  const address = parseHostPort(text)
  if (address === null || address.port === 0 || !isIp(address.host)) return null
  const { host, port } = address
  if (!isIpv6(host)) return formatHostPort(host, port)
  return formatHostPort(new SocketAddress({ address: host, family: 'ipv6' }).address, port)
}

/** The most endpoints of one answer that are read. */
const MAX_PICKED = 32
const MAX_KEPT = 4_096
const MAX_KEPT_LENGTH = 128
