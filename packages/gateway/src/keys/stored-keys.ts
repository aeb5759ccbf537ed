import { hash } from 'node:crypto'
import type { JsonObject } from '../pipeline/context/request-context.ts'
import { type EntryDetails, type KeyDetails, teamHash } from './entry-text.ts'
import { type FoundEntry, KEY, KeyTable, OPEN, TEAM } from './key-table.ts'
import { matcher } from './patterns.ts'

/** A key of the store, as one worker knows it. A key that changes becomes another object. */
export interface ReadyKey {
  readonly id: string
  readonly name: string
  /** Milliseconds since 1970. */
  readonly notBefore: number
  readonly expires: number
  readonly isDisabled: boolean
  /** `apiKey` in expressions. */
  readonly metadata: JsonObject
  /** Null when the key may use all models. */
  readonly models: ((name: string) => boolean) | null
  /** Null when the key may use all routes. */
  readonly routes: ReadonlySet<string> | null
  readonly own: Spender
  /** The key, its team, the parent of the team, and so on; those that have limits or budgets. */
  readonly spenders: readonly Spender[]
}

/** A key or a team with limits and budgets of its own. */
export interface Spender extends Pick<KeyDetails, 'id' | 'limits' | 'budgets' | 'models'> {
  /** Its name in responses, such as `the team support`. */
  readonly title: string
}

interface CachedKey extends FoundEntry {
  readonly teams: number
  readonly key: ReadyKey
}

/** The keys of the store as one worker reads them. */
export class StoredKeys {
  readonly #table: KeyTable
  readonly #cached = new Map<number, CachedKey>()

  constructor(buffer: SharedArrayBuffer) {
    this.#table = new KeyTable(buffer)
  }

  /** Whether keys can be checked. */
  get isOpen(): boolean {
    return this.#table.state === OPEN
  }

  /** Finds the key; null for an unknown one. */
  find(text: string): ReadyKey | null {
    const digest = hash('sha256', text, 'buffer')
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { teams } = this.#table
      const found = this.#table.find(KEY, digest)
      if (found === null) return null
      const cached = this.#cached.get(found.slot)
      if (cached?.version === found.version && cached.teams === teams) return cached.key
      const details = this.#table.read(found)
      if (details === null) continue
      const key = this.#ready(JSON.parse(details) as KeyDetails)
      // Without its team, a key would have no limits.
      if (key === null || teams !== this.#table.teams) continue
      this.#keep({ ...found, teams, key })
      return key
    }
    return null
  }

  #keep(cached: CachedKey): void {
    this.#cached.delete(cached.slot)
    const [oldest] = this.#cached.keys()
    if (this.#cached.size >= MOST_CACHED && oldest !== undefined) this.#cached.delete(oldest)
    this.#cached.set(cached.slot, cached)
  }

  #ready(details: KeyDetails): ReadyKey | null {
    const { id, name, owner, team, models, routes, notBefore, expires, tags } = details
    const teams = this.#teamsFrom(team)
    if (teams === null) return null
    const own = { ...details, title: `the key ${name}` }
    return {
      id,
      name,
      own,
      notBefore: notBefore === undefined ? -Infinity : Date.parse(notBefore),
      expires: expires === undefined ? Infinity : Date.parse(expires),
      isDisabled: details.disabled === true,
      metadata: { ...tags, name, ...(owner !== undefined && { owner }), ...(team !== undefined && { team }) },
      models: models === undefined ? null : matcher(models),
      routes: routes === undefined ? null : new Set(routes),
      spenders: [own, ...teams].filter(isLimited),
    }
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

function isLimited({ limits, budgets }: Spender): boolean {
  return limits !== undefined || budgets !== undefined
}

/** A table that changes at every look is a bug; the key is unknown then. */
const MOST_TRIES = 100
const MOST_CACHED = 4_096
/** More than teams can be nested. */
const MOST_LEVELS = 16
