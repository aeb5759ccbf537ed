import { type MatchCandidate, type MatchQuestion, mayBeSecretName } from '@portico/gateway/admin-api'
import { readHeaders } from '../play/headers-text.ts'

export interface WrittenRequest {
  url: string
  method: string
  headers: string
}

/** What is wrong with a part of it. */
export interface Misread {
  in: 'url' | 'headers'
  problem: string
}

/** Null while there is nothing to ask. Half an address is told here: whoever writes one asks nothing yet. */
export function questionOf({ url, method, headers }: WrittenRequest): MatchQuestion | Misread | null {
  const address = url.trim()
  if (address === '') return null
  if (!ADDRESS.test(address)) return { in: 'url', problem: 'expected a path that begins with /, or http://host/path' }
  const pairs = readHeaders(headers)
  if (typeof pairs === 'string') return { in: 'headers', problem: pairs }
  const byName = Map.groupBy(pairs, ([name]) => name.toLowerCase())
  const lines = [...byName].map(([name, each]) => [name, each.map(([, value]) => value)] as const)
  return {
    url: address,
    ...(method.trim() !== '' && { method: method.trim().toUpperCase() }),
    ...(lines.length > 0 && { headers: Object.fromEntries(lines) }),
  }
}

const ADDRESS = /^(?:\/|https?:\/\/[^/?#\s@]+(?:[/?#]|$))/i

/** What may stand in an address: links are passed on, and stay in the history of browsers. */
export function shareableHeaders(headers: string): string {
  return headers
    .split('\n')
    .filter((line) => line.trim() !== '' && !mayBeSecretName(line.slice(0, Math.max(0, line.indexOf(':')))))
    .join('\n')
}

/** The first thing that a request lacks for a route. */
export function firstLack({ lacks }: MatchCandidate): string {
  const [first, ...rest] = lacks
  if (first === undefined) return 'fits too, but comes later'
  return `lacks ${first}${rest.length === 0 ? '' : `, and ${rest.length} more`}`
}
