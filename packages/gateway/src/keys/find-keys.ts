import type { KeyPage, KeyStore, StoredKey } from '../stores/key-store.ts'

/** Whether a key may be used now, and why not. */
export const KEY_STATES = ['active', 'pending', 'disabled', 'expired', 'revoked'] as const
type KeyState = (typeof KEY_STATES)[number]

/** A question for keys, in the order of names. All conditions must hold. */
export interface KeySearch extends KeyPage {
  /** A part of the name, the owner or a prefix, in any case; empty for all keys. */
  readonly text: string
  readonly state: KeyState | null
}

/** A page of the keys that were found. */
export interface FoundKeys {
  readonly keys: readonly StoredKey[]
  /** The name after which the search goes on; null at the end. */
  readonly next: string | null
}

/** The state of a key; `now` is RFC 3339 in UTC, as all times of keys are. */
export function stateOf({ fields, revoked }: StoredKey, now: string): KeyState {
  if (revoked !== undefined) return 'revoked'
  if (fields.disabled === true) return 'disabled'
  if (fields.expires !== undefined && fields.expires <= now) return 'expired'
  return fields.notBefore !== undefined && fields.notBefore > now ? 'pending' : 'active'
}

/** Reads keys until the page is full. One call reads a bounded number of keys, so its page may have fewer, or none. */
export async function findKeys(store: KeyStore, search: KeySearch, now: string): Promise<FoundKeys> {
  const { limit, team } = search
  const isAll = search.text === '' && search.state === null
  const keys: StoredKey[] = []
  let { after } = search
  for (let seen = 0; seen < MOST_READ;) {
    // One more key says whether there is another page.
    const most = isAll ? limit - keys.length + 1 : READ_AT_ONCE
    const page = await store.keys({ after, team, limit: most })
    for (const key of page) {
      if (keys.length === limit) return { keys, next: after }
      if (isFound(key, search, now)) keys.push(key)
      after = key.name
    }
    if (page.length < most) return { keys, next: null }
    seen += page.length
  }
  return { keys, next: after }
}

function isFound(key: StoredKey, { text, state }: KeySearch, now: string): boolean {
  if (state !== null && stateOf(key, now) !== state) return false
  if (text === '') return true
  const part = text.toLowerCase()
  const { name, fields, secrets } = key
  return [name, fields.owner ?? '', ...secrets.map(({ prefix }) => prefix)].some((value) =>
    value.toLowerCase().includes(part),
  )
}

const READ_AT_ONCE = 1_000
/** The thread of the store does nothing else meanwhile. */
const MOST_READ = 20_000
