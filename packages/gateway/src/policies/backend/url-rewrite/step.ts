import type { BackendStep } from '../../../pipeline/context/outgoing.ts'
import { rewriteAuthority, rewriteTarget } from '../../../pipeline/route/rewrite.ts'
import type { BackendUrlRewriteConfig } from './schema.ts'

export function backendUrlRewrite({ authority, path }: BackendUrlRewriteConfig): BackendStep {
  return {
    request(outgoing, rx) {
      // The target of CONNECT is an authority, not a path.
      if (path !== undefined && outgoing.method !== 'CONNECT') outgoing.target = rewriteTarget(rx, path)
      if (authority !== undefined) outgoing.authority = rewriteAuthority(rx.authority, authority)
    },
  }
}
