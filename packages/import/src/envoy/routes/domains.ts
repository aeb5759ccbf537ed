import { routeHost } from '../../http/addresses.ts'
import type { Condition } from '../../http/conditions.ts'
import { escapeRegex } from '../../http/paths.ts'

/** A domain of a virtual host: its place in the search, and the condition on the host of a request. */
interface Domain {
  /** The kind (exact, suffix, prefix, any), and the length of the text. */
  readonly rank: readonly [number, number]
  readonly condition: Condition
}

/** Reads a domain; null for odd texts. The port of a domain does not count. */
export function readDomain(text: string): Domain | null {
  if (text === '*') return { rank: [3, 0], condition: { kind: 'always', value: true } }
  const domain = text.toLowerCase().replace(/:(\d{1,5}|\*)$/, '')
  const length = text.length
  if (/^\[[0-9a-f:.]+\]$/.test(domain)) return { rank: [0, length], condition: authority(escapeRegex(domain)) }
  if (!/^\*?[a-z0-9._-]+\*?$/.test(domain) || (domain.startsWith('*') && domain.endsWith('*'))) return null
  const host = routeHost(domain)
  if (domain.startsWith('*')) {
    if (host !== null) return { rank: [1, length], condition: { kind: 'host', host } }
    return { rank: [1, length], condition: authority(`.+${escapeRegex(domain.slice(1))}`) }
  }
  if (domain.endsWith('*')) return { rank: [2, length], condition: authority(`${escapeRegex(domain.slice(0, -1))}.+`) }
  return { rank: [0, length], condition: host === null ? authority(escapeRegex(domain)) : { kind: 'host', host } }
}

function authority(regex: string): Condition {
  return { kind: 'header', header: { name: ':authority', value: { regex: `(?i)${regex}(:\\d+)?` } } }
}

/** The order of the search: exact names, long suffixes, long prefixes, and all others. */
export function domainOrder(one: Domain['rank'], other: Domain['rank']): number {
  return one[0] - other[0] || (one[0] === 0 ? 0 : other[1] - one[1])
}
