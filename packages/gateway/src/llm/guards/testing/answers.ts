import * as fc from 'fast-check'
import type { ChatEvent, StartedPart } from '@portico/chat'
import { cutAt, privateText, somePlaces } from './splits.ts'

/** One part, with the pieces of its text. */
interface AnswerPart {
  part: StartedPart
  pieces: string[]
}

const textPart = fc.record<AnswerPart>({
  part: fc.constantFrom<StartedPart>({ type: 'text' }, { type: 'refusal' }, { type: 'reasoning' }),
  pieces: fc.tuple(privateText, somePlaces).map(([text, places]) => cutAt(text, places)),
})
const toolCall = fc.record<AnswerPart>({
  part: fc.constant<StartedPart>({ type: 'toolCall', id: 'call_1', name: 'tool' }),
  pieces: fc
    .tuple(privateText, privateText, fc.integer({ min: 0, max: 999_999_999 }), somePlaces)
    .map(([key, text, number, places]) => cutAt(JSON.stringify({ [key]: text, number, list: [text] }), places)),
})
const native = fc.record<AnswerPart>({
  part: privateText.map((text): StartedPart => ({ type: 'native', format: 'messages', value: { type: 'odd', text } })),
  pieces: fc.constant([]),
})

/** Whole responses as a provider would stream them; the deltas of their parts may interleave. */
export const answers: fc.Arbitrary<ChatEvent[]> = fc
  .tuple(fc.array(fc.oneof(textPart, toolCall, native), { maxLength: 4 }), fc.boolean())
  .map(([parts, inTurns]): ChatEvent[] => [
    { type: 'start', id: 'id', model: 'model' },
    { type: 'usage', usage: { input: 7 } },
    ...(inTurns ? eventsInTurns(parts) : parts.flatMap((part, index) => eventsOf(part, index))),
    { type: 'usage', usage: { output: 9 } },
    { type: 'finish', reason: 'stop' },
  ])

function eventsOf({ part, pieces }: AnswerPart, index: number): ChatEvent[] {
  return [
    { type: 'partStart', index, part },
    ...pieces.map((text): ChatEvent => ({ type: 'partDelta', index, text })),
    { type: 'partEnd', index, ...(part.type === 'reasoning' && { signature: 'anthropic:sig' }) },
  ]
}

function eventsInTurns(parts: readonly AnswerPart[]): ChatEvent[] {
  const queues = parts.map((part, index) => eventsOf(part, index))
  const starts = queues.map((queue) => queue.shift()!)
  const rest: ChatEvent[] = []
  while (queues.some((queue) => queue.length > 0)) {
    for (const queue of queues) {
      const event = queue.shift()
      if (event !== undefined) rest.push(event)
    }
  }
  return [...starts, ...rest]
}
