/** The part of JSON Schema that the schema of the config uses. */
export interface JsonSchema {
  $ref?: string
  $defs?: Readonly<Record<string, JsonSchema>>
  description?: string
  default?: unknown
  type?: string | readonly string[]
  properties?: Readonly<Record<string, JsonSchema>>
  required?: readonly string[]
  additionalProperties?: boolean | JsonSchema
  items?: JsonSchema
  anyOf?: readonly JsonSchema[]
  oneOf?: readonly JsonSchema[]
  allOf?: readonly JsonSchema[]
  enum?: readonly unknown[]
  const?: unknown
}

/** A key of a mapping, or any item of a list. */
export type Step = { key: string } | 'item'

/** The schemas of the values at a path. */
function schemasAt(root: JsonSchema, path: readonly Step[]): JsonSchema[] {
  return path.reduce<JsonSchema[]>(
    (schemas, step) => schemas.flatMap((schema) => childrenOf(root, schema, step)),
    formsOf(root, root),
  )
}

/** The keys of the mapping at a path, each with its schema. */
export function keysAt(
  root: JsonSchema,
  path: readonly Step[],
): { name: string; schema: JsonSchema; isRequired: boolean }[] {
  const found = new Map<string, { name: string; schema: JsonSchema; isRequired: boolean }>()
  for (const { properties = {}, required = [] } of schemasAt(root, path))
    for (const [name, schema] of Object.entries(properties))
      if (!found.has(name))
        found.set(name, { name, schema: described(root, schema), isRequired: required.includes(name) })
  return [...found.values()]
}

/** Words that may stand there. */
export function valuesAt(root: JsonSchema, path: readonly Step[]): string[] {
  const values = schemasAt(root, path).flatMap((schema) => [
    ...(schema.enum ?? []),
    ...(schema.const === undefined ? [] : [schema.const]),
    ...(schema.type === 'boolean' ? [true, false] : []),
  ])
  return [...new Set(values.map(String))]
}

/** The kind of a value in a word: `mapping`, `list`, or its type. */
export function kindOf(root: JsonSchema, schema: JsonSchema): string {
  const forms = formsOf(root, schema)
  if (
    forms.some(
      ({ properties, additionalProperties }) => properties !== undefined || typeof additionalProperties === 'object',
    )
  )
    return 'mapping'
  if (forms.some(({ items }) => items !== undefined)) return 'list'
  const [type] = forms.flatMap((form) => form.type ?? [])
  return type ?? ''
}

function described(root: JsonSchema, schema: JsonSchema): JsonSchema {
  if (schema.description !== undefined || schema.$ref === undefined) return schema
  return { ...schema, description: resolved(root, schema).description ?? '' }
}

function childrenOf(root: JsonSchema, schema: JsonSchema, step: Step): JsonSchema[] {
  if (step === 'item') return schema.items === undefined ? [] : formsOf(root, schema.items)
  const own = schema.properties?.[step.key]
  if (own !== undefined) return formsOf(root, own)
  const others = schema.additionalProperties
  return typeof others === 'object' ? formsOf(root, others) : []
}

/** The alternative schemas of a value. */
function formsOf(root: JsonSchema, schema: JsonSchema): JsonSchema[] {
  const plain = resolved(root, schema)
  const choices = [...(plain.anyOf ?? []), ...(plain.oneOf ?? []), ...(plain.allOf ?? [])]
  return [plain, ...choices.flatMap((choice) => formsOf(root, choice))]
}

function resolved(root: JsonSchema, schema: JsonSchema): JsonSchema {
  const name = schema.$ref?.replace('#/$defs/', '')
  const target = name === undefined ? undefined : root.$defs?.[name]
  return target === undefined ? schema : resolved(root, target)
}
