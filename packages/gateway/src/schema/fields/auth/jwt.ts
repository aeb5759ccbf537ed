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
      '`Strict` requires a valid token. `Optional` also allows requests without a token. `Permissive` allows every request; later policies can read the claims of valid tokens.',
    )
}

/** Returns the `mode` field of token checks, with `Shadow`, for policies that can run as shadow policies. */
export function decidingTokenMode() {
  return enumeration(['Strict', 'Optional', 'Permissive', 'Shadow'])
    .prefault('Strict')
    .describe(
      '`Strict` requires a valid token. `Optional` also allows requests without a token. `Permissive` allows every request; later policies can read the claims of valid tokens. `Shadow` only reports what `Strict` would do.',
    )
}

export function audiences() {
  return list(string({ min: 1, max: 256 }).describe('An audience.'), { min: 1, max: 64 })
    .optional()
    .describe('Allowed audiences: the `aud` claim must contain one of them. Any audience when unset.')
}

/** SPEC 2.7 RemoteJWKS. */
export function remoteJwks() {
  return object({
    backendRef: namedBackendReference().describe(
      'The backend that serves the key set; its policies apply to the connection.',
    ),
    jwksPath: string({ min: 1, max: 2_000 }, { pattern: /^[\x21\x22\x24-\x7e]+$/, expected: 'a path' }).describe(
      'Path of the key set, such as `.well-known/jwks.json`.',
    ),
    cacheDuration: duration({ min: '1s' }).prefault('5m').describe('How long a key set is cached.'),
  })
}

/** The keys of a token issuer. */
export function jwks() {
  return object(
    {
      inline: keySet().optional().describe('The key set itself, as JSON text.'),
      file: fileOnly(keySetFile().optional().describe('Path of a file with the key set.')),
      url: fileOnly(
        backendUrl()
          .optional()
          .describe(
            'URL of the key set. It is cached for the `max-age` of the response, between 10s and 1h; 5m without `max-age`.',
          ),
      ),
      remote: remoteJwks().optional().describe('A backend that serves the key set.'),
    },
    [exactlyOneOf('inline', 'file', 'url', 'remote')],
  )
}
