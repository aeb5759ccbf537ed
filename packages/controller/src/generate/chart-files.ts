import { readFileSync } from 'node:fs'
import { printValues, printValuesPage, type ValueSchema } from './chart-values.ts'

const schemaFile = new URL('../../../../deploy/helm/portico/values.schema.json', import.meta.url)

export function readValueSchema(): ValueSchema {
  return JSON.parse(readFileSync(schemaFile, 'utf8')) as ValueSchema
}

/** Returns the files generated from the schema of the chart's values, by path. */
export function chartFiles(): Map<string, string> {
  const schema = readValueSchema()
  return new Map([
    ['deploy/helm/portico/values.yaml', printValues(schema)],
    ['docs/helm-values.md', printValuesPage(schema)],
  ])
}
