import { audiences, remoteJwks, tokenMode } from './jwt.ts'
import { object } from '../../kit.ts'
import { identityProvider, issuerUrl, resourceMetadata } from './mcp-oauth.ts'

/** SPEC 2.7 MCPAuthentication. */
export function mcpAuthentication() {
  return object({
    mode: tokenMode(),
    issuer: issuerUrl({ refers: { to: 'deprecated', instead: 'jwtAuthentication.mcp' } }).describe(
      'URL of the authorization server, and what the `iss` claim must be, letter by letter.',
    ),
    audiences: audiences(),
    jwks: remoteJwks().describe('A backend that has the keys that sign the tokens.'),
    provider: identityProvider(),
    resourceMetadata: resourceMetadata(),
  }).describe(
    'Deprecated: use `jwtAuthentication.mcp`. It holds for every route with a backend that this policy holds for.',
  )
}
