import type { HeaderBlock } from '@portico/http'
import type { RateLimitState, RequestContext } from '../../../pipeline/context/request-context.ts'
import { implementBoth } from '../../../pipeline/context/step.ts'
import { conditional } from '../../../pipeline/policy/conditional.ts'
import { applyEdit } from '../../../pipeline/policy/header-edit.ts'
import { globalLimits } from './global-limits.ts'
import { localLimits } from './local-limits.ts'
import type { RateLimitConfig } from './schema.ts'

export const rateLimit = conditional(
  implementBoth<RateLimitConfig>((config, env) => {
    const local = localLimits(config.local ?? [], env)
    const global = config.global === undefined ? null : globalLimits(config.global, env)
    if (local === null && global === null) return null
    return {
      findsNothing: true,
      // The rate limit service is not called for a request that a local limit denies.
      request: (rx) => local?.take(rx) ?? global?.take(rx) ?? undefined,
      response(rx) {
        for (const edit of rx.limitHeaders) applyEdit(edit, rx.responseHeaders)
        if (rx.rateLimit !== null) tell(rx.rateLimit, rx.responseHeaders)
      },
      ...((local?.countsTokens === true || global !== null) && {
        done(rx: RequestContext) {
          const tokens = uncharged(rx)
          if (tokens > 0) local?.charge(rx, tokens)
          global?.report(rx, tokens)
        },
      }),
    }
  }),
)

/** Tokens of a call to a model that no account has seen. */
function uncharged({ llm }: RequestContext): number {
  return llm === null ? 0 : llm.totalTokens - llm.chargedTokens
}

/** Headers of a backend with its own limit stay unchanged: a mixture of both limits would be wrong. */
function tell({ limit, remaining, resetSeconds }: RateLimitState, headers: HeaderBlock): void {
  if (headers.has('x-ratelimit-limit') || headers.has('x-ratelimit-remaining') || headers.has('x-ratelimit-reset'))
    return
  headers.addChecked('x-ratelimit-limit', String(limit))
  headers.addChecked('x-ratelimit-remaining', String(remaining))
  headers.addChecked('x-ratelimit-reset', String(resetSeconds))
}
