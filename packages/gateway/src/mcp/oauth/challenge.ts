import { resourceMetadataPath } from '../../formats/well-known.ts'
import { HeaderBlock } from '@portico/http'
import type { TokenFault } from '../../pipeline/jwt/authenticate.ts'
import { Reply } from '../../pipeline/context/reply.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { OauthConfig } from './config.ts'
import { type Resource, snakeCase } from './resource.ts'

export interface Challenges {
  unauthorized: (rx: RequestContext, fault: TokenFault) => Reply
  /** What RFC 6750 section 3.1 has a 403 say: with another scope the same request would pass. */
  insufficientScope: (rx: RequestContext) => string
}

/** The 401 of RFC 6750 section 3, with the way to the metadata of RFC 9728 section 5.1. */
export function createChallenges({ resourceMetadata }: OauthConfig, resource: Resource): Challenges {
  const scopes = Object.entries(resourceMetadata).find(([name]) => snakeCase(name) === 'scopes_supported')?.[1]
  const scope = scopeOf(scopes)
  const challenge = (rx: RequestContext, error: string | null, description: string): string => {
    const origin = resource.originOf(rx)
    const place = origin === null ? [] : [`resource_metadata="${origin}${resourceMetadataPath(encoded(rx.path))}"`]
    const fault = error === null ? [] : [`error="${error}"`, `error_description="${description}"`]
    return ['Bearer', [...place, ...fault, ...scope].join(', ')].join(' ').trimEnd()
  }
  return {
    unauthorized(rx, { reason, error }) {
      rx.error = `mcp authentication failure: ${reason}`
      const headers = new HeaderBlock()
      headers.add('content-type', 'application/json')
      headers.add('www-authenticate', challenge(rx, error, reason))
      const description = error === null ? 'JWT token required' : reason
      const body = Buffer.from(JSON.stringify({ error: error ?? 'unauthorized', error_description: description }))
      return new Reply(401, { headers, body, reason: 'JwtAuth' })
    },
    insufficientScope: (rx) => challenge(rx, 'insufficient_scope', 'the token lacks a scope that this request needs'),
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
