import type { JsonObject, OutputFormat } from '../../middle.ts'

/** Encodes `text`; `rest` has the client's other members of `text`. Null when nothing is set. */
export function encodeText(output: OutputFormat, rest: JsonObject): JsonObject | null {
  const format = encodeFormat(output)
  return format === null && Object.keys(rest).length === 0 ? null : { ...rest, ...(format !== null && { format }) }
}

function encodeFormat(output: OutputFormat): JsonObject | null {
  switch (output.kind) {
    case 'text':
      return null
    case 'json':
      return { type: 'json_object' }
    case 'schema': {
      const { kind: _kind, name, schema, strict, description } = output
      return {
        type: 'json_schema',
        name,
        schema,
        ...(strict !== undefined && { strict }),
        ...(description !== undefined && { description }),
      }
    }
  }
}
