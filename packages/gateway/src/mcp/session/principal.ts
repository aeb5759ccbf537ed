import { createHash } from 'node:crypto'
import type { JsonObject, RequestContext } from '../../pipeline/context/request-context.ts'

/** Returns the owner of a session, as client authentication knows it: others cannot use a stolen session id. */
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

/** Returns the subject of a token, which stays the same when the token is renewed during a session. */
function subjectOf(jwt: JsonObject): object {
  // The claim's name is a part of it: the same value may be a client in one claim and a user in another.
  for (const claim of ['sub', 'client_id', 'azp']) {
    if (jwt[claim] !== undefined) return { iss: jwt.iss ?? null, [claim]: jwt[claim] }
  }
  const rest = Object.entries(jwt).filter(([claim]) => !RENEWED.has(claim))
  return Object.fromEntries(rest.toSorted(([first], [second]) => (first < second ? -1 : 1)))
}

const ANYBODY = ''
/** Claims that differ between tokens of the same client. */
const RENEWED = new Set(['exp', 'iat', 'nbf', 'jti', 'auth_time', 'nonce', 'at_hash', 'uti'])
