import { resourceMetadataPath } from '../../formats/well-known.ts'
import { HeaderBlock } from '@portico/http'
import type { TokenFault } from '../../pipeline/jwt/authenticate.ts'
import { Reply } from '../../pipeline/context/reply.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { OauthConfig } from './config.ts'
import { type Resource, snakeCase } from './resource.ts'

interface Challenges {
  unauthorized: (rx: RequestContext, fault: TokenFault) => Reply
  /** Returns the challenge of a 403 response: the request needs a token with more scopes (RFC 6750 section 3.1). */
  insufficientScope: (rx: RequestContext) => string
}

/** Creates the 401 and 403 challenges of RFC 6750 section 3, with the URL of the metadata of RFC 9728 section 5.1. */
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

/** Returns the `scope` parameter with the scopes in the config; empty without scopes. */
function scopeOf(scopes: unknown): string[] {
  if (!Array.isArray(scopes) || scopes.length === 0) return []
  const isScope = (scope: unknown): boolean => typeof scope === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)
  return scopes.every(isScope) ? [`scope="${scopes.join(' ')}"`] : []
}

/** Encodes a path for a quoted string, so that it cannot end the string. */
function encoded(path: string): string {
  return path.replaceAll(/[^A-Za-z0-9/%._~!$&'()*+,;=:@-]/g, (letter) => encodeURIComponent(letter))
}
