import { hash } from 'node:crypto'
import { type EntryDetails, type OwnDetails, type SharedDetails, teamHash } from './table/entry-text.ts'
import { createKeyProfile, isLimited, type KeyProfile } from './key-profile.ts'
import { type FoundEntry, KEY, KeyTable, OPEN, TEAM } from './table/key-table.ts'
import type { ReadyKey, Spender } from './ready-key.ts'

interface CachedKey extends FoundEntry {
  readonly key: ReadyKey
}

/**
 * Reads the keys of the store in one worker. Keys that are used a second time soon, and key profiles, are cached in a
 * bounded number of bytes. A key outside of the cache costs a few microseconds more, and an unknown key never enters
 * the cache.
 */
export class StoredKeys {
  readonly #table: KeyTable
  readonly #cached = new Map<number, CachedKey>()
  /**
   * The slots of keys that were read recently. A key is cached on its second read, because a cache that is too small
   * for the keys in use would produce garbage only.
   */
  readonly #lately = new Int32Array(LATELY).fill(-1)
  /** Key profiles by the text that they were read from. */
  readonly #profiles = new Map<string, KeyProfile>()
  /** The estimated memory of the cached keys and profiles. */
  #bytes = 0
  /** The version of the teams that the cached keys and profiles were read with. */
  #teams = 0

  constructor(buffer: SharedArrayBuffer) {
    this.#table = new KeyTable(buffer)
  }

  /** Whether keys can be checked. */
  get isOpen(): boolean {
    return this.#table.state === OPEN
  }

  /** The estimated memory of cached keys. */
  get cachedBytes(): number {
    return this.#bytes
  }

  /** Finds the key; null for an unknown one. */
  find(text: string): ReadyKey | null {
    const digest = hash('sha256', text, 'buffer')
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { teams } = this.#table
      const found = this.#table.find(KEY, digest)
      if (found === null) return null
      if (teams !== this.#teams || this.#bytes > MOST_BYTES) this.#clear(teams)
      const cached = this.#cached.get(found.slot)
      if (cached?.version === found.version) return cached.key
      const details = this.#table.read(found)
      if (details === null) continue
      const end = details.indexOf('\n')
      const profile = this.#profile(details.slice(end + 1))
      // Without its team, a key would have no limits.
      if (profile === null || teams !== this.#table.teams) continue
      const key = keyOf(JSON.parse(details.slice(0, end)) as OwnDetails, profile)
      if (this.#isUsedAgain(found.slot)) {
        if (cached === undefined) this.#bytes += profile.keyBytes
        this.#cached.set(found.slot, { ...found, key })
      }
      return key
    }
    return null
  }

  #isUsedAgain(slot: number): boolean {
    const at = slot % LATELY
    if (this.#lately[at] === slot) return true
    this.#lately[at] = slot
    return false
  }

  #clear(teams: number): void {
    this.#cached.clear()
    this.#profiles.clear()
    this.#bytes = 0
    this.#teams = teams
  }

  #profile(text: string): KeyProfile | null {
    const known = this.#profiles.get(text)
    if (known !== undefined) return known
    const shared = JSON.parse(text) as SharedDetails
    const teams = this.#teamsFrom(shared.team)
    if (teams === null) return null
    const profile = createKeyProfile(shared, teams)
    this.#profiles.set(text, profile)
    this.#bytes += text.length * PARSED_BYTES + profile.keyBytes
    return profile
  }

  /** The team with that name, its parent, and so on; null when one of them is missing. */
  #teamsFrom(name: string | undefined): Spender[] | null {
    const teams: Spender[] = []
    for (let next = name; next !== undefined;) {
      const found = teams.length < MOST_LEVELS ? this.#table.find(TEAM, teamHash(next)) : null
      const text = found === null ? null : this.#table.read(found)
      if (text === null) return null
      const details = JSON.parse(text) as EntryDetails
      teams.push({ ...details, title: `the team ${details.name}` })
      next = details.team
    }
    return teams
  }
}

function keyOf({ id, name, owner, notBefore, expires }: OwnDetails, profile: KeyProfile): ReadyKey {
  const { shared, teams, isDisabled, models, routes } = profile
  const { tags, team, limits, budgets } = shared
  const own = { id, title: `the key ${name}`, limits, budgets, models: shared.models }
  return {
    id,
    name,
    own,
    notBefore: notBefore === undefined ? -Infinity : Date.parse(notBefore),
    expires: expires === undefined ? Infinity : Date.parse(expires),
    isDisabled,
    metadata: { ...tags, name, ...(owner !== undefined && { owner }), ...(team !== undefined && { team }) },
    models,
    routes,
    spenders: isLimited(own) ? [own, ...teams] : teams,
    accounts: null,
  }
}

/** A table that changes at every look is a bug; the key is unknown then. */
const MOST_TRIES = 100
/** The most memory of cached keys in one worker, in bytes; enough for about 3,000 keys with a limit and a budget. */
const MOST_BYTES = 4 * 1024 * 1024
/** The number of recently read slots, which is more than the keys that the cache has room for. */
const LATELY = 4_096
/** The memory of a profile for each character of its text, in bytes, including the parsed form. */
const PARSED_BYTES = 8
/** More than teams can be nested. */
const MOST_LEVELS = 16
