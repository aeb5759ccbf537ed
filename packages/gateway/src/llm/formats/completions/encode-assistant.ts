import { clientField, lose } from '../../client-fields.ts'
import type { JsonObject, Part, ToolCallPart } from '../../middle.ts'
import { Unsupported } from '../../middle.ts'
import type { EncodeRules } from './encode-content.ts'
import { encodePart, textContent, upstreamId } from './encode-content.ts'
import { takesFreeText } from './encode-tools.ts'
import { reasoningForUpstream } from './reasoning-fields.ts'
import { encodeToolCall, googleExtra } from './tool-calls.ts'

/** Null when nothing of it can be said here. */
export function encodeAssistant(parts: readonly Part[], rules: EncodeRules): JsonObject | Unsupported | null {
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
      if (encoded instanceof Unsupported) return encoded
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
  const name = rules.names.get(part.name)!
  const encoded = encodeToolCall(part, name, upstreamId(part.id, isOwn), takesFreeText(rules))
  return { ...(isOwn && part.rest), ...encoded, ...(keepsSignature && googleExtra(part.signature)) }
}

/** Servers that do not expect it refuse it. */
function encodeReasoning(parts: readonly Part[], { isOwn, quirks, format, losses }: EncodeRules): JsonObject {
  const takesIt = quirks.has('reasoningContent') || (isOwn && !quirks.has('noReasoningHistory'))
  if (takesIt) return reasoningForUpstream(parts)
  if (parts.some((part) => part.type === 'reasoning')) {
    lose(losses, { what: 'dropped', path: clientField(format, 'reasoningHistory') })
  }
  return {}
}
