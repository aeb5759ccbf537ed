import type { AnswerPart } from '../../collect-response.ts'
import type { Fields } from '../../fields.ts'
import { isObject, textAt } from '../../../wire/json.ts'
import type { Json, JsonObject, Part, ReasoningPart } from '../../middle.ts'
import type { Maker } from '../../provenance.ts'
import { fromClientOf, madeBy } from '../../provenance.ts'

/**
 * This format has no reasoning of its own; servers and clients agreed on these members of a message:
 * `reasoning_content` (or `reasoning`), the text; `reasoning_signature`, what its maker wants back; `reasoning_details`, a
 * list of the same where it comes in several pieces, or sealed.
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

/** For a client: what is signed or sealed keeps its maker's name, and comes back with it. */
export function reasoningForClient(parts: readonly AnswerPart[]): JsonObject {
  const reasoning = parts.filter((part) => part.type === 'reasoning')
  const text = reasoning.map((part) => part.text).join('')
  const details = reasoning.filter(needsDetails).flatMap(detailsOfPart)
  // Clients put the texts together, and one signature does not fit two.
  const signature = reasoning.length === 1 ? reasoning[0]?.signature : undefined
  return {
    ...(text !== '' && { reasoning_content: text }),
    ...(signature !== undefined && { reasoning_signature: signature }),
    ...(details.length > 0 && { reasoning_details: details }),
  }
}

/** For a server: bare, as it made it, beside the name of the maker. */
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

/** What has an id is a section of something that may be sealed further on. */
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

/** Of models that sign their reasoning, most are Anthropic's. */
function makerOf(format: Json | undefined): Maker {
  if (typeof format !== 'string') return 'anthropic'
  return [...FORMATS].find(([, known]) => format.split('-')[0] === known.split('-')[0])?.[0] ?? 'anthropic'
}

/** How servers that speak for several vendors name the maker of a detail. */
const FORMATS: ReadonlyMap<Maker, string> = new Map([
  ['anthropic', 'anthropic-claude-v1'],
  ['openai', 'openai-responses-v1'],
  ['google', 'google-gemini-v1'],
  ['amazon', 'amazon-bedrock-v1'],
])
