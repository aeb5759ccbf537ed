import type { Json, JsonObject } from '../json.ts'

/** Converts the keywords of OpenAPI 3.0 to JSON Schema. Documents of 3.1 often still use those keywords. */
export function modernise({ nullable, exclusiveMinimum, exclusiveMaximum, ...schema }: JsonObject): JsonObject {
  const modern: JsonObject = { ...schema }
  limit('minimum', 'exclusiveMinimum', exclusiveMinimum)
  limit('maximum', 'exclusiveMaximum', exclusiveMaximum)
  return exampled(nullable === true ? orNull(modern) : modern)

  function limit(plain: string, exclusive: string, value: Json | undefined): void {
    const bound = modern[plain]
    if (typeof value === 'number') modern[exclusive] = value
    if (value !== true || typeof bound !== 'number') return
    modern[exclusive] = bound
    delete modern[plain]
  }
}

function orNull(schema: JsonObject): JsonObject {
  if (typeof schema.type === 'string') {
    const values: JsonObject =
      Array.isArray(schema.enum) && !schema.enum.includes(null) ? { enum: [...schema.enum, null] } : {}
    return { ...schema, type: [schema.type, 'null'], ...values }
  }
  if (!COMBINED.some((key) => schema[key] !== undefined)) return schema
  const { description, ...rest } = schema
  return { ...(description !== undefined && { description }), anyOf: [rest, { type: 'null' }] }
}

const COMBINED = ['allOf', 'anyOf', 'oneOf']

/** Keeps one short example: more examples, or a long example, would use up the size limit of tools. */
function exampled({ example, examples, ...schema }: JsonObject): JsonObject {
  const first = example ?? (Array.isArray(examples) ? examples[0] : undefined)
  if (first === undefined || first === null || JSON.stringify(first).length > LONGEST_EXAMPLE) return schema
  return { ...schema, examples: [first] }
}

/** Characters of JSON. */
const LONGEST_EXAMPLE = 200
