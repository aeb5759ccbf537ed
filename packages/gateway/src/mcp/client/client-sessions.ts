import { createHash } from 'node:crypto'
import type { JsonObject } from '@portico/http/json'
import type { HeaderBlock } from '@portico/http'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import { VERSION } from '../../version.ts'
import type { Endpoint } from '../engine/endpoint.ts'
import { carriedAbilities } from '../questions.ts'
import { type RpcId, LATEST_WITH_SESSIONS, META } from '../protocol.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { SessionState } from '../session/state.ts'
import type { Refusals } from './refusals.ts'

/** The sessions of the caller of one request. */
export class ClientSessions {
  readonly #endpoint: Endpoint
  readonly #principal: string

  constructor(endpoint: Endpoint, rx: RequestContext) {
    this.#endpoint = endpoint
    this.#principal = principalOf(rx)
  }

  /** Returns the session with this id; null when the caller has no such session. */
  find(id: string): LiveSession | null {
    return this.#endpoint.sessions.find(id, this.#endpoint.backend, this.#principal)
  }

  /** Returns the session of the `Mcp-Session-Id` header; null after it has refused the request with the id `request`. */
  named(headers: HeaderBlock, refuse: () => Refusals, request: RpcId | null): LiveSession | null {
    const id = headers.joined('mcp-session-id')
    const session = id === null ? null : this.find(id)
    if (id === null) refuse().badRequest(request, 'Mcp-Session-Id header is required')
    else if (session === null) refuse().sessionNotFound(request)
    return session
  }

  /** Returns a new session for an `initialize` request with these params. */
  begin(params: JsonObject): LiveSession {
    const { sessions, isStateful } = this.#endpoint
    const state = this.#newState('', params)
    return isStateful ? sessions.begin(state) : sessions.passing(state)
  }

  /** Returns a session that lasts for one request, for backends that give out no session ids. */
  passing(version: string): LiveSession {
    return this.#endpoint.sessions.passing(this.#ownState(version || LATEST_WITH_SESSIONS))
  }

  /** Returns the session that targets of older revisions need for a client of a revision without sessions: one per caller. */
  ofCaller(version: string, meta: JsonObject): LiveSession {
    const { backend, sessions, targets } = this.#endpoint
    // Clients with different capabilities must not share a session: targets would send them unsupported requests.
    const capabilities = carriedAbilities(meta[META.capabilities])
    const parts = [backend, this.#principal, version, JSON.stringify(capabilities)]
    const caller = createHash('sha256').update(parts.join('\0')).digest('base64url')
    return sessions.ofCaller(caller, () => {
      const { [META.clientInfo]: clientInfo = GATEWAY } = meta
      const params = { protocolVersion: LATEST_WITH_SESSIONS, capabilities, clientInfo }
      // Shared transports, such as a process, have no HTTP status to refuse an unknown session: they are initialized first.
      const assumed = targets.filter(({ transport }) => transport.isOneCaller !== true)
      const known = assumed.map(({ name }) => ({ name, session: '', version }))
      return { ...this.#newState(version, params), key: `caller-${caller}`, targets: known }
    })
  }

  /** Creates a session with an id before the client has sent a message, as the transport of 2024-11-05 needs. */
  ahead(version: string): { id: string; session: LiveSession } {
    const id = this.#endpoint.sessions.admit(this.#ownState(version))
    return { id, session: this.find(id)! }
  }

  /** Returns a state in which the gateway itself is the client of the targets. */
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

/** Returns the owner of a session, as client authentication knows it: others cannot use a stolen session id. */
export function principalOf({
  jwt,
  apiKeyName,
  basicAuth,
}: Pick<RequestContext, 'jwt' | 'apiKeyName' | 'basicAuth'>): string {
  if (jwt === null && apiKeyName === null && basicAuth === null) return ANYBODY
  const parts = {
    ...(jwt !== null && { jwt: subjectOf(jwt) }),
    ...(apiKeyName !== null && { apiKey: apiKeyName }),
    ...(basicAuth !== null && { username: basicAuth.username }),
  }
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)
}

/** Returns the subject of a token, which stays the same when the token is renewed during a session. */
function subjectOf(jwt: NonNullable<RequestContext['jwt']>): object {
  // The subject includes the claim's name: one value may be a client in one claim and a user in another.
  for (const claim of ['sub', 'client_id', 'azp']) {
    if (jwt[claim] !== undefined) return { iss: jwt.iss ?? null, [claim]: jwt[claim] }
  }
  const rest = Object.entries(jwt).filter(([claim]) => !RENEWED.has(claim))
  return Object.fromEntries(rest.toSorted(([first], [second]) => (first < second ? -1 : 1)))
}

const ANYBODY = ''
/** Claims that differ between tokens of the same client. */
const RENEWED = new Set(['exp', 'iat', 'nbf', 'jti', 'auth_time', 'nonce', 'at_hash', 'uti'])
