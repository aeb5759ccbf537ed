import { clientField, lose } from '../../client-fields.ts'
import type { EncodeTarget } from '../../format.ts'
import type { ChatRequest, JsonObject, Loss } from '../../middle.ts'
import { Unsupported } from '../../middle.ts'
import { carryRest } from '../../rest.ts'
import { hoistSystem } from '../../system.ts'
import { nameTools } from '../../tool-calls/tool-names.ts'
import type { GeminiEncoder } from './encoder.ts'
import { encodeConfig } from './encode-config.ts'
import { encodeContents } from './encode-contents.ts'
import { encodeTools, TOOL_NAMES } from './encode-tools.ts'
import { isGemini3 } from './model.ts'
import { takeOptions } from './options.ts'

/**
 * The body of `generateContent` and `streamGenerateContent`; the model and whether to stream stand in the path.
 *
 * | Quirk | What changes |
 * |---|---|
 * | `callIds` | calls and results carry their ids: the Gemini API takes them, Vertex refuses them |
 */
export function encodeRequest(request: ChatRequest, target: EncodeTarget, losses: Loss[]): JsonObject | Unsupported {
  const { options, rest } = takeOptions(request.rest)
  const refused = carryRest({ ...request, rest }, 'gemini', losses)
  if (refused instanceof Unsupported) return refused
  const encoder: GeminiEncoder = {
    format: request.format,
    names: nameTools(request, TOOL_NAMES, target.toolNames),
    hasCallIds: target.quirks.has('callIds'),
    model: target.model,
    isGemini3: isGemini3(target.model),
    budget: { left: MAX_SCHEMA_SIZE },
    losses,
    faults: [],
  }
  const { system, messages } = hoistSystem(request, losses)
  const contents = encodeContents(messages, encoder)
  const [fault] = encoder.faults
  if (fault !== undefined) return fault
  reportUnsaid(request, losses)
  const { thinkingConfig, ...others } = options
  const config = encodeConfig(request, encoder)
  if (thinkingConfig !== undefined) config.thinkingConfig = thinkingConfig
  const instructions = system.map(({ text }) => ({ text })).filter(({ text }) => text.trim() !== '')
  const body: JsonObject = {
    ...(instructions.length > 0 && { systemInstruction: { parts: instructions } }),
    contents,
    ...encodeTools(request, encoder),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
    ...others,
  }
  return others.cachedContent === undefined ? body : withoutCached(body, losses)
}

/** Of all schemas in one request, roughly in characters. */
const MAX_SCHEMA_SIZE = 1_000_000

function reportUnsaid({ format, user, system }: ChatRequest, losses: Loss[]): void {
  if (user !== null) lose(losses, { what: 'dropped', path: clientField(format, 'user') })
  if (system.some((part) => part.cache !== undefined))
    lose(losses, { what: 'dropped', path: clientField(format, 'cache') })
}

/** Cached content holds its own instructions and tools, and Gemini refuses others beside it. */
function withoutCached(body: JsonObject, losses: Loss[]): JsonObject {
  const { systemInstruction, tools, toolConfig, ...rest } = body
  const note = 'cached_content has its own'
  if (systemInstruction !== undefined) lose(losses, { what: 'dropped', path: 'system', note })
  if (tools !== undefined || toolConfig !== undefined) lose(losses, { what: 'dropped', path: 'tools', note })
  return rest
}
