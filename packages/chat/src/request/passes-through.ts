import { isObject } from '@portico/http/json'
import type { ChatRequest, FormatName, Message, Part, ReasoningPart } from '../middle.ts'
import { type Maker, madeBy } from '../tools/provenance.ts'
import { splitCallId } from '../tools/call-ids.ts'

/**
 * Whether a request can go to a provider of its own format unchanged. A conversation that began at another vendor
 * contains parts that this vendor refuses, and a model may not support the requested output format; only the encoder
 * knows the replacement, or the field to refuse.
 */
export function passesThrough(request: ChatRequest, quirks: ReadonlySet<string>): boolean {
  if (bearsForeignMarks(request) || lacksThinking(request)) return false
  if (quirks.has('noReasoningHistory') && hasReasoning(request)) return false
  if (quirks.has('bytesOnly') && refersToMedia(request)) return false
  return request.output.kind !== 'schema' || !(quirks.has('noOutputFormat') || quirks.has('noJsonSchema'))
}

/**
 * Whether a Messages client asks for thinking although the open turn began without thinking: Anthropic refuses such a
 * request.
 */
export function lacksThinking({ format, reasoning, messages }: ChatRequest): boolean {
  const thinking = reasoning?.rest?.thinking
  if (format !== 'messages' || !isObject(thinking) || thinking.type !== 'enabled') return false
  return lacksSignedReasoning(messages)
}

/** Whether the last calls came without the thinking that Claude signed before them. */
export function lacksSignedReasoning(messages: readonly Message[]): boolean {
  const last = messages.findLast((message) => message.role === 'assistant')
  if (last === undefined || !last.parts.some((part) => part.type === 'toolCall')) return false
  return !last.parts.some(
    (part) => part.type === 'reasoning' && madeBy('anthropic', part.signature ?? part.opaque ?? '') !== null,
  )
}

function hasReasoning({ messages }: ChatRequest): boolean {
  return messages.some(({ parts }) => parts.some((part) => part.type === 'reasoning'))
}

/** Whether an image or a file is a URL or an id instead of bytes. */
function refersToMedia({ messages }: ChatRequest): boolean {
  const refers = (part: Part): boolean =>
    part.type === 'toolResult' ? part.parts.some(refers) : 'source' in part && part.source.kind !== 'data'
  return messages.some(({ parts }) => parts.some(refers))
}

/** The vendors whose signatures stand in the members of a format as they are; OpenAI for all others. */
const MAKERS: Readonly<Partial<Record<FormatName, Maker>>> = { messages: 'anthropic', gemini: 'google' }

function bearsForeignMarks({ format, messages }: ChatRequest): boolean {
  const maker = MAKERS[format] ?? 'openai'
  const isForeign = (mark: string | undefined): boolean => mark !== undefined && madeBy(maker, mark) === null
  return messages.some(({ parts }) =>
    parts.some((part) => {
      if (part.type === 'reasoning')
        return isForeign(part.signature) || isForeign(part.opaque) || isUnsigned(part, format)
      if (part.type !== 'toolCall') return false
      return part.isUnsigned === true || isForeign(part.signature) || splitCallId(part.id).signature !== undefined
    }),
  )
}

/**
 * Whether no vendor signed the reasoning. In these formats reasoning returns with the data of its vendor, but some
 * vendors add none.
 */
function isUnsigned({ signature, opaque, id }: ReasoningPart, format: FormatName): boolean {
  return (
    (format === 'messages' || format === 'responses') &&
    signature === undefined &&
    opaque === undefined &&
    id === undefined
  )
}
