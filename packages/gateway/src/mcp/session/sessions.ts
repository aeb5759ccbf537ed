import { LRUCache } from 'lru-cache'
import type { Hub } from '../hub.ts'
import { isObject, type Json, type JsonObject } from '@portico/http/json'
import { Owners } from '../owners.ts'
import { LiveSession } from './live-session.ts'
import type { Sealer } from './seal.ts'
import type { SessionState } from './state.ts'

export interface SessionsOptions {
  hub: Hub
  sealer: Sealer
  /** Milliseconds since 1970. */
  clock: () => number
}

/** Sessions by the ids that clients show. */
export class Sessions {
  readonly #hub: Hub
  readonly #sealer: Sealer
  readonly #clock: () => number
  /** What was opened lately: a client shows the same id with each request. */
  readonly #opened = new LRUCache<string, LiveSession>({ max: MOST_OPENED })
  readonly #callers = new LRUCache<string, LiveSession>({ max: MOST_OPENED, ttl: CALLER_MS })
  /** Whose names are, by caller, where no session remembers it. */
  readonly #owners = new LRUCache<string, Owners>({ max: MOST_OPENED, ttl: OWNERS_MS })
  /** Revisions of targets that name no sessions, by backend and target. */
  readonly #nameless = new LRUCache<string, string>({ max: MOST_OPENED, ttl: NAMELESS_MS })

  constructor({ hub, sealer, clock }: SessionsOptions) {
    this.#hub = hub
    this.#sealer = sealer
    this.#clock = clock
  }

  /** The session behind an id, for this caller at this backend; null when there is none for them. */
  find(id: string, backend: string, principal: string): LiveSession | null {
    const session = this.#opened.get(id) ?? this.#open(id)
    if (session === null) return null
    const { state } = session
    if (state.backend !== backend || state.principal !== principal) return null
    if (state.expiresAt * 1000 <= this.#clock() || this.#hub.isRevoked(state.key)) return null
    return session
  }

  /**
   * The id for a session that has begun. What a client says at length about itself is for the target that heard it: to
   * begin anew, less will do. What targets call the session is kept by the hub where the id has no room for it; whoever
   * does not know it there, after a restart, begins anew with those targets.
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
    throw new Error('a session without targets does not fit its id')
  }

  /** A session that no id is given out for. */
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

  /** What one caller shares with targets where the revision has no sessions, made with `state` when it is new. */
  ofCaller(key: string, state: () => SessionState): LiveSession {
    const known = this.#callers.get(key)
    if (known !== undefined && known.state.expiresAt * 1000 > this.#clock()) return known
    const session = new LiveSession(state(), this.#hub, { isPassing: false })
    this.#callers.set(key, session)
    return session
  }

  /** A session whose targets are yet to be told of it. */
  begin(state: SessionState): LiveSession {
    return new LiveSession(state, this.#hub, { isPassing: false })
  }

  /** Nobody can use it from now on, in any worker. */
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

/** Which revision, which abilities, and who: without whatever else clients say. */
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
/** A target that was changed names its sessions after that at the latest. */
const NAMELESS_MS = 60_000
/** Names may pass to other targets, and who was asked in an older revision may have learned a newer one. */
const CALLER_MS = 300_000
