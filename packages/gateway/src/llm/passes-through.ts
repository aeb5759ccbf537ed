import { isObject } from '../wire/json.ts'
import type { ChatRequest, FormatName, Message, Part, ReasoningPart } from './middle.ts'
import { madeBy } from './provenance.ts'
import { splitCallId } from './client-call-id.ts'

/** The client's own format where the provider takes it, so that bytes can pass; else what the provider does best. */
export function pickFormat(client: FormatName, offered: readonly [FormatName, ...FormatName[]]): FormatName {
  return offered.includes(client) ? client : offered[0]
}

/**
 * Whether a request may go to a provider of its own format as the client wrote it. Conversations that another vendor
 * began bring what this one refuses, as does a form of the answer that a model does not know; only the encoder knows
 * what to send in its place, or which field to refuse.
 */
export function passesThrough(request: ChatRequest, quirks: ReadonlySet<string>): boolean {
  if (bearsForeignMarks(request) || lacksThinking(request)) return false
  if (quirks.has('noReasoningHistory') && hasReasoning(request)) return false
  if (quirks.has('bytesOnly') && refersToMedia(request)) return false
  return request.output.kind !== 'schema' || !(quirks.has('noOutputFormat') || quirks.has('noJsonSchema'))
}

/** Clients of Messages that want every turn to begin with thinking, while the open one began without: it is refused. */
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

/** To images and files that are elsewhere. */
function refersToMedia({ messages }: ChatRequest): boolean {
  const refers = (part: Part): boolean =>
    part.type === 'toolResult' ? part.parts.some(refers) : 'source' in part && part.source.kind !== 'data'
  return messages.some(({ parts }) => parts.some(refers))
}

function bearsForeignMarks({ format, messages }: ChatRequest): boolean {
  const maker = format === 'messages' ? 'anthropic' : 'openai'
  const isForeign = (mark: string | undefined): boolean => mark !== undefined && madeBy(maker, mark) === null
  return messages.some(({ parts }) =>
    parts.some((part) => {
      if (part.type === 'reasoning')
        return isForeign(part.signature) || isForeign(part.opaque) || isNobodys(part, format)
      return part.type === 'toolCall' && (isForeign(part.signature) || splitCallId(part.id).signature !== undefined)
    }),
  )
}

/** In these formats reasoning comes back with what its maker gave along; there are makers that give nothing. */
function isNobodys({ signature, opaque, id }: ReasoningPart, format: FormatName): boolean {
  return format !== 'completions' && signature === undefined && opaque === undefined && id === undefined
}
