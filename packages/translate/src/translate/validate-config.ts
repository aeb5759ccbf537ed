import {
  type Problem,
  printPath,
  type Schema,
  type TrafficPolicies,
  trafficPolicies,
  validate,
} from '@portico/gateway/schema'
import type { Unusable } from './materials.ts'

const schemaByName: ReadonlyMap<string, Schema> = new Map(trafficPolicies.map(({ name, schema }) => [name, schema]))

/** Validates policies in the form of the config file. */
export function validateTraffic(policies: Readonly<Record<string, unknown>>): { traffic: TrafficPolicies } | Unusable {
  const traffic: Record<string, unknown> = {}
  for (const [name, config] of Object.entries(policies)) {
    const schema = schemaByName.get(name)
    if (schema === undefined) throw new Error(`there is no policy ${name}`)
    const found = validateConfig(schema, config)
    if ('reason' in found) return { ...found, message: `${name}: ${found.message}` }
    traffic[name] = found.value
  }
  return { traffic }
}

export function validateConfig<Out>(schema: Schema<Out>, input: unknown): { value: Out } | Unusable {
  const result = validate(schema, input)
  if (result.ok) return { value: result.value }
  return { reason: 'UnsupportedValue', message: result.problems.map(printProblem).join('; ') }
}

function printProblem({ path, found, expected }: Problem): string {
  const place = path.length === 0 ? '' : `${printPath(path)}: `
  return `${place}${found}${expected === '' ? '' : `, expected ${expected}`}`
}
