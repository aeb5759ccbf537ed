import { clientField, lose } from './client-fields.ts'
import type { ChatRequest, Loss, TextPart } from '../middle.ts'

/**
 * Asks for the output format in an instruction after all others, for models that cannot be forced to a format; the
 * trace reports this. The response may then have another format, which no field would tell the client.
 */
export function instructOutput({ format, output }: ChatRequest, losses: Loss[]): TextPart[] {
  if (output.kind === 'text') return []
  const isSchema = output.kind === 'schema'
  const note = isSchema ? 'an instruction asks for JSON of this schema' : 'an instruction asks for JSON'
  lose(losses, { what: 'renamed', path: clientField(format, 'output'), note })
  if (!isSchema) return [{ type: 'text', text: ONLY_JSON }]
  const { description, schema } = output
  const lines = [ONLY_SCHEMA, JSON.stringify(schema), ...(description === undefined ? [] : [description])]
  return [{ type: 'text', text: lines.join('\n') }]
}

const ONLY_JSON = 'Answer with one JSON object and nothing else.'
const ONLY_SCHEMA =
  'Answer with one JSON value and nothing else, neither words nor code fences around it. It must be valid against this JSON Schema:'
