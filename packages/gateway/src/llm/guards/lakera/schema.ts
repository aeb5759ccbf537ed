import { host } from '../../../schema/fields/hosts.ts'
import { enumeration, string } from '../../../schema/fields/values.ts'
import { object } from '../../../schema/kit.ts'
import type { Output, Schema } from '../../../schema/kit.ts'
import { guardCall } from '../http/schema.ts'

export function lakeraGuard<Policies>(policies: Schema<Policies>) {
  return object({
    projectId: string({ min: 1, max: 256 })
      .optional()
      .describe('The Lakera project whose policy decides; the default policy of the account when unset.'),
    action: enumeration(['Reject', 'Mask'])
      .prefault('Reject')
      .describe(
        '`Reject` denies flagged text. `Mask` masks it if only detectors of personal data (`pii/…`) flagged it, and denies it otherwise.',
      ),
    host: host().prefault('api.lakera.ai').describe('Host of the API, for regions and installations of your own.'),
    policies: policies.optional().describe('Connection settings and API key.'),
    ...guardCall(),
  }).describe('Calls Lakera Guard, which detects prompt attacks, personal data and harmful content.')
}

export type LakeraConfig = Output<ReturnType<typeof lakeraGuard<unknown>>>
