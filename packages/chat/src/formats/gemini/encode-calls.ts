import { clientField, lose } from '../../request/carry-over.ts'
import { parseExactJson, parseJsonObject } from '@portico/http/json'
import {
  type JsonObject,
  type Message,
  type ToolCallPart,
  type ToolResultPart,
  UnsupportedField,
} from '../../middle.ts'
import { madeBy } from '../../tools/provenance.ts'
import { inputOf } from '../messages/tool-input.ts'
import { type GeminiEncoder, reportCache } from './encoder.ts'
import { encodeMedia } from './encode-media.ts'

export type KnownCalls = ReadonlyMap<string, { name: string; order: number }>

/** The calls of a conversation by their ids: results are paired with them by name and order. */
export function callsIn(messages: readonly Message[]): KnownCalls {
  const calls = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'toolCall'))
  return new Map(calls.map(({ id, name }, order) => [id, { name, order }]))
}

export function encodeCall(part: ToolCallPart, encoder: GeminiEncoder): JsonObject {
  const { id, name, signature } = part
  const bare = signature === undefined ? null : madeBy('google', signature)
  return {
    functionCall: {
      ...(encoder.hasCallIds && { id }),
      name: encoder.names.get(name) ?? name,
      args: encodeArguments(part, encoder),
    },
    ...(bare !== null && { thoughtSignature: bare }),
  }
}

function encodeArguments(part: ToolCallPart, { format, losses }: GeminiEncoder): JsonObject {
  const { value, isWrapped } = inputOf(parseExactJson(part.arguments), part.arguments)
  const path = clientField(format, 'toolArguments')
  if (isWrapped) lose(losses, { what: 'renamed', path, note: 'the arguments are not an object' })
  return value
}

export function encodeResults(results: ToolResultPart[], calls: KnownCalls, encoder: GeminiEncoder): JsonObject[] {
  const orderOf = ({ id }: ToolResultPart) => calls.get(id)?.order ?? calls.size
  return results
    .toSorted((one, other) => orderOf(one) - orderOf(other))
    .flatMap((result) => encodeResult(result, calls, encoder))
}

function encodeResult(part: ToolResultPart, calls: KnownCalls, encoder: GeminiEncoder): JsonObject[] {
  const name = calls.get(part.id)?.name ?? part.name
  if (name === undefined) {
    const field = clientField(encoder.format, 'toolResultId')
    encoder.faults.push(new UnsupportedField(field, 'the result of a tool must answer a call in the conversation'))
    return []
  }
  const texts = part.parts.flatMap((inner) => (inner.type === 'text' ? [inner.text] : []))
  const media = part.parts
    .filter((inner) => inner.type === 'image' || inner.type === 'file')
    .map((inner) => encodeMedia(inner, encoder))
    .filter((made) => made !== null)
  for (const marked of [part, ...part.parts]) reportCache(marked, encoder)
  const functionResponse: JsonObject = {
    ...(encoder.hasCallIds && { id: part.id }),
    name: encoder.names.get(name) ?? name,
    response: encodeResponse(texts.join('\n'), part.isError),
    ...(media.length > 0 && encoder.isGemini3 && { parts: media }),
  }
  // Older models see media only beside the result.
  return [{ functionResponse }, ...(encoder.isGemini3 ? [] : media)]
}

/**
 * The result as an object. A JSON object is sent whole, unless it has one of the two members with a special meaning for
 * Gemini.
 */
function encodeResponse(text: string, isError: boolean): JsonObject {
  if (isError) return { error: text }
  // Gemini reads numbers as doubles, so long ids are safe only in texts.
  const object = LONG_NUMBER.test(text) ? null : parseJsonObject(text)
  if (object === null) return { output: text }
  return 'output' in object || 'error' in object ? { output: object } : object
}

const LONG_NUMBER = /\d{16}/
