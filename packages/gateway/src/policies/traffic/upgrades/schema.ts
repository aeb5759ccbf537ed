import { definePolicy } from '../../../schema/define-policy.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { protocolToken } from '../../../schema/fields/http-parts.ts'

export const upgrades = definePolicy({
  name: 'upgrades',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  fileOnly: true,
  schema: object({
    protocols: list(protocolToken().describe('A protocol name as in the `Upgrade` header.'), { max: 16 })
      .prefault(['websocket'])
      .describe(
        'Protocols that clients may upgrade to. `connect` allows the CONNECT method; `h2c` is never allowed. An empty list allows none.',
      ),
  }).describe('Allows protocol upgrades. Without this policy, only `websocket` is allowed.'),
})

export type UpgradesConfig = Output<typeof upgrades.schema>
