import { createHash } from 'node:crypto'
import type { JsonObject, RequestContext } from '../../pipeline/context/request-context.ts'

/** Whose session it is: the caller as client authentication knows it, so that a stolen id is of no use to others. */
export function principalOf({
  jwt,
  apiKeyName,
  basicAuth,
}: Pick<RequestContext, 'jwt' | 'apiKeyName' | 'basicAuth'>): string {
  if (jwt === null && apiKeyName === null && basicAuth === null) return ANYBODY
  const parts = {
    ...(jwt !== null && { jwt: subjectOf(jwt) }),
    ...(apiKeyName !== null && { apiKey: apiKeyName }),
    ...(basicAuth !== null && { username: basicAuth.username }),
  }
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)
}

/** Tokens are renewed while a session lives: what stays is who they are for. */
function subjectOf(jwt: JsonObject): object {
  // By the name of the claim: what one issuer calls a client may be what it calls a user elsewhere.
  for (const claim of ['sub', 'client_id', 'azp']) {
    if (jwt[claim] !== undefined) return { iss: jwt.iss ?? null, [claim]: jwt[claim] }
  }
  const rest = Object.entries(jwt).filter(([claim]) => !RENEWED.has(claim))
  return Object.fromEntries(rest.toSorted(([first], [second]) => (first < second ? -1 : 1)))
}

const ANYBODY = ''
/** What differs from one token to the next of the same caller. */
const RENEWED = new Set(['exp', 'iat', 'nbf', 'jti', 'auth_time', 'nonce', 'at_hash', 'uti'])
