import { definePolicy } from '../../../schema/define-policy.ts'
import { credentialLocation } from '../../../schema/fields/auth/credential-location.ts'
import { audiences, jwks, tokenMode } from '../../../schema/fields/auth/jwt.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { identityProvider, resourceMetadata } from '../../../schema/fields/auth/mcp-oauth.ts'
import { string } from '../../../schema/fields/values.ts'

const provider = object({
  issuer: string({ min: 1, max: 256 }).describe('What the `iss` claim must be, letter by letter.'),
  audiences: audiences(),
  jwks: jwks().describe('The keys that sign the tokens of this issuer.'),
}).describe('An issuer of tokens.')

export const jwtAuthentication = definePolicy({
  name: 'jwtAuthentication',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  phases: ['PreRouting', 'PostRouting'],
  traceKey: 'jwt',
  schema: object({
    mode: tokenMode(),
    providers: list(provider, { min: 1, max: 64 }).describe('Whose tokens are accepted.'),
    location: credentialLocation().optional().describe('Where the token is; `Authorization: Bearer` when unset.'),
    mcp: object({ provider: identityProvider(), resourceMetadata: resourceMetadata() })
      .optional()
      .describe(
        'Serves the discovery documents of MCP OAuth, and denies requests with a challenge that links to them. The first issuer must then be a URL.',
      ),
  }).describe('Checks a JSON Web Token, and gives its claims to later policies as `jwt`.'),
})

export type JwtAuthenticationConfig = Output<typeof jwtAuthentication.schema>
