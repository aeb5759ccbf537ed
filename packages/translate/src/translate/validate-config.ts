import {
  type BackendPolicies,
  backendPolicies,
  type Problem,
  printPath,
  type Schema,
  type TrafficPolicies,
  trafficPolicies,
  validate,
} from '@portico/gateway/schema'
import type { Unusable } from './materials.ts'

type SchemaByName = ReadonlyMap<string, Schema>

const trafficSchemas: SchemaByName = new Map(trafficPolicies.map(({ name, schema }) => [name, schema]))
const backendSchemas: SchemaByName = new Map(backendPolicies.map(({ name, schema }) => [name, schema]))

/** Validates traffic policies in the form of the config file. */
export function validateTraffic(policies: Readonly<Record<string, unknown>>): { traffic: TrafficPolicies } | Unusable {
  const found = validateEach(trafficSchemas, policies)
  return 'reason' in found ? found : { traffic: found.values }
}

/** Validates backend policies in the form of the config file. */
export function validateBackend(policies: Readonly<Record<string, unknown>>): { backend: BackendPolicies } | Unusable {
  const found = validateEach(backendSchemas, policies)
  return 'reason' in found ? found : { backend: found.values }
}

function validateEach(
  schemas: SchemaByName,
  policies: Readonly<Record<string, unknown>>,
): { values: Record<string, unknown> } | Unusable {
  const values: Record<string, unknown> = {}
  for (const [name, config] of Object.entries(policies)) {
    const schema = schemas.get(name)
    if (schema === undefined) throw new Error(`there is no policy ${name}`)
    const found = validateConfig(schema, config)
    if ('reason' in found) return { ...found, message: `${name}: ${found.message}` }
    values[name] = found.value
  }
  return { values }
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
