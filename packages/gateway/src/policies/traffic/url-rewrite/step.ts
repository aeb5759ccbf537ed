import { rewriteAuthority, rewriteTarget } from '../../../pipeline/route/rewrite.ts'
import { implement } from '../../../pipeline/context/step.ts'
import type { UrlRewriteConfig } from './schema.ts'

export const urlRewrite = implement<UrlRewriteConfig>((config) => {
  const { authority, path } = config
  return {
    request(rx) {
      if (path !== undefined) rx.upstreamTarget = rewriteTarget(rx, path)
      if (authority !== undefined) rx.upstreamAuthority = rewriteAuthority(rx.authority, authority)
    },
  }
})
