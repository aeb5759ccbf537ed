import { implement } from '../../../pipeline/context/step.ts'
import type { HostRewriteConfig } from './schema.ts'

export const hostRewrite = implement<HostRewriteConfig>((config) => {
  const rewrite = config.mode === 'Auto'
  return {
    request: (rx) => {
      rx.hostRewrite = rewrite
    },
  }
})
