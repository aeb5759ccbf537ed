import { LRUCache } from 'lru-cache'
import type { Hub } from '../hub.ts'
import { isObject, type Json, type JsonObject } from '@portico/http/json'
import { Owners } from '../owners.ts'
import { LiveSession } from './live-session.ts'
import type { Sealer } from './seal.ts'
import type { SessionState } from './state.ts'

interface SessionsOptions {
  hub: Hub
  sealer: Sealer
  /** Milliseconds since 1970. */
  clock: () => number
}

/** The sessions of clients, by session id. */
export class Sessions {
  readonly #hub: Hub
  readonly #sealer: Sealer
  readonly #clock: () => number
  /** Recently used sessions: a client sends the same id with each request. */
  readonly #opened = new LRUCache<string, LiveSession>({ max: MOST_OPENED })
  readonly #callers = new LRUCache<string, LiveSession>({ max: MOST_OPENED, ttl: CALLER_MS })
  /** The targets of item names, by backend and caller, for sessions that last for one request. */
  readonly #owners = new LRUCache<string, Owners>({ max: MOST_OPENED, ttl: OWNERS_MS })
  /** The revisions of targets that give out no session ids, by backend and target. */
  readonly #nameless = new LRUCache<string, string>({ max: MOST_OPENED, ttl: NAMELESS_MS })

  constructor({ hub, sealer, clock }: SessionsOptions) {
    this.#hub = hub
    this.#sealer = sealer
    this.#clock = clock
  }

  /** Returns the session with this id; null when it expired, ended, or belongs to another caller or backend. */
  find(id: string, backend: string, principal: string): LiveSession | null {
    const session = this.#opened.get(id) ?? this.#open(id)
    if (session === null) return null
    const { state } = session
    if (state.backend !== backend || state.principal !== principal) return null
    if (state.expiresAt * 1000 <= this.#clock() || this.#hub.isRevoked(state.key)) return null
    return session
  }

  /**
   * Returns the id of a session that has begun. The id contains the sealed state. If it gets too long, the client's info is
   * shortened first; then session ids of targets move to the hub, which loses them on a restart: those targets are then
   * initialized again.
   */
  admit(state: SessionState): string {
    const short = { ...state, initialize: shortened(state.initialize) }
    const id = this.#sealer.seal(state) ?? this.#sealer.seal(short) ?? this.#admitInParts(short)
    this.#opened.set(id, new LiveSession(state, this.#hub, { isPassing: false }))
    return id
  }

  #admitInParts(state: SessionState): string {
    const { key, expiresAt, targets } = state
    const byLength = targets.toSorted((first, second) => first.session.length - second.session.length)
    for (let room = byLength.length - 1; room >= 0; room -= 1) {
      const id = this.#sealer.seal({ ...state, targets: byLength.slice(0, room) })
      if (id === null) continue
      for (const { name, session, version } of byLength.slice(room)) {
        this.#hub.setTargetSession(key, name, JSON.stringify({ session, version }), expiresAt * 1000)
      }
      return id
    }
    throw new Error('the session state is too large for a session id')
  }

  /** Returns a session without an id, which lasts for one request. */
  passing(state: SessionState): LiveSession {
    const { backend, principal } = state
    const caller = `${backend} ${principal}`
    const owners = this.#owners.get(caller) ?? new Owners()
    this.#owners.set(caller, owners)
    const nameless = {
      versionOf: (target: string) => this.#nameless.get(`${backend} ${target}`),
      add: (target: string, version: string) => void this.#nameless.set(`${backend} ${target}`, version),
    }
    return new LiveSession(state, this.#hub, { isPassing: true, owners, nameless })
  }

  /** Returns the session of a caller whose revision has no sessions; `state` creates the state of a new one. */
  ofCaller(key: string, state: () => SessionState): LiveSession {
    const known = this.#callers.get(key)
    if (known !== undefined && known.state.expiresAt * 1000 > this.#clock()) return known
    const session = new LiveSession(state(), this.#hub, { isPassing: false })
    this.#callers.set(key, session)
    return session
  }

  /** Returns a new session that no target knows yet. */
  begin(state: SessionState): LiveSession {
    return new LiveSession(state, this.#hub, { isPassing: false })
  }

  /** Revokes the session in every worker. */
  async end(session: LiveSession): Promise<void> {
    const { key, expiresAt } = session.state
    await this.#hub.revoke(key, expiresAt * 1000)
  }

  #open(id: string): LiveSession | null {
    const state = this.#sealer.open(id)
    if (state === null) return null
    const session = new LiveSession(state, this.#hub, { isPassing: false })
    this.#opened.set(id, session)
    return session
  }
}

/** Reduces `initialize` params to the revision, the known capabilities, and the client's name and version. */
function shortened({ protocolVersion = '', capabilities, clientInfo }: JsonObject): JsonObject {
  const abilities = Object.keys(isObject(capabilities) ? capabilities : {}).filter((name) => KNOWN_ABILITIES.has(name))
  const { name = '', version = '' } = isObject(clientInfo) ? clientInfo : {}
  const cut = (value: Json): string => (typeof value === 'string' ? value.slice(0, 128) : '')
  return {
    protocolVersion: cut(protocolVersion),
    capabilities: Object.fromEntries(abilities.map((ability) => [ability, {}])),
    clientInfo: { name: cut(name), version: cut(version) },
  }
}

const KNOWN_ABILITIES = new Set(['roots', 'sampling', 'elicitation', 'tasks'])
const MOST_OPENED = 10_000
const OWNERS_MS = 60_000
/** How long a target is assumed to give out no session ids. */
const NAMELESS_MS = 60_000
/** How long a caller's session is reused: items may move to other targets, and targets may learn newer revisions. */
const CALLER_MS = 300_000
