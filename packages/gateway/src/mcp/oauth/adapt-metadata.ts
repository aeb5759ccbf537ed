import type { JsonObject } from '../../pipeline/request-context.ts'
import type { IdentityProvider } from './config.ts'

export interface AdaptedTo {
  /** The URL that the client asked about, which it takes for the issuer. */
  issuer: string
  audience: string | null
  /** Where clients register with the gateway. */
  registration: string
}

/** Authorization server metadata in the form that clients can use. */
export function adaptMetadata(
  document: JsonObject,
  provider: IdentityProvider | null,
  { issuer, audience, registration }: AdaptedTo,
): JsonObject {
  if (provider === null) return document
  // Answers of the provider would name its own issuer, which is not the one that clients then know.
  const { authorization_response_iss_parameter_supported: _, ...rest } = document
  switch (provider) {
    case 'Auth0':
      // Without an audience its tokens are opaque, and clients of MCP ask for none.
      return { ...rest, issuer, ...(audience !== null && withAudience(rest, audience)) }
    case 'Keycloak':
      // Its registration answers no browser.
      return { ...rest, issuer, ...('registration_endpoint' in rest && { registration_endpoint: registration }) }
  }
}

function withAudience({ authorization_endpoint: endpoint }: JsonObject, audience: string): JsonObject {
  if (typeof endpoint !== 'string') return {}
  const url = new URL(endpoint)
  url.searchParams.set('audience', audience)
  return { authorization_endpoint: url.href }
}
