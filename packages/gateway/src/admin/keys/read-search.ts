import type { ChangeSearch } from '../../keys/find-changes.ts'
import { KEY_STATES, type KeySearch } from '../../keys/find-keys.ts'

/** Reads the parameters of `/api/keys`; returns the problem as a text. */
export function readKeySearch(query: URLSearchParams): KeySearch | string {
  const problem = unknownParameter(query, ['text', 'state', 'team', 'after', 'limit'])
  if (problem !== null) return problem
  const limit = readLimit(query)
  if (typeof limit === 'string') return limit
  const state = query.get('state')
  const known = KEY_STATES.find((each) => each === state) ?? null
  if (state !== known) return `state: found ${JSON.stringify(state)}, expected ${KEY_STATES.join(', ')}`
  const [after, text] = [query.get('after') ?? '', query.get('text') ?? '']
  return { after, limit, text, state: known, team: query.get('team') }
}

/** Reads the parameters of `/api/audit`; returns the problem as a text. */
export function readChangeSearch(query: URLSearchParams): ChangeSearch | string {
  const problem = unknownParameter(query, ['kind', 'name', 'before', 'limit'])
  if (problem !== null) return problem
  const limit = readLimit(query)
  if (typeof limit === 'string') return limit
  const before = numberIn(query, 'before', Number.MAX_SAFE_INTEGER)
  if (before === null) return 'before: expected the id of an entry'
  const kind = query.get('kind')
  const known = KINDS.find((each) => each === kind) ?? null
  if (kind !== known) return `kind: expected ${KINDS.join(', ')}`
  return { before, limit, kind: known, name: query.get('name') }
}

function unknownParameter(query: URLSearchParams, known: readonly string[]): string | null {
  const name = [...query.keys()].find((each) => !known.includes(each))
  if (name === undefined) return null
  return `unknown parameter ${JSON.stringify(name)}, expected ${known.map((each) => `?${each}=`).join(', ')}`
}

function readLimit(query: URLSearchParams): number | string {
  const limit = numberIn(query, 'limit', PAGE) ?? 0
  return limit >= 1 && limit <= MOST_LISTED ? limit : `limit: expected a number from 1 to ${MOST_LISTED}`
}

/** Null for a text that is no number. */
function numberIn(query: URLSearchParams, name: string, unset: number): number | null {
  const value = query.get(name)
  if (value === null) return unset
  return /^\d{1,15}$/.test(value) ? Number(value) : null
}

const KINDS = ['key', 'team', 'price', 'cache', 'rehearsal'] as const
const PAGE = 100
const MOST_LISTED = 1_000
