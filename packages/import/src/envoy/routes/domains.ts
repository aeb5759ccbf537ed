import { routeHost } from '../../http/addresses.ts'
import type { Condition } from '../../http/conditions.ts'
import { escapeRegex } from '../../http/paths.ts'

/** A domain of a virtual host: its rank among all domains, and the condition on the host of a request. */
interface Domain {
  /** The kind (0 for exact, 1 for suffix, 2 for prefix, 3 for any), and the length of the domain. */
  readonly rank: readonly [number, number]
  readonly condition: Condition
}

/** Reads a domain; returns null when it is not a valid domain. The port of a domain is ignored. */
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

/** Compares the ranks of two domains: exact domains come first, then long suffixes, then long prefixes, then `*`. */
export function domainOrder(one: Domain['rank'], other: Domain['rank']): number {
  return one[0] - other[0] || (one[0] === 0 ? 0 : other[1] - one[1])
}
