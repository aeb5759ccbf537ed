import { createHash } from 'node:crypto'
import { textAt } from '@portico/http/json'
import { cookieValues } from '@portico/http/text'
import type { SessionPersistenceConfig } from '../../schema/fields/session-persistence.ts'
import type { AnsweredRequest, RequestContext, StickyEndpoint } from '../context/request-context.ts'
import type { Env } from '../context/step.ts'

/** A session as the client shows it. Times are in seconds since 1970. */
export interface Session extends StickyEndpoint {
  begunAt: number
  usedAt: number
}

/** The sessions of one route or backend, which clients carry in a cookie or a header. */
interface Sessions {
  /** Returns the session that the request shows; null when it shows none, or only sessions that have ended. */
  find(rx: RequestContext, isOurs?: (session: Session) => boolean): Session | null
  /** Gives the client a session at the endpoint that answered, unless the session `rx.sticky` is there already. */
  assign(rx: AnsweredRequest): void
}

/** `owner` is the key of the route or backend, from which the default name is made. */
export function createSessions(config: SessionPersistenceConfig, owner: string, env: Env): Sessions {
  const { type, absoluteTimeout, idleTimeout, path = '/' } = config
  const name = config.sessionName ?? defaultName(owner)
  const header = name.toLowerCase()
  const isPermanent = config.lifetimeType === 'Permanent' && absoluteTimeout !== undefined
  const tokens = tokensOf(env)
  const now = (): number => Math.floor(env.clock() / 1000)

  const isOver = ({ begunAt, usedAt }: Session): boolean =>
    (absoluteTimeout !== undefined && (now() - begunAt) * 1000 >= absoluteTimeout) ||
    (idleTimeout !== undefined && (now() - usedAt) * 1000 >= idleTimeout)

  function give(rx: AnsweredRequest, session: Session): void {
    const text = tokens.seal(session)
    if (type === 'Header') {
      rx.responseHeaders.set(header, text)
      return
    }
    const left = isPermanent ? `; Max-Age=${session.begunAt + Math.floor(absoluteTimeout / 1000) - now()}` : ''
    const secure = rx.scheme === 'https' ? '; Secure' : ''
    rx.responseHeaders.add('set-cookie', `${name}=${text}; Path=${path}${left}; HttpOnly; SameSite=Lax${secure}`)
  }

  return {
    find(rx, isOurs = () => true) {
      const shownBy = linesOf(rx, type === 'Header' ? header : 'cookie')
      const texts = type === 'Header' ? shownBy : cookieValues(shownBy, name)
      const found = texts.slice(0, MAX_TOKENS).flatMap((text) => tokens.open(text) ?? [])
      return found.find((session) => !isOver(session) && isOurs(session)) ?? null
    },
    assign(rx) {
      const { endpoint } = rx
      const backend = rx.route?.backends[rx.backendIndex]?.key
      // A response of the gateway itself does not assign the client to an endpoint.
      if (endpoint === null || backend === undefined || !rx.isFromBackend) return
      const before = rx.sticky as Session | null
      const stays = before !== null && before.backend === backend && before.endpoint === endpoint
      if (!stays) return give(rx, { backend, endpoint, begunAt: now(), usedAt: now() })
      if (idleTimeout !== undefined && before.usedAt < now()) give(rx, { ...before, usedAt: now() })
    },
  }
}

/** Adds the session of a request, or that it has none, to the trace of the request. */
export function traceSession(rx: RequestContext, session: Session | null): void {
  if (rx.trace === null) return
  if (session === null) rx.trace.skipped('no session')
  else rx.trace.note({ backend: session.backend, endpoint: session.endpoint })
}

/** Sessions of one route must not be taken for those of another. */
function defaultName(owner: string): string {
  return `portico-${createHash('sha256').update(owner).digest('hex').slice(0, 12)}`
}

function linesOf({ headers }: RequestContext, name: string): string[] {
  const lines: string[] = []
  for (let line = headers.nth(name, 0); line !== null; line = headers.nth(name, lines.length)) lines.push(line)
  return lines
}

/** Short names: a token goes with every request. */
function tokensOf({ seal }: Env): { seal(session: Session): string; open(text: string): Session | null } {
  return {
    seal: ({ backend, endpoint, begunAt, usedAt }) =>
      seal().sealAs(KIND, { b: backend, e: endpoint, s: begunAt, u: usedAt }),
    open(text) {
      const value = seal().openAs(KIND, text)
      if (value === null) return null
      const [backend, endpoint] = [textAt(value, 'b'), textAt(value, 'e')]
      const { s: begunAt, u: usedAt } = value
      if (backend === undefined || endpoint === undefined) return null
      if (typeof begunAt !== 'number' || typeof usedAt !== 'number') return null
      return { backend, endpoint, begunAt, usedAt }
    },
  }
}

const KIND = 'session persistence'
/** The most tokens of one request that are opened, because opening a token costs time. */
const MAX_TOKENS = 4
