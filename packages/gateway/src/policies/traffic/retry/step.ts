import type { RetryRule } from '../../../pipeline/context/request-context.ts'
import { implement } from '../../../pipeline/context/step.ts'
import type { RetryConfig } from './schema.ts'

export const retry = implement<RetryConfig>((config) => {
  const rule: RetryRule = {
    attempts: config.attempts,
    backoffMs: config.backoff ?? 0,
    codes: new Set(config.codes),
  }
  return {
    request: (rx) => {
      rx.retry = rule
    },
  }
})
