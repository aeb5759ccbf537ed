import type { ChatRequest, JsonObject, UnsupportedField } from '../../../middle.ts'
import { addMembers } from '../../../request/fields.ts'
import { decodeConfig } from './decode-config.ts'
import { decodeContents, decodeSystem } from './decode-contents.ts'
import { decodeTools } from './decode-tools.ts'
import { camelFields, inCamelCase } from './spelling.ts'

/** A body with the members `model` and `stream`, which stand in the path of Google's API. */
export function decodeRequest(body: JsonObject): ChatRequest | UnsupportedField {
  const fields = camelFields(body)
  const model = fields.text('model') ?? ''
  const stream = fields.boolean('stream') ?? false
  const system = decodeSystem(fields)
  const messages = decodeContents(fields)
  const { tools, toolChoice, rest: restOfTools } = decodeTools(fields)
  const { sampling, reasoning, output, rest: restOfConfig } = decodeConfig(fields)
  const rest = fields.rest() ?? {}
  addMembers(rest, restOfTools, restOfConfig)
  const request: ChatRequest = {
    format: 'gemini',
    model,
    system,
    messages,
    tools,
    toolChoice,
    parallelTools: null,
    sampling,
    reasoning,
    output,
    stream,
    user: null,
    rest,
    native: Object.fromEntries(Object.entries(body).filter(([name]) => !DECODED.has(inCamelCase(name)))),
  }
  return fields.fault ?? request
}

/** Members of which `native` has no copy, because policies change them in the middle. */
const DECODED: ReadonlySet<string> = new Set(['model', 'stream', 'contents', 'systemInstruction'])
