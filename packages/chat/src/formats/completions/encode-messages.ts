import { clientField, lose } from '../../request/carry-over.ts'
import {
  type JsonObject,
  type Message,
  type Part,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
  UnsupportedField,
} from '../../middle.ts'
import {
  encodePart,
  type EncodeRules,
  encodeText,
  onlyText,
  plainOr,
  textContent,
  upstreamId,
} from './encode-content.ts'
import { takesFreeText } from './encode-tools.ts'
import { reasoningForUpstream } from './reasoning-fields.ts'
import { encodeToolCall, googleExtra } from './tool-calls.ts'

export function encodeMessages(
  system: readonly TextPart[],
  messages: readonly Message[],
  rules: EncodeRules,
): JsonObject[] | UnsupportedField {
  const encoded: JsonObject[] = []
  if (system.length > 0) encoded.push(encodeSystem(system, rules))
  for (const message of messages) {
    const next = encodeMessage(message, rules)
    if (next instanceof UnsupportedField) return next
    encoded.push(...next)
  }
  return encoded
}

function encodeMessage({ role, parts, rest }: Message, rules: EncodeRules): JsonObject[] | UnsupportedField {
  const own = (rules.isOwn ? rest : undefined) ?? {}
  switch (role) {
    case 'system': {
      const texts = parts.filter((part) => part.type === 'text')
      return [{ ...own, ...encodeSystem(texts, rules) }]
    }
    case 'assistant': {
      const assistant = encodeAssistant(parts, rules)
      if (assistant instanceof UnsupportedField) return assistant
      return assistant === null ? [] : [{ ...own, ...assistant }]
    }
    case 'user':
      return encodeUser(parts, own, rules)
  }
}

function encodeSystem(texts: readonly TextPart[], rules: EncodeRules): JsonObject {
  const role = rules.quirks.has('developerRole') ? 'developer' : 'system'
  const text = onlyText(texts, rules)
  if (text !== null) return { role, content: text }
  const parts = texts.map((part) => encodeText(part, rules))
  return { role, content: textContent(parts, rules) }
}

/** Encodes a user turn. Tool results become separate messages, before all other parts. */
function encodeUser(parts: readonly Part[], own: JsonObject, rules: EncodeRules): JsonObject[] | UnsupportedField {
  const text = onlyText(parts, rules)
  if (text !== null) return [rules.isOwn ? { ...own, role: 'user', content: text } : { role: 'user', content: text }]
  const results: JsonObject[] = []
  /** Non-text parts of tool results, which this format allows only in a user message. */
  const shown: JsonObject[] = []
  const others: JsonObject[] = []
  for (const part of parts) {
    const encoded = part.type === 'toolResult' ? encodeResult(part, rules, shown) : encodePart(part, rules)
    if (encoded instanceof UnsupportedField) return encoded
    if (encoded !== null) (part.type === 'toolResult' ? results : others).push(encoded)
  }
  const content = [...shown, ...others]
  // An empty message is kept only for clients of this format, who wrote it themselves.
  const isEmpty = content.length === 0 && (results.length > 0 || !rules.isOwn)
  return isEmpty ? results : [...results, { ...own, role: 'user', content: plainOr(content) }]
}

function encodeResult(result: ToolResultPart, rules: EncodeRules, shown: JsonObject[]): JsonObject | UnsupportedField {
  const { isOwn, format, losses } = rules
  const id = upstreamId(result.id, isOwn)
  const texts: JsonObject[] = []
  for (const part of result.parts) {
    const encoded = encodePart(part, rules)
    if (encoded instanceof UnsupportedField) return encoded
    if (encoded === null) continue
    if (isOwn || encoded.type === 'text') {
      texts.push(encoded)
      continue
    }
    lose(losses, { what: 'renamed', path: `${clientField(format, 'content')}.content[]`, note: SHOWN })
    shown.push({ type: 'text', text: `From the result of the tool call ${id}:` }, encoded)
  }
  if (result.isError) lose(losses, { what: 'dropped', path: clientField(format, 'toolError') })
  return {
    ...(isOwn && result.rest),
    role: 'tool',
    tool_call_id: id,
    ...(isOwn && result.name !== undefined && { name: result.name }),
    content: textContent(texts, rules),
    ...(isOwn && result.cache !== undefined && { cache_control: result.cache }),
  }
}

const SHOWN = 'tool results can contain only text: the other parts follow in a user message'

/** Encodes an assistant turn; null when this format can express none of its parts. */
function encodeAssistant(parts: readonly Part[], rules: EncodeRules): JsonObject | UnsupportedField | null {
  const contents: JsonObject[] = []
  const calls: JsonObject[] = []
  const refusals: string[] = []
  for (const part of parts) {
    if (part.type === 'toolCall') {
      calls.push(encodeCall(part, rules))
    } else if (part.type === 'refusal') {
      refusals.push(part.text)
    } else {
      const encoded = encodePart(part, rules)
      if (encoded instanceof UnsupportedField) return encoded
      if (encoded !== null) contents.push(encoded)
    }
  }
  const isEmpty = contents.length === 0 && calls.length === 0 && refusals.length === 0
  if (isEmpty && !rules.isOwn) return null
  return {
    role: 'assistant',
    content: contents.length === 0 ? null : textContent(contents, rules),
    ...(refusals.length > 0 && { refusal: refusals.join('') }),
    ...encodeReasoning(parts, rules),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function encodeCall(part: ToolCallPart, rules: EncodeRules): JsonObject {
  const { isOwn, quirks, format, losses } = rules
  const keepsSignature = quirks.has('googleSignatures')
  if (part.signature !== undefined && !keepsSignature && !isOwn) {
    lose(losses, { what: 'dropped', path: clientField(format, 'callSignature') })
  }
  const name = rules.names.get(part.name) ?? part.name
  const encoded = encodeToolCall(part, name, upstreamId(part.id, isOwn), takesFreeText(rules))
  return { ...(isOwn && part.rest), ...encoded, ...(keepsSignature && googleExtra(part.signature)) }
}

/** Encodes reasoning only for servers that accept it; other servers refuse the request. */
function encodeReasoning(parts: readonly Part[], { isOwn, quirks, format, losses }: EncodeRules): JsonObject {
  const takesIt = quirks.has('reasoningContent') || (isOwn && !quirks.has('noReasoningHistory'))
  if (takesIt) return reasoningForUpstream(parts)
  if (parts.some((part) => part.type === 'reasoning')) {
    lose(losses, { what: 'dropped', path: clientField(format, 'reasoningHistory') })
  }
  return {}
}
