import { implement } from '../../../pipeline/context/step.ts'
import type { TimeoutsConfig } from './schema.ts'

export const timeouts = implement<TimeoutsConfig>((config) => {
  const limit = config.request
  if (limit === undefined) return null
  return {
    request: (rx) => {
      rx.requestTimeoutMs = limit
    },
  }
})
