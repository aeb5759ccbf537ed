import { definePolicy } from '../../../schema/define-policy.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { string } from '../../../schema/fields/values.ts'

export const csrf = definePolicy({
  name: 'csrf',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  traceKey: 'csrf',
  decides: true,
  schema: object({
    additionalOrigins: list(
      string(
        { min: 1, max: 256 },
        {
          pattern: /^[A-Za-z][A-Za-z0-9+.-]*:\/\/([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$/,
          expected: 'an origin such as `https://app.example.com`, without a path',
        },
      ).describe('An origin.'),
      { min: 1, max: 16 },
    )
      .optional()
      .describe('Other origins whose pages may send requests with unsafe methods.'),
  }).describe('Denies cross-site requests of browsers, with status 403.'),
})

export type CsrfConfig = Output<typeof csrf.schema>
