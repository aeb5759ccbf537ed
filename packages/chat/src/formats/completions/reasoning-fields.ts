import type { AnswerPart } from '../../response/collect-response.ts'
import type { Fields } from '../../request/fields.ts'
import { isObject, textAt } from '@portico/http/json'
import type { Json, JsonObject, Part, ReasoningPart } from '../../middle.ts'
import type { Maker } from '../../tools/provenance.ts'
import { fromClientOf, madeBy } from '../../tools/provenance.ts'

/**
 * The format itself has no reasoning. Servers and clients use these members of a message by convention:
 * `reasoning_content` (or `reasoning`), the text; `reasoning_signature`, the signature that the vendor requires back;
 * `reasoning_details`, a list of both for reasoning that has several pieces or is encrypted.
 */

export function decodeReasoningFields(message: Fields): ReasoningPart[] {
  const details = message.take('reasoning_details')
  const signature = message.text('reasoning_signature')
  const other = message.text('reasoning')
  const text = message.text('reasoning_content') ?? other
  const detailed = Array.isArray(details) ? details.filter(isObject).flatMap(partOfDetail) : []
  if (detailed.length > 0) return detailed
  if (text === undefined && signature === undefined) return []
  return [
    {
      type: 'reasoning',
      text: text ?? '',
      ...(signature !== undefined && { signature: fromClientOf('anthropic', signature) }),
    },
  ]
}

/**
 * Encodes reasoning for a client. Signatures and encrypted reasoning keep the prefix of their vendor, and the client
 * returns both.
 */
export function reasoningForClient(parts: readonly AnswerPart[]): JsonObject {
  const reasoning = parts.filter((part) => part.type === 'reasoning')
  const text = reasoning.map((part) => part.text).join('')
  const details = reasoning.filter(needsDetails).flatMap(detailsOfPart)
  // Clients join the texts, and one signature cannot cover two texts.
  const signature = reasoning.length === 1 ? reasoning[0]?.signature : undefined
  return {
    ...(text !== '' && { reasoning_content: text }),
    ...(signature !== undefined && { reasoning_signature: signature }),
    ...(details.length > 0 && { reasoning_details: details }),
  }
}

/** Encodes reasoning for an upstream: without the vendor prefix, and with the vendor in `format`. */
export function reasoningForUpstream(parts: readonly Part[]): JsonObject {
  const reasoning = parts.filter((part) => part.type === 'reasoning')
  const text = reasoning.map((part) => part.text).join('')
  const details = reasoning.some(isSealed) ? reasoning.flatMap(detailsOfPart).map(withFormat) : []
  return {
    ...(text !== '' && { reasoning_content: text }),
    ...(details.length > 0 && { reasoning_details: details }),
  }
}

function isSealed(part: ReasoningPart): boolean {
  return part.signature !== undefined || part.opaque !== undefined
}

/**
 * Whether a part needs `reasoning_details`. A part with an id belongs to reasoning that may be encrypted in a later
 * part.
 */
export function needsDetails(part: ReasoningPart): boolean {
  return isSealed(part) || part.id !== undefined
}

export function detailsOfPart({ text, signature, opaque, id }: ReasoningPart): JsonObject[] {
  const identified: JsonObject = id === undefined ? {} : { id }
  const signed: JsonObject = signature === undefined ? {} : { signature }
  const isTold = text !== '' || signature !== undefined
  return [
    ...(isTold ? [{ type: 'reasoning.text', text, ...signed, ...identified }] : []),
    ...(opaque === undefined ? [] : [{ type: 'reasoning.encrypted', data: opaque, ...identified }]),
  ]
}

function withFormat(detail: JsonObject): JsonObject {
  for (const member of ['signature', 'data']) {
    const sealed = textAt(detail, member)
    for (const [maker, format] of FORMATS) {
      const bare = sealed === undefined ? null : madeBy(maker, sealed)
      if (bare !== null) return { ...detail, [member]: bare, format }
    }
  }
  return detail
}

export function partOfDetail(detail: JsonObject): ReasoningPart[] {
  const maker = makerOf(detail.format)
  const id = textAt(detail, 'id')
  const identified = id === undefined ? {} : { id }
  const data = textAt(detail, 'data')
  if (data !== undefined) return [{ type: 'reasoning', text: '', opaque: fromClientOf(maker, data), ...identified }]
  const text = textAt(detail, 'text') ?? textAt(detail, 'summary')
  const signature = textAt(detail, 'signature')
  if (text === undefined && signature === undefined) return []
  return [
    {
      type: 'reasoning',
      text: text ?? '',
      ...(signature !== undefined && { signature: fromClientOf(maker, signature) }),
      ...identified,
    },
  ]
}

/**
 * The vendor named by `format`; Anthropic by default, because most models that sign their reasoning are Anthropic's.
 */
function makerOf(format: Json | undefined): Maker {
  if (typeof format !== 'string') return 'anthropic'
  return [...FORMATS].find(([, known]) => format.split('-')[0] === known.split('-')[0])?.[0] ?? 'anthropic'
}

/** The values of `format` by which multi-vendor servers name the vendor of a detail. */
const FORMATS: ReadonlyMap<Maker, string> = new Map([
  ['anthropic', 'anthropic-claude-v1'],
  ['openai', 'openai-responses-v1'],
  ['google', 'google-gemini-v1'],
  ['amazon', 'amazon-bedrock-v1'],
])
