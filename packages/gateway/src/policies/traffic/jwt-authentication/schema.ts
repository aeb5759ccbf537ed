import { definePolicy } from '../../../schema/define-policy.ts'
import { credentialLocation } from '../../../schema/fields/auth/credential-location.ts'
import { audiences, decidingTokenMode, jwks } from '../../../schema/fields/auth/jwt.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { identityProvider, resourceMetadata } from '../../../schema/fields/auth/mcp-oauth.ts'
import { string } from '../../../schema/fields/values.ts'

const provider = object({
  issuer: string({ min: 1, max: 256 }).describe('Expected `iss` claim; must match exactly.'),
  audiences: audiences(),
  jwks: jwks().describe('Signing keys of this issuer.'),
}).describe('An issuer of tokens.')

export const jwtAuthentication = definePolicy({
  name: 'jwtAuthentication',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  phases: ['PreRouting', 'PostRouting'],
  traceKey: 'jwt',
  decides: true,
  schema: object({
    mode: decidingTokenMode(),
    providers: list(provider, { min: 1, max: 64 }).describe('Issuers whose tokens are accepted.'),
    location: credentialLocation().optional().describe('Where the token is; `Authorization: Bearer` when unset.'),
    mcp: object({ provider: identityProvider(), resourceMetadata: resourceMetadata() })
      .optional()
      .describe(
        'Serves the discovery documents of MCP OAuth, and denies requests with a challenge that links to them. Requires that the first issuer is a URL.',
      ),
  }).describe('Verifies a JSON Web Token. Later policies read its claims as `jwt`.'),
})

export type JwtAuthenticationConfig = Output<typeof jwtAuthentication.schema>
