import { createHash } from 'node:crypto'
import { cookieValues } from '@portico/http/text'
import type { AnsweredRequest, RequestContext, StickyEndpoint } from '../../../pipeline/context/request-context.ts'
import { type Env, implementBoth } from '../../../pipeline/context/step.ts'
import { textAt } from '@portico/http/json'
import type { SessionPersistenceConfig } from './schema.ts'

/** A session as the client shows it. Times are in seconds since 1970. */
interface Token extends StickyEndpoint {
  begunAt: number
  usedAt: number
}

export const sessionPersistence = implementBoth<SessionPersistenceConfig>((config, env) => {
  const { type, absoluteTimeout, idleTimeout, path = '/' } = config
  const name = config.sessionName ?? defaultName(env.attachment)
  const header = name.toLowerCase()
  const isPermanent = config.lifetimeType === 'Permanent' && absoluteTimeout !== undefined
  const tokens = tokensOf(env)
  const now = (): number => Math.floor(env.clock() / 1000)

  const isOver = ({ begunAt, usedAt }: Token): boolean =>
    (absoluteTimeout !== undefined && (now() - begunAt) * 1000 >= absoluteTimeout) ||
    (idleTimeout !== undefined && (now() - usedAt) * 1000 >= idleTimeout)

  function shown(rx: RequestContext): Token | null {
    const shownBy = linesOf(rx, type === 'Header' ? header : 'cookie')
    const texts = type === 'Header' ? shownBy : cookieValues(shownBy, name)
    const found = texts.slice(0, MAX_TOKENS).flatMap((text) => tokens.open(text) ?? [])
    return found.find((token) => !isOver(token)) ?? null
  }

  function give(rx: AnsweredRequest, token: Token): void {
    const text = tokens.seal(token)
    if (type === 'Header') {
      rx.responseHeaders.set(header, text)
      return
    }
    const left = isPermanent ? `; Max-Age=${token.begunAt + Math.floor(absoluteTimeout / 1000) - now()}` : ''
    const secure = rx.scheme === 'https' ? '; Secure' : ''
    rx.responseHeaders.add('set-cookie', `${name}=${text}; Path=${path}${left}; HttpOnly; SameSite=Lax${secure}`)
  }

  return {
    request(rx) {
      const token = shown(rx)
      rx.sticky = token
      if (rx.trace === null) return
      if (token === null) rx.trace.skipped('no session')
      else rx.trace.note({ backend: token.backend, endpoint: token.endpoint })
    },
    response(rx) {
      const { endpoint } = rx
      const backend = rx.route?.backends[rx.backendIndex]?.key
      // A response of the gateway itself does not assign the client to an endpoint.
      if (endpoint === null || backend === undefined || !rx.isFromBackend) return
      const place = { backend, endpoint }
      const before = rx.sticky as Token | null
      const stays = before !== null && before.backend === place.backend && before.endpoint === place.endpoint
      if (!stays) return give(rx, { ...place, begunAt: now(), usedAt: now() })
      if (idleTimeout !== undefined && before.usedAt < now()) give(rx, { ...before, usedAt: now() })
    },
  }
})

/** Sessions of one route must not be taken for those of another. */
function defaultName(attachment: string): string {
  return `portico-${createHash('sha256').update(attachment).digest('hex').slice(0, 12)}`
}

function linesOf({ headers }: RequestContext, name: string): string[] {
  const lines: string[] = []
  for (let line = headers.nth(name, 0); line !== null; line = headers.nth(name, lines.length)) lines.push(line)
  return lines
}

/** Short names: it goes with every request. */
function tokensOf({ seal }: Env): { seal(token: Token): string; open(text: string): Token | null } {
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
