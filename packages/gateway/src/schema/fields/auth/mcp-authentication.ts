import { audiences, remoteJwks, tokenMode } from './jwt.ts'
import { object } from '../../kit.ts'
import { identityProvider, issuerUrl, resourceMetadata } from './mcp-oauth.ts'

/** SPEC 2.7 MCPAuthentication. */
export function mcpAuthentication() {
  return object({
    mode: tokenMode(),
    issuer: issuerUrl({ refers: { to: 'deprecated', instead: 'jwtAuthentication.mcp' } }).describe(
      'URL of the authorization server; the `iss` claim must be exactly this URL.',
    ),
    audiences: audiences(),
    jwks: remoteJwks().describe('The backend that serves the signing keys of the tokens.'),
    provider: identityProvider(),
    resourceMetadata: resourceMetadata(),
  }).describe('Deprecated: use `jwtAuthentication.mcp`. It applies to every route with a backend that has this policy.')
}
