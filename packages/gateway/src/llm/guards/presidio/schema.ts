import { namedBackendReference } from '../../../schema/fields/references.ts'
import { enumeration, number, string } from '../../../schema/fields/values.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { guardCall } from '../http/schema.ts'

export const presidioGuard = object({
  backendRef: namedBackendReference().describe(
    'The Presidio analyzer; its backend policies (credential, TLS) apply to the calls.',
  ),
  action: enumeration(['Mask', 'Reject'])
    .prefault('Mask')
    .describe('`Mask` replaces each entity with its type, such as `<PERSON>`; `Reject` denies the text.'),
  entities: list(
    string({ min: 1, max: 64 }, { pattern: /^[A-Za-z0-9_]+$/, expected: 'an entity type such as `PERSON`' }).describe(
      'An entity type, such as `PERSON` or `US_SSN`.',
    ),
    { min: 1, max: 256 },
  )
    .optional()
    .describe('Entity types to find; all that the analyzer supports when unset.'),
  scoreThreshold: number({ min: 0, max: 1 }).prefault(0.5).describe('Entities with a lower score are ignored.'),
  language: string({ min: 1, max: 16 }, { pattern: /^[A-Za-z-]+$/, expected: 'a language such as `en`' })
    .prefault('en')
    .describe('Language of the texts.'),
  ...guardCall(),
}).describe('Calls a Microsoft Presidio analyzer, which finds personal data.')

export type PresidioConfig = Output<typeof presidioGuard>
