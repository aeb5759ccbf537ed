import { clientField, lose } from '../../request/carry-over.ts'
import { isObject } from '@portico/http/json'
import type { JsonObject, Part, ReasoningPart, RefusalPart, TextPart, ToolCallPart } from '../../middle.ts'
import { unwrapInput } from '../../tools/custom-tools.ts'
import { encodeOutputText } from './encode-content.ts'
import type { InputScope } from './input-scope.ts'
import { ownEncryptedContent, reasoningItem } from './reasoning-item.ts'

/** Encodes the text, reasoning and calls of one assistant turn. */
export function encodeAssistant(parts: readonly Part[], scope: InputScope): JsonObject[] {
  const items: JsonObject[] = []
  for (let at = 0, part = parts[at]; part !== undefined; part = parts[at]) {
    const item = neighboursOf(parts, at)
    at += item.length
    switch (part.type) {
      case 'reasoning':
        items.push(
          ...encodeReasoning(
            item.filter((part) => part.type === 'reasoning'),
            scope,
          ),
        )
        break
      case 'text':
      case 'refusal':
        items.push(
          ...encodeMessage(
            item.filter((part) => part.type === 'text' || part.type === 'refusal'),
            scope,
          ),
        )
        break
      case 'toolCall':
        items.push(encodeCall(part, scope))
        break
      case 'native':
        if (scope.isOwn) items.push(part.value)
        break
      case 'image':
      case 'audio':
      case 'file':
      case 'toolResult':
        lose(scope.losses, {
          what: 'dropped',
          path: clientField(scope.request.format, 'content'),
          note: `${part.type} of the assistant`,
        })
    }
  }
  return items
}

/** The part at `at` and the following parts of the same item: sections of one reasoning, texts of one message. */
function neighboursOf(parts: readonly Part[], at: number): Part[] {
  let end = at + 1
  let before = parts[at]
  for (
    let next = parts[end];
    before !== undefined && next !== undefined && isOneItem(before, next);
    next = parts[end]
  ) {
    before = next
    end += 1
  }
  return parts.slice(at, end)
}

function isOneItem(before: Part, part: Part): boolean {
  if (before.type === 'reasoning') return part.type === 'reasoning' && isOneReasoning(before, part)
  if (before.type !== 'text' && before.type !== 'refusal') return false
  if (part.type !== 'text' || before.type !== 'text') return part.type === 'text' || part.type === 'refusal'
  return JSON.stringify(before.rest?.item) === JSON.stringify(part.rest?.item)
}

/**
 * Whether two parts belong to one reasoning item. Clients of other formats lose the id; encrypted content still ends
 * the item.
 */
function isOneReasoning(before: ReasoningPart, part: ReasoningPart): boolean {
  if (before.id !== part.id) return false
  return before.id !== undefined || (before.signature === undefined && before.opaque === undefined)
}

function encodeMessage(parts: readonly (TextPart | RefusalPart)[], { isOwn }: InputScope): JsonObject[] {
  // An empty message has no effect, and some providers refuse it.
  if (!isOwn && parts.every((part) => part.text === '')) return []
  const [first] = parts
  const item = isOwn && first?.type === 'text' ? first.rest?.item : undefined
  const content = parts.map((part) =>
    part.type === 'text' ? encodeOutputText(part, isOwn) : { type: 'refusal', refusal: part.text },
  )
  return [{ type: 'message', role: 'assistant', content, ...(isObject(item) && item) }]
}

function encodeReasoning(parts: readonly ReasoningPart[], { request, isOwn, losses }: InputScope): JsonObject[] {
  const sealed = ownEncryptedContent(parts)
  const known = parts[0]?.id
  // Ids of other forms are refused, and only reasoning with encrypted content was an item of this vendor.
  const id = isOwn || (sealed !== undefined && known?.startsWith('rs_')) ? known : undefined
  if (id !== undefined || sealed !== undefined) {
    return [{ ...(id !== undefined && { id }), ...reasoningItem(parts, sealed) }]
  }
  const note = 'only the provider that created it can read it'
  lose(losses, { what: 'dropped', path: clientField(request.format, 'reasoningHistory'), note })
  return []
}

function encodeCall(call: ToolCallPart, scope: InputScope): JsonObject {
  if (call.signature !== undefined) {
    lose(scope.losses, { what: 'dropped', path: clientField(scope.request.format, 'callSignature') })
  }
  const common = {
    call_id: scope.idOf(call.id),
    name: scope.nameOf(call.name),
    ...(scope.isOwn && call.rest),
  }
  return call.custom
    ? { type: 'custom_tool_call', ...common, input: unwrapInput(call.arguments) }
    : { type: 'function_call', ...common, arguments: call.arguments === '' ? '{}' : call.arguments }
}
