import { apiKeyEntry, parseApiKey, parseApiKeys } from '../../../schema/fields/auth/api-keys.ts'
import type { ApiKeyEntry } from '../../../schema/fields/auth/api-keys.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { credentialLocation } from '../../../schema/fields/auth/credential-location.ts'
import { localForm, map, needsSetting, object, Refusal } from '../../../schema/kit.ts'
import type { Entries, Output, ReferredObjects } from '../../../schema/kit.ts'
import { objectReference, textFile } from '../../../schema/fields/references.ts'
import { urlPath } from '../../../schema/fields/http-parts.ts'
import { atLeastOneOf, exactlyOneOf } from '../../../schema/rules.ts'
import { enumeration, integer, string } from '../../../schema/fields/values.ts'

const keys = object(
  {
    data: map(
      apiKeyEntry().describe(
        'A key, or a mapping with `key` or `keyHash`, and `metadata`, `expires` (a time) and `disabled`.',
      ),
      {
        min: 1,
        max: 10_000,
      },
    )
      .optional()
      .describe('Keys by name; you choose the names.'),
    file: textFile('a JSON object of names and keys', parseApiKeys)
      .optional()
      .describe('Path of a file with a JSON object of the same form as `data`.'),
  },
  [exactlyOneOf('data', 'file')],
)

const store = object({
  usagePath: urlPath()
    .optional()
    .describe(
      'Path at which the holder of a key gets its own spend, budgets and limits, such as `/usage`. Without it, there is no such path.',
    ),
  outputTokens: integer({ min: 1, max: 10_000_000 })
    .prefault(4_096)
    .describe('Output tokens to reserve in budgets for a call that sets no maximum itself.'),
  unpriced: enumeration(['Refuse', 'Allow'])
    .prefault('Refuse')
    .describe(
      'Whether a call without a known price is refused with 403, or allowed and not counted in budgets in US dollars.',
    ),
})

const shared = {
  mode: enumeration(['Strict', 'Optional', 'Shadow'])
    .prefault('Strict')
    .describe(
      '`Strict` requires a valid key; `Optional` also allows requests without a key. `Shadow` only reports what `Strict` would do.',
    ),
  location: credentialLocation().optional().describe('Where the key is; `Authorization: Bearer` when unset.'),
}

const inFile = object(
  {
    mode: shared.mode,
    secretRef: keys.optional().describe('Valid keys; in a cluster, a Secret with a key in each entry.'),
    store: needsSetting(
      store
        .optional()
        .describe('Also accepts the keys of the store, which `porticoctl keys` and the admin API create.'),
      'config',
      'keys',
    ),
    location: shared.location,
  },
  [atLeastOneOf('secretRef', 'store')],
)

const inCluster = object(
  {
    mode: shared.mode,
    secretRef: objectReference()
      .optional()
      .describe('A Secret with a key, or JSON with `key` and `metadata`, in each entry.'),
    secretSelector: object({
      matchLabels: map(string({ max: 63 }).describe('Value of the label.'), { min: 1, max: 64 }).describe(
        'Labels; a Secret must have all of them.',
      ),
    })
      .optional()
      .describe('All Secrets of the namespace with these labels; entries as with `secretRef`.'),
    location: shared.location,
  },
  [exactlyOneOf('secretRef', 'secretSelector')],
)

/** The keys of all Secrets that are meant; of two entries of one name the one in the Secret that comes first. */
function withKeys(
  { secretRef, secretSelector, ...rest }: Output<typeof inCluster>,
  objects: ReferredObjects,
): Output<typeof inFile> | Refusal {
  const found = secretRef === undefined ? objects.secrets(secretSelector.matchLabels) : objects.secret(secretRef.name)
  if (found instanceof Refusal) return found
  const secrets = (secretRef === undefined ? found : { [secretRef.name]: found }) as Readonly<Record<string, Entries>>
  const data: Record<string, ApiKeyEntry> = {}
  for (const [secret, entries] of Object.entries(secrets)) {
    for (const [name, text] of Object.entries(entries)) {
      const entry = parseApiKey(text)
      if (entry instanceof Refusal) {
        return new Refusal('bad_format', { detail: `Secret \`${secret}\` holds no API key in its entry \`${name}\`` })
      }
      data[name in data ? `${secret}/${name}` : name] = entry
    }
  }
  const isEmpty = Object.keys(data).length === 0
  return isEmpty
    ? new Refusal('missing_key', { detail: 'there is no Secret with an API key' })
    : { ...rest, secretRef: { data } }
}

export const apiKeyAuthentication = definePolicy({
  name: 'apiKeyAuthentication',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  phases: ['PreRouting', 'PostRouting'],
  traceKey: 'apiKey',
  decides: true,
  schema: localForm(inFile, inCluster, withKeys).describe(
    'Requires an API key. Later policies read its metadata and its `name` as `apiKey`.',
  ),
})

export type ApiKeyAuthenticationConfig = Output<typeof apiKeyAuthentication.schema>
export type KeyStoreConfig = NonNullable<ApiKeyAuthenticationConfig['store']>
