import type { KeyStateView } from '@portico/gateway/admin-api'

export const KEY_VIEWS = { keys: 'Keys', teams: 'Teams', changes: 'Changes' } as const
export type KeysViewName = keyof typeof KEY_VIEWS

/** The states of keys, with their names on the page. */
export const KEY_STATES: Readonly<Record<KeyStateView, string>> = {
  active: 'active',
  pending: 'not yet valid',
  expired: 'expired',
  disabled: 'disabled',
  revoked: 'revoked',
}

/** The state of the page, as its address holds it. */
export interface KeysSearch {
  /** Absent for the list of keys. */
  list?: 'teams' | 'changes'
  /** A part of the name, the owner or the prefix of keys. */
  text?: string
  state?: KeyStateView
  /** The team whose keys are listed. */
  team?: string
  /** The name after which the list begins. */
  after?: string
  /** The key that is open, or whose changes are listed. */
  key?: string
  /** The id below which the list of changes begins. */
  before?: number
}

/** Anyone can write an address: invalid values are dropped. */
export function readKeysSearch(search: Record<string, unknown>): KeysSearch {
  const list = search['list'] === 'teams' || search['list'] === 'changes' ? search['list'] : undefined
  const state = nameIn(KEY_STATES, search['state'])
  const before = Number(search['before'])
  const texts = (['text', 'team', 'after', 'key'] as const).flatMap((name): [string, string][] => {
    // A router reads the text `007` as a number.
    const value = typeof search[name] === 'number' ? String(search[name]) : search[name]
    return typeof value === 'string' && value !== '' ? [[name, value.slice(0, MOST_LENGTH)]] : []
  })
  return {
    ...Object.fromEntries(texts),
    ...(list !== undefined && { list }),
    ...(state !== undefined && { state }),
    ...(Number.isSafeInteger(before) && before > 0 && { before }),
  }
}

function nameIn<Names extends object>(names: Names, value: unknown): (keyof Names & string) | undefined {
  return typeof value === 'string' && Object.hasOwn(names, value) ? (value as keyof Names & string) : undefined
}

const MOST_LENGTH = 256
