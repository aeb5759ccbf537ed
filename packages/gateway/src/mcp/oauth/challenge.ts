import { resourceMetadataPath } from '../../formats/well-known.ts'
import { HeaderBlock } from '../../net/header-block.ts'
import type { TokenFault } from '../../pipeline/jwt/authenticate.ts'
import { Reply } from '../../pipeline/reply.ts'
import type { RequestContext } from '../../pipeline/request-context.ts'
import type { OauthConfig } from './config.ts'
import { type Resource, snakeCase } from './resource.ts'

/** The 401 of RFC 6750 section 3, with the way to the metadata of RFC 9728 section 5.1. */
export function createChallenge(
  { resourceMetadata }: OauthConfig,
  resource: Resource,
): (rx: RequestContext, fault: TokenFault) => Reply {
  const scopes = Object.entries(resourceMetadata).find(([name]) => snakeCase(name) === 'scopes_supported')?.[1]
  const scope = scopeOf(scopes)
  return (rx, { reason, error }) => {
    rx.error = `mcp authentication failure: ${reason}`
    const origin = resource.originOf(rx)
    const place = origin === null ? [] : [`resource_metadata="${origin}${resourceMetadataPath(encoded(rx.path))}"`]
    const fault = error === null ? [] : [`error="${error}"`, `error_description="${reason}"`]
    const headers = new HeaderBlock()
    headers.add('content-type', 'application/json')
    headers.add('www-authenticate', ['Bearer', [...place, ...fault, ...scope].join(', ')].join(' ').trimEnd())
    const description = error === null ? 'JWT token required' : reason
    const body = Buffer.from(JSON.stringify({ error: error ?? 'unauthorized', error_description: description }))
    return new Reply(401, { headers, body, reason: 'JwtAuth' })
  }
}

/** What a client may ask for, where the config says so. */
function scopeOf(scopes: unknown): string[] {
  if (!Array.isArray(scopes) || scopes.length === 0) return []
  const isScope = (scope: unknown): boolean => typeof scope === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)
  return scopes.every(isScope) ? [`scope="${scopes.join(' ')}"`] : []
}

/** The path stands in a quoted string, which it must not be able to end. */
function encoded(path: string): string {
  return path.replaceAll(/[^A-Za-z0-9/%._~!$&'()*+,;=:@-]/g, (letter) => encodeURIComponent(letter))
}
