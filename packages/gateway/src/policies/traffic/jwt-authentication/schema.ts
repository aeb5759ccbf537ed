import { definePolicy } from '../../../schema/define-policy.ts'
import { credentialLocation } from '../../../schema/credential-location.ts'
import { keySet, keySetFile } from '../../../schema/key-set.ts'
import { fileOnly, list, localForm, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { backendName, backendObjectReference, backendUrl } from '../../../schema/references.ts'
import { exactlyOneOf } from '../../../schema/rules.ts'
import { duration, enumeration, string } from '../../../schema/values.ts'

const jwks = object(
  {
    inline: keySet().optional().describe('The key set itself, as JSON text.'),
    file: fileOnly(keySetFile().optional().describe('Path of a file that holds the key set.')),
    url: fileOnly(
      backendUrl()
        .optional()
        .describe(
          'Where the key set is fetched. It is kept for the `max-age` of the answer, between 10s and 1h; 5m without one.',
        ),
    ),
    remote: object({
      backendRef: localForm(
        object({ name: backendName({ fixed: true }).describe('Name of a backend of the top-level `backends`.') }),
        backendObjectReference(),
      ).describe('The backend that has the key set; its policies hold for the connection.'),
      jwksPath: string({ min: 1, max: 2_000 }, { pattern: /^[\x21\x22\x24-\x7e]+$/, expected: 'a path' }).describe(
        'Path of the key set, such as `.well-known/jwks.json`.',
      ),
      cacheDuration: duration({ min: '1s' })
        .prefault('5m')
        .describe('How long a key set is used before it is fetched again.'),
    })
      .optional()
      .describe('A backend that has the key set.'),
  },
  [exactlyOneOf('inline', 'file', 'url', 'remote')],
)

const provider = object({
  issuer: string({ min: 1, max: 256 }).describe('What the `iss` claim must be, letter by letter.'),
  audiences: list(string({ min: 1, max: 256 }).describe('An audience.'), { min: 1, max: 64 })
    .optional()
    .describe('Audiences of which the `aud` claim must name one; any audience when unset.'),
  jwks: jwks.describe('The keys that sign the tokens of this issuer.'),
}).describe('An issuer of tokens.')

export const jwtAuthentication = definePolicy({
  name: 'jwtAuthentication',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  phases: ['PreRouting', 'PostRouting'],
  traceKey: 'jwt',
  schema: object({
    mode: enumeration(['Strict', 'Optional', 'Permissive'])
      .prefault('Strict')
      .describe(
        '`Strict` needs a valid token; `Optional` lets requests without a token pass; `Permissive` lets every request pass, and gives the claims of valid tokens to later policies.',
      ),
    providers: list(provider, { min: 1, max: 64 }).describe('Whose tokens are accepted.'),
    location: credentialLocation().optional().describe('Where the token is; `Authorization: Bearer` when unset.'),
  }).describe('Checks a JSON Web Token, and gives its claims to later policies as `jwt`.'),
})

export type JwtAuthenticationConfig = Output<typeof jwtAuthentication.schema>
