import { HeaderBlock } from '@portico/http'
import { Reply } from '../../../pipeline/context/reply.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { RequestTrace } from '../../../pipeline/context/trace.ts'
import { isOwnOrigin } from '../../../pipeline/policy/own-origin.ts'
import { implementBoth } from '../../../pipeline/context/step.ts'
import { originMatcher } from './origin.ts'
import type { CorsConfig } from './schema.ts'

export const cors = implementBoth<CorsConfig>((config) => {
  const isAllowed = originMatcher(config.allowOrigins ?? [])
  const methods = listAnswer(config.allowMethods ?? [])
  const headers = listAnswer((config.allowHeaders ?? []).map((name) => name.toLowerCase()))
  const exposed = (config.exposeHeaders ?? []).join(',')
  const maxAge = config.maxAge === undefined ? '' : String(Math.floor(config.maxAge / 1000))
  const credentials = config.allowCredentials

  function grant(answer: HeaderBlock, origin: string): void {
    answer.set('access-control-allow-origin', origin)
    if (credentials) answer.set('access-control-allow-credentials', 'true')
    if (exposed !== '') answer.set('access-control-expose-headers', exposed)
  }

  function preflight(rx: RequestContext, origin: string): Reply {
    const answer = new HeaderBlock()
    const method = rx.headers.joined('access-control-request-method') ?? ''
    const asked = rx.headers.joined('access-control-request-headers') ?? ''
    if (isAllowed(origin)) {
      grant(answer, origin)
      const allowed = methods(method, credentials)
      if (allowed !== '') answer.set('access-control-allow-methods', allowed)
      const allowedHeaders = headers(asked, credentials)
      if (allowedHeaders !== '') answer.set('access-control-allow-headers', allowedHeaders)
      if (maxAge !== '') answer.set('access-control-max-age', maxAge)
      // Browsers allow the simple methods in any case, so only other methods are checked.
      if (!SIMPLE_METHODS.has(method) && !has(allowed, method)) rx.note(refused('method', method))
      else if (!asked.split(',').every((name) => has(allowedHeaders, name))) rx.note(refused('headers', asked))
    } else rx.note(refused('origin', origin))
    return new Reply(200, { headers: answer, reason: 'DirectResponse' })
  }

  function request(rx: RequestContext): Reply | undefined {
    const origin = rx.headers.get('origin')
    if (rx.trace !== null) note(rx.trace, origin, isAllowed)
    if (origin === null || rx.method !== 'OPTIONS') return undefined
    const asked = rx.headers.get('access-control-request-method')
    return asked !== null && asked !== '' ? preflight(rx, origin) : undefined
  }

  return {
    onlyReads: true,
    request,
    /**
     * The enforced policy passes a request from a disallowed origin and leaves out CORS headers, so the browser denies
     * the page the response.
     */
    judge(rx) {
      const reply = request(rx)
      const origin = rx.headers.get('origin')
      if (reply !== undefined || origin === null || isAllowed(origin)) return reply
      if (isOwnOrigin(rx, rx.exchange.authority, origin)) return undefined
      rx.note(refused('origin', origin))
      return new Reply(200, { reason: 'DirectResponse' })
    },
    response(rx) {
      const origin = rx.headers.get('origin')
      const answer = rx.responseHeaders
      // The answer depends on Origin even where it is refused: a cache must not mix them up.
      const vary = answer.joined('vary')
      if (vary === null || !/(^|,)\s*(origin|\*)\s*(,|$)/i.test(vary)) answer.add('vary', 'origin')
      if (origin !== null && isAllowed(origin)) grant(answer, origin)
    },
  }
})

/** The reason for records; browsers only get a response without CORS headers. */
function refused(lacks: 'origin' | 'method' | 'headers', asked: string): { [name: string]: unknown } {
  const noted = asked.slice(0, MAX_NOTED)
  return { code: 'cors_refused', lacks, asked: noted, reason: `${lacks} ${noted} not allowed` }
}

const MAX_NOTED = 400
const SIMPLE_METHODS = new Set(['GET', 'HEAD', 'POST'])

function has(allowed: string, asked: string): boolean {
  const wanted = asked.trim().toLowerCase()
  return wanted === '' || allowed.split(',').some((name) => name.trim() === '*' || name.trim().toLowerCase() === wanted)
}

function note(trace: RequestTrace, origin: string | null, isAllowed: (origin: string) => boolean): void {
  if (origin === null) trace.skipped('no Origin header')
  else trace.note({ origin, allowed: isAllowed(origin) })
}

/** The value for a preflight response: the configured list, or the requested values when the list contains `*`. */
function listAnswer(configured: readonly string[]): (asked: string | null, credentials: boolean) => string {
  if (!configured.includes('*')) return () => configured.join(',')
  return (asked, credentials) => {
    if (asked !== null && asked !== '')
      return asked
        .split(',')
        .map((name) => name.trim())
        .join(', ')
    return credentials ? '' : '*'
  }
}
