import { definePolicy } from '../../../schema/define-policy.ts'
import { audiences, decidingTokenMode, jwks } from '../../../schema/fields/auth/jwt.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { identityProvider, issuerUrl, resourceMetadata } from '../../../schema/fields/auth/mcp-oauth.ts'

/** SPEC 2.12, the standalone form of `jwtAuthentication.mcp`. */
export const mcpAuthentication = definePolicy({
  name: 'mcpAuthentication',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  phases: ['PreRouting', 'PostRouting'],
  fileOnly: true,
  decides: true,
  schema: object({
    mode: decidingTokenMode(),
    issuer: issuerUrl().describe('URL of the authorization server; the `iss` claim must be exactly this URL.'),
    audiences: audiences(),
    jwks: jwks()
      .optional()
      .describe(
        'Signing keys of the tokens. When unset: those at `protocol/openid-connect/certs` of the issuer for `Keycloak`, otherwise at its `.well-known/jwks.json`.',
      ),
    provider: identityProvider(),
    resourceMetadata: resourceMetadata(),
  }).describe(
    'OAuth for MCP servers: verifies tokens, and tells clients the authorization server. Later policies read the claims as `jwt`.',
  ),
})

export type McpAuthenticationConfig = Output<typeof mcpAuthentication.schema>
