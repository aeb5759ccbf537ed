import { type MatchCandidate, type MatchQuestion, mayBeSecretName } from '@portico/gateway/admin-api'
import { readHeaders } from '../play/headers-text.ts'

interface WrittenRequest {
  url: string
  method: string
  headers: string
}

/** A part of the form that cannot be read. */
interface InputProblem {
  in: 'url' | 'headers'
  problem: string
}

/** The question for the admin API; null while the URL is empty, and an `InputProblem` while it is incomplete. */
export function questionOf({ url, method, headers }: WrittenRequest): MatchQuestion | InputProblem | null {
  const address = url.trim()
  if (address === '') return null
  if (!ADDRESS.test(address)) return { in: 'url', problem: 'Expected a path that begins with /, or http://host/path' }
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

/** The headers without possible secrets. Links are passed on, and browsers keep them in their history. */
export function shareableHeaders(headers: string): string {
  return headers
    .split('\n')
    .filter((line) => line.trim() !== '' && !mayBeSecretName(line.slice(0, Math.max(0, line.indexOf(':')))))
    .join('\n')
}

/** The first condition of a route that the request does not meet. */
export function firstLack({ lacks }: MatchCandidate): string {
  const [first, ...rest] = lacks
  if (first === undefined) return 'matches too, but has lower precedence'
  return `lacks ${first}${rest.length === 0 ? '' : `, and ${rest.length} more`}`
}
