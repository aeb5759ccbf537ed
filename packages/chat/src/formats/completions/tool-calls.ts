import { fromClientCallId } from '../../tools/call-ids.ts'
import { type Fields, withRest } from '../../request/fields.ts'
import { objectAt, textAt } from '@portico/http/json'
import type { JsonObject, ToolCallPart } from '../../middle.ts'
import { madeBy, withMaker } from '../../tools/provenance.ts'
import { unwrapInput, wrapInput } from '../../tools/custom-tools.ts'

/** Decodes `tool_calls` and the legacy `function_call`, which has no id and gets `legacyId`. */
export function decodeToolCalls(message: Fields, legacyId: string): ToolCallPart[] {
  const calls = message.list('tool_calls').map(decodeToolCall)
  const legacy = message.fields('function_call')
  if (legacy === undefined) return calls
  return [
    ...calls,
    { type: 'toolCall', id: legacyId, name: legacy.text('name') ?? '', arguments: argumentsText(legacy) },
  ]
}

function decodeToolCall(call: Fields): ToolCallPart {
  const { id, signature = googleSignature(call.raw) } = fromClientCallId(call.text('id') ?? '')
  const signed = signature === undefined ? {} : { signature }
  if (call.text('type') === 'custom') {
    const custom = call.fields('custom')
    const name = custom?.text('name') ?? ''
    const input = wrapInput(custom?.text('input') ?? '')
    return withRest({ type: 'toolCall', id, name, arguments: input, custom: true, ...signed }, call)
  }
  const called = call.fields('function')
  if (called === undefined) call.fail('function', 'an object')
  const name = called?.text('name') ?? ''
  const text = called === undefined ? '' : argumentsText(called)
  return withRest({ type: 'toolCall', id, name, arguments: text, ...signed }, call)
}

/** The arguments as text; some clients send an object. */
function argumentsText(called: Fields): string {
  const value = called.take('arguments')
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** `encodeToolCall` writes a custom tool call as `custom` when `isFree` is true, and as a function call otherwise. */
export function encodeToolCall(call: ToolCallPart, name: string, id: string, isFree: boolean): JsonObject {
  if (call.custom && isFree) return { id, type: 'custom', custom: { name, input: unwrapInput(call.arguments) } }
  return { id, type: 'function', function: { name, arguments: call.arguments === '' ? '{}' : call.arguments } }
}

/**
 * The signature of a tool call in the member that Google's OpenAI-compatible servers use; Google requires the signature
 * back.
 */
export function googleSignature(call: JsonObject): string | undefined {
  const bare = textAt(objectAt(objectAt(call, 'extra_content'), 'google'), 'thought_signature')
  return bare === undefined ? undefined : withMaker('google', bare)
}

export function googleExtra(signature: string | undefined): JsonObject {
  const bare = signature === undefined ? null : madeBy('google', signature)
  return bare === null ? {} : { extra_content: { google: { thought_signature: bare } } }
}
