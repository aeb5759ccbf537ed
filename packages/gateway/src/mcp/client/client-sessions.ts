import { createHash } from 'node:crypto'
import type { JsonObject } from '@portico/http/json'
import type { HeaderBlock } from '@portico/http'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import { VERSION } from '../../version.ts'
import type { Endpoint } from '../engine/endpoint.ts'
import { carriedAbilities } from '../questions.ts'
import type { RpcId } from '../message.ts'
import { LATEST_WITH_SESSIONS, META } from '../revisions.ts'
import type { LiveSession } from '../session/live-session.ts'
import { principalOf } from '../session/principal.ts'
import type { SessionState } from '../session/state.ts'
import type { Refusals } from './refusals.ts'

/** The sessions that one request can have to do with: those of its caller. */
export class ClientSessions {
  readonly #endpoint: Endpoint
  readonly #principal: string

  constructor(endpoint: Endpoint, rx: RequestContext) {
    this.#endpoint = endpoint
    this.#principal = principalOf(rx)
  }

  /** The one behind an id; null when there is none for this caller. */
  find(id: string): LiveSession | null {
    return this.#endpoint.sessions.find(id, this.#endpoint.backend, this.#principal)
  }

  /** The one that the header names, for a request of this id; null when there is none, and the client knows. */
  named(headers: HeaderBlock, refuse: () => Refusals, request: RpcId | null): LiveSession | null {
    const id = headers.joined('mcp-session-id')
    const session = id === null ? null : this.find(id)
    if (id === null) refuse().badRequest(request, 'Mcp-Session-Id header is required')
    else if (session === null) refuse().sessionNotFound(request)
    return session
  }

  /** For an `initialize`. */
  begin(params: JsonObject): LiveSession {
    const { sessions, isStateful } = this.#endpoint
    const state = this.#newState('', params)
    return isStateful ? sessions.begin(state) : sessions.passing(state)
  }

  /** For one request, where clients get no ids. */
  passing(version: string): LiveSession {
    return this.#endpoint.sessions.passing(this.#ownState(version || LATEST_WITH_SESSIONS))
  }

  /** No session, but targets of older revisions need one: it is the caller's. */
  ofCaller(version: string, meta: JsonObject): LiveSession {
    const { backend, sessions, targets } = this.#endpoint
    // What one client can be asked must not be asked of another.
    const capabilities = carriedAbilities(meta[META.capabilities])
    const parts = [backend, this.#principal, version, JSON.stringify(capabilities)]
    const caller = createHash('sha256').update(parts.join('\0')).digest('base64url')
    return sessions.ofCaller(caller, () => {
      const { [META.clientInfo]: clientInfo = GATEWAY } = meta
      const params = { protocolVersion: LATEST_WITH_SESSIONS, capabilities, clientInfo }
      // A program cannot refuse what it was not told of by a status: it is asked for its revision first.
      const assumed = targets.filter(({ transport }) => transport.isOneCaller !== true)
      const known = assumed.map(({ name }) => ({ name, session: '', version }))
      return { ...this.#newState(version, params), key: `caller-${caller}`, targets: known }
    })
  }

  /** With an id, before the client has said anything. */
  ahead(version: string): { id: string; session: LiveSession } {
    const id = this.#endpoint.sessions.admit(this.#ownState(version))
    return { id, session: this.find(id)! }
  }

  /** The gateway speaks to targets in its own name. */
  #ownState(version: string): SessionState {
    return this.#newState(version, { protocolVersion: version, capabilities: {}, clientInfo: GATEWAY })
  }

  #newState(version: string, initialize: JsonObject): SessionState {
    const { backend, clock, lifetimeMs, newKey } = this.#endpoint
    return {
      key: newKey(),
      backend,
      principal: this.#principal,
      expiresAt: Math.ceil((clock() + lifetimeMs) / 1000),
      version,
      initialize,
      targets: [],
    }
  }
}

const GATEWAY = { name: 'portico', version: VERSION }
