import { clientField, lose } from '../../request/carry-over.ts'
import { parseExactJson } from '@portico/http/json'
import { fitCallId } from '../../tools/call-ids.ts'
import {
  type JsonObject,
  type Message,
  type Part,
  type ReasoningPart,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
  UnsupportedField,
} from '../../middle.ts'
import { madeBy } from '../../tools/provenance.ts'
import { type ContentRules, encodeFile, encodeImage } from './encode-media.ts'
import { inputOf } from './tool-input.ts'

/** Encodes messages without the empty ones, which this format refuses. */
export function encodeMessages(messages: readonly Message[], rules: ContentRules): JsonObject[] | UnsupportedField {
  const encoded: JsonObject[] = []
  for (const { role, parts, rest } of messages) {
    const content: JsonObject[] = []
    for (const part of parts) {
      const block = encodePart(part, rules)
      if (block instanceof UnsupportedField) return block
      if (block !== null) content.push(block)
    }
    if (content.length > 0 || rules.isOwn) encoded.push(rules.isOwn ? { ...rest, role, content } : { role, content })
  }
  return encoded
}

function encodePart(part: Part, rules: ContentRules): JsonObject | UnsupportedField | null {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' && !rules.isOwn ? null : encodeText(part, rules)
    case 'refusal':
      return part.text.trim() === '' ? null : { type: 'text', text: part.text }
    case 'image':
      return marked(encodeImage(part, rules), part, rules)
    case 'file':
      return marked(encodeFile(part, rules), part, rules)
    case 'audio':
      return new UnsupportedField(clientField(rules.format, 'audio'), 'this provider takes no audio')
    case 'toolCall':
      return marked(encodeCall(part, rules), part, rules)
    case 'toolResult':
      return encodeResult(part, rules)
    case 'reasoning':
      return encodeReasoning(part, rules)
    case 'native':
      return rules.isOwn ? part.value : null
  }
}

export function encodeText(part: TextPart, rules: ContentRules): JsonObject {
  const block: JsonObject = rules.isOwn ? { ...part.rest } : {}
  block.type = 'text'
  block.text = part.text
  return part.cache === undefined ? block : { ...block, ...cacheMark(part, rules) }
}

function encodeCall(part: ToolCallPart, { isOwn, names, format, losses }: ContentRules): JsonObject {
  const input = inputOf(parseExactJson(part.arguments), part.arguments)
  if (input.isWrapped) {
    lose(losses, {
      what: 'renamed',
      path: clientField(format, 'toolArguments'),
      note: 'not an object, so it was wrapped in one',
    })
  }
  if (part.signature !== undefined && !isOwn)
    lose(losses, { what: 'dropped', path: clientField(format, 'callSignature') })
  return {
    type: 'tool_use',
    id: upstreamId(part.id, isOwn),
    name: names.get(part.name) ?? part.name,
    input: input.value,
  }
}

function encodeResult(part: ToolResultPart, rules: ContentRules): JsonObject | UnsupportedField {
  const content: JsonObject[] = []
  for (const inner of part.parts) {
    const block = encodePart(inner, rules)
    if (block instanceof UnsupportedField) return block
    if (block !== null) content.push(block)
  }
  const [only] = content
  const isPlain = content.length === 1 && only?.type === 'text' && Object.keys(only).length === 2
  return {
    ...(rules.isOwn && part.rest),
    type: 'tool_result',
    tool_use_id: upstreamId(part.id, rules.isOwn),
    ...(only !== undefined && { content: isPlain ? (only.text ?? '') : content }),
    ...(part.isError && { is_error: true }),
    ...cacheMark(part, rules),
  }
}

/** Encodes reasoning that this vendor signed or encrypted; other reasoning is dropped and reported. */
function encodeReasoning({ text, signature, opaque }: ReasoningPart, rules: ContentRules): JsonObject | null {
  const sealed = opaque === undefined ? null : madeBy('anthropic', opaque)
  if (sealed !== null) return { type: 'redacted_thinking', data: sealed }
  const signed = signature === undefined ? null : madeBy('anthropic', signature)
  if (signed !== null) return { type: 'thinking', thinking: text, signature: signed }
  lose(rules.losses, {
    what: 'dropped',
    path: clientField(rules.format, 'reasoningHistory'),
    note: 'created by another vendor',
  })
  return null
}

function marked(
  block: JsonObject | UnsupportedField,
  part: { rest?: JsonObject; cache?: JsonObject },
  rules: ContentRules,
): JsonObject | UnsupportedField {
  return block instanceof UnsupportedField
    ? block
    : { ...(rules.isOwn && part.rest), ...block, ...cacheMark(part, rules) }
}

/** The cache mark. Clients of other formats send it in this form too, because only Messages defines one. */
export function cacheMark({ cache }: { cache?: JsonObject }, { quirks, losses }: ContentRules): JsonObject {
  if (cache === undefined) return {}
  if (cache.scope === undefined || !quirks.has('noCacheScope')) return { cache_control: cache }
  lose(losses, { what: 'dropped', path: 'cache_control.scope' })
  const { scope: _scope, ...others } = cache
  return { cache_control: others }
}

function upstreamId(id: string, isOwn: boolean): string {
  return isOwn ? id : fitCallId(id, MAX_ID)
}

const MAX_ID = 256
