import { keySet, keySetFile } from './key-set.ts'
import { fileOnly, list, object } from '../../kit.ts'
import { backendUrl, namedBackendReference } from '../references.ts'
import { exactlyOneOf } from '../../rules.ts'
import { duration, enumeration, string } from '../values.ts'

/** Fields that all policies with JSON Web Tokens share. */

export function tokenMode() {
  return enumeration(['Strict', 'Optional', 'Permissive'])
    .prefault('Strict')
    .describe(
      '`Strict` needs a valid token; `Optional` lets requests without a token pass; `Permissive` lets every request pass, and gives the claims of valid tokens to later policies.',
    )
}

export function audiences() {
  return list(string({ min: 1, max: 256 }).describe('An audience.'), { min: 1, max: 64 })
    .optional()
    .describe('Audiences of which the `aud` claim must name one; any audience when unset.')
}

/** SPEC 2.7 RemoteJWKS. */
export function remoteJwks() {
  return object({
    backendRef: namedBackendReference().describe(
      'The backend that has the key set; its policies hold for the connection.',
    ),
    jwksPath: string({ min: 1, max: 2_000 }, { pattern: /^[\x21\x22\x24-\x7e]+$/, expected: 'a path' }).describe(
      'Path of the key set, such as `.well-known/jwks.json`.',
    ),
    cacheDuration: duration({ min: '1s' })
      .prefault('5m')
      .describe('How long a key set is used before it is fetched again.'),
  })
}

/** The keys of a token issuer. */
export function jwks() {
  return object(
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
      remote: remoteJwks().optional().describe('A backend that has the key set.'),
    },
    [exactlyOneOf('inline', 'file', 'url', 'remote')],
  )
}
