import { HeaderBlock } from '@portico/http'
import { Reply } from '../../../pipeline/context/reply.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import { rewriteTarget, splitAuthority } from '../../../pipeline/route/rewrite.ts'
import { implement } from '../../../pipeline/context/step.ts'
import type { RequestRedirectConfig } from './schema.ts'

export const requestRedirect = implement<RequestRedirectConfig>((config) => ({
  request: (rx) =>
    new Reply(config.status, {
      headers: HeaderBlock.of([['location', location(rx, config)]]),
      reason: 'DirectResponse',
    }),
}))

/** Always absolute; default ports are left out. */
function location(rx: RequestContext, config: RequestRedirectConfig): string {
  const scheme = config.scheme ?? rx.scheme
  const target = config.path === undefined ? currentTarget(rx) : rewriteTarget(rx, config.path)
  return `${scheme}://${withoutDefaultPort(redirectAuthority(rx, config), scheme)}${target}`
}

/** Without what authentication took off. */
function currentTarget(rx: RequestContext): string {
  return rx.query === '' ? rx.path : `${rx.path}?${rx.query}`
}

function redirectAuthority(rx: RequestContext, config: RequestRedirectConfig): string {
  const authority = config.authority
  if (authority?.full !== undefined) return authority.full
  const { host, port } = splitAuthority(rx.authority)
  if (authority?.port !== undefined) return `${host}:${authority.port}`
  const newHost = authority?.host ?? host
  // A new scheme has its own port; without one the client's stays.
  return port === undefined || config.scheme !== undefined ? newHost : `${newHost}:${port}`
}

function withoutDefaultPort(authority: string, scheme: string): string {
  return authority.replace(scheme === 'https' ? /:443$/ : /:80$/, '')
}
