import { definePolicy } from '../../../schema/define-policy.ts'
import { modelPrice, parsePriceCatalog } from '../../../schema/fields/prices.ts'
import { textFile } from '../../../schema/fields/references.ts'
import { enumeration, integer } from '../../../schema/fields/values.ts'
import { list, object } from '../../../schema/kit.ts'

export const prices = definePolicy({
  name: 'prices',
  section: 'backend',
  attach: ['route', 'backend'],
  merge: 'replace',
  fileOnly: true,
  schema: object({
    models: list(modelPrice().describe('The price of a model.'), { max: 10_000 })
      .prefault([])
      .describe('Prices that take precedence over `file` and `table`.'),
    file: textFile('a JSON cost catalog', parsePriceCatalog)
      .optional()
      .describe('Path of a cost catalog, which takes precedence over `table`; it is read again when it changes.'),
    table: enumeration(['Bundled', 'None'])
      .prefault('Bundled')
      .describe('`Bundled` uses the public prices that the gateway contains for all other models.'),
    batchPercent: integer({ min: 0, max: 100 })
      .prefault(50)
      .describe('Price of a call in a batch, in percent of the price of the same call on its own.'),
  }).describe('Computes the cost of each call of a language model, for logs, metrics, records and expressions.'),
})
