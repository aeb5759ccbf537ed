import { definePolicy } from '../../../schema/define-policy.ts'
import { object } from '../../../schema/kit.ts'
import { enumeration } from '../../../schema/fields/values.ts'

export const proxyProtocol = definePolicy({
  name: 'proxyProtocol',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'replace',
  schema: object({
    version: enumeration(['V1', 'V2', 'All'])
      .prefault('V2')
      .describe('Accepted versions of the PROXY protocol header.'),
    mode: enumeration(['Strict', 'Optional'])
      .prefault('Strict')
      .describe('`Strict` closes connections without a header; `Optional` accepts both.'),
  }).describe('Reads the address of the client from a PROXY protocol header.'),
})
