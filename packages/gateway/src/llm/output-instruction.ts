import { clientField, lose } from './client-fields.ts'
import type { ChatRequest, Loss, TextPart } from './middle.ts'

/**
 * For models that cannot be held to a form: they are asked for it in words, behind all other instructions, and the trace
 * says so. An answer of another form is then possible, which no field would have told the client.
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
