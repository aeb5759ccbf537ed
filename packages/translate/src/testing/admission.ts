import { compile, createEnvironment, dyn, isCelError } from '@portico/cel'
import type { FunctionDefinition, Program, Value } from '@portico/cel'
import type { JsonObject } from '@portico/gateway/schema'
import { Ajv } from 'ajv'

/** Validates a spec like the API server would with its definition: defaults, schema, CEL rules. */
export function admission(schema: JsonObject): (input: unknown) => string[] {
  // Optimizing the code takes longer than all checks.
  const ajv = new Ajv({ strict: false, useDefaults: true, allErrors: true, code: { optimize: false } })
  const check = ajv.compile(rejectUnknown(schema))
  return (input) => {
    const resource: unknown = structuredClone(input)
    if (!check(resource)) return (check.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)
    return brokenRules(schema, resource, '')
  }
}

/** Rejects unknown fields, like `fieldValidation: Strict`. */
function rejectUnknown(schema: JsonObject): JsonObject {
  const { properties, items, additionalProperties, ...rest } = schema as Record<string, never>
  const copy: JsonObject = { ...rest }
  if (schema['x-kubernetes-int-or-string'] === true) copy['type'] = ['integer', 'string']
  if (items !== undefined) copy['items'] = rejectUnknown(items)
  if (additionalProperties !== undefined) copy['additionalProperties'] = rejectUnknown(additionalProperties)
  if (schema['type'] !== 'object' || additionalProperties !== undefined) return copy
  copy['properties'] = Object.fromEntries(
    Object.entries<JsonObject>(properties ?? {}).map(([name, child]) => [name, rejectUnknown(child)]),
  )
  copy['additionalProperties'] = schema['x-kubernetes-preserve-unknown-fields'] === true
  return copy
}

function brokenRules(schema: JsonObject, value: unknown, path: string): string[] {
  const rules = (schema['x-kubernetes-validations'] ?? []) as { rule: string; message: string }[]
  const own = rules.filter(({ rule }) => !holds(rule, value)).map(({ message }) => `${path}: ${message}`)
  if (hasTwins(schema, value)) own.push(`${path}: duplicate entries`)
  return [
    ...own,
    ...childrenOf(schema, value).flatMap(([name, child, at]) => brokenRules(child, at, `${path}/${name}`)),
  ]
}

function hasTwins({ 'x-kubernetes-list-map-keys': keys }: JsonObject, value: unknown): boolean {
  if (!Array.isArray(keys) || !Array.isArray(value)) return false
  const [key] = keys as string[]
  const names = value.map((item) => JSON.stringify((item as Record<string, unknown>)[key ?? '']))
  return new Set(names).size < names.length
}

function childrenOf(schema: JsonObject, value: unknown): [string, JsonObject, unknown][] {
  if (typeof value !== 'object' || value === null) return []
  const properties = (schema['properties'] ?? {}) as Record<string, JsonObject>
  const rest = (schema['items'] ?? schema['additionalProperties']) as JsonObject | undefined
  return Object.entries(value).flatMap(([name, child]: [string, unknown]): [string, JsonObject, unknown][] => {
    const own = properties[name] ?? rest
    return own === undefined ? [] : [[name, own, child]]
  })
}

/** A CEL function of Kubernetes beyond the standard. */
const sum: FunctionDefinition = {
  name: 'sum',
  style: 'receiver',
  minArgs: 0,
  maxArgs: 0,
  summary: 'All items of a list together.',
  call: (items: Value): Value => (items as number[]).reduce((all, item) => all + item, 0),
}
const environment = createEnvironment({ variables: { self: dyn }, functions: [sum] })
const programs = new Map<string, Program>()

function holds(rule: string, self: unknown): boolean {
  let program = programs.get(rule)
  if (program === undefined) {
    const compiled = compile(rule, environment)
    if (!compiled.ok) throw new Error(`${rule}: ${compiled.problems.map(({ message }) => message).join(', ')}`)
    program = compiled.program
    programs.set(rule, program)
  }
  const result = program.evaluate({ self })
  // A rule that fails to evaluate counts as violated.
  return !isCelError(result) && result === true
}
