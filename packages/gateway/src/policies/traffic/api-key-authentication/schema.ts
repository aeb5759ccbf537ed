import { apiKeyEntry, parseApiKeys } from '../../../schema/fields/api-keys.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { credentialLocation } from '../../../schema/fields/credential-location.ts'
import { localForm, map, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { objectReference, textFile } from '../../../schema/fields/references.ts'
import { exactlyOneOf } from '../../../schema/rules.ts'
import { enumeration } from '../../../schema/fields/values.ts'

const keys = object(
  {
    data: map(apiKeyEntry().describe('A key, or a mapping with `key` or `keyHash`, and `metadata`.'), {
      min: 1,
      max: 10_000,
    })
      .optional()
      .describe('Keys under names of your choice.'),
    file: textFile('a JSON object of names and keys', parseApiKeys)
      .optional()
      .describe('Path of a file with a JSON object of the same form as `data`.'),
  },
  [exactlyOneOf('data', 'file')],
)

export const apiKeyAuthentication = definePolicy({
  name: 'apiKeyAuthentication',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  phases: ['PreRouting', 'PostRouting'],
  traceKey: 'apiKey',
  schema: object({
    mode: enumeration(['Strict', 'Optional'])
      .prefault('Strict')
      .describe('`Strict` needs a known key; `Optional` lets requests without a key pass.'),
    secretRef: localForm(keys, objectReference()).describe(
      'The known keys; in a cluster a Secret with a key in each entry.',
    ),
    location: credentialLocation().optional().describe('Where the key is; `Authorization: Bearer` when unset.'),
  }).describe('Asks for an API key, and gives the metadata of the key, and its `name`, to later policies as `apiKey`.'),
})

export type ApiKeyAuthenticationConfig = Output<typeof apiKeyAuthentication.schema>
