import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import { failureReply } from '../../../pipeline/compiled/failure-reply.ts'
import { canonicalOrigin, isOwnOrigin } from '../../../pipeline/policy/own-origin.ts'
import { implement } from '../../../pipeline/context/step.ts'
import type { CsrfConfig } from './schema.ts'

export const csrf = implement<CsrfConfig>((config) => {
  const others = new Set((config.additionalOrigins ?? []).map(canonicalOrigin))
  return {
    onlyReads: true,
    request(rx) {
      const verdict = judge(rx, others)
      const isRefused = verdict === 'cross_origin' || verdict === 'contradictory'
      if (isRefused) rx.note(noteOf(verdict, rx))
      else if (rx.trace !== null) rx.trace.note(noteOf(verdict, rx))
      if (isRefused) {
        return failureReply(REFUSED, rx.headers.get('content-type'))
      }
    },
  }
})

function noteOf(code: Verdict, { headers }: RequestContext): { [name: string]: unknown } {
  return { code, origin: headers.get('origin'), site: headers.get('sec-fetch-site') }
}

const REFUSED = { status: 403, message: 'CSRF validation failed', reason: 'Csrf' } as const

type Verdict =
  | 'safe_method'
  /** Programs send neither header, and no page can make a browser leave both out. */
  | 'not_a_browser'
  | 'same_origin'
  | 'additional_origin'
  | 'cross_origin'
  /** A second line could say something else: then none is believed. */
  | 'contradictory'

function judge(rx: RequestContext, others: ReadonlySet<string>): Verdict {
  if (SAFE_METHODS.has(rx.method)) return 'safe_method'
  const { headers } = rx
  if (headers.nth('sec-fetch-site', 1) !== null || headers.nth('origin', 1) !== null) return 'contradictory'
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  if (site === null && origin === null) return 'not_a_browser'
  if (site === 'same-origin' || site === 'none') return 'same_origin'
  if (origin === null) return 'cross_origin'
  if (others.has(canonicalOrigin(origin))) return 'additional_origin'
  // Browsers know best whether two names are the same site; without their header, the origin is compared with the
  // Host header of the request.
  return site === null && isOwnOrigin(rx, rx.exchange.authority, origin) ? 'same_origin' : 'cross_origin'
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])
