import { textAt } from '@portico/http/json'
import { sseRecord } from '@portico/http/sse'
import type { ResponseContext, StreamEncoder } from '../../../format.ts'
import type { ChatError, ChatEvent, Json, JsonObject } from '../../../middle.ts'
import { brokenStream } from '../../../response/chat-error.ts'
import { type CollectedResponse, collectInto, nothingCollected } from '../../../response/collect-response.ts'
import { errorBody } from './encode-errors.ts'
import { answerHead, encodePart, finishReason, groundingOf, sealedParts } from './encode-response.ts'
import { thoughtSignature } from './signatures.ts'

/** Writes `streamGenerateContent` with `alt=sse`: each record is a response with the next pieces of its parts. */
export function createStreamEncoder(context: ResponseContext): StreamEncoder {
  return new RecordWriter(context)
}

class RecordWriter implements StreamEncoder {
  readonly #context: ResponseContext
  readonly #collected: CollectedResponse = nothingCollected()
  /** Parts that have begun and not ended. */
  readonly #open = new Set<number>()
  /** The candidates that have called a function. */
  readonly #calling = new Set<number>()
  #id = ''
  #isOver = false

  constructor(context: ResponseContext) {
    this.#context = context
  }

  event(event: ChatEvent): string {
    if (this.#isOver) return ''
    collectInto(this.#collected, event)
    switch (event.type) {
      case 'start':
      case 'usage':
        return ''
      case 'partStart':
        this.#open.add(event.index)
        return ''
      case 'finish':
        return [...this.#open].map((index) => this.#end(index)).join('')
      case 'partDelta':
        return event.text === '' ? '' : this.#add(event.index, this.#piece(event.index, event.text))
      case 'partEnd':
        return this.#end(event.index)
      case 'error':
        return this.#fail(event.error)
    }
  }

  /** The last record has the reasons and the usage, which may come in any order. */
  end(): string {
    if (this.#isOver) return ''
    const { finish, parts, choices } = this.#collected
    if (finish === null) return this.#fail(brokenStream('the answer ended too early'))
    this.#isOver = true
    const candidates = [finish.reason, ...(finish.others ?? [])].map((reason, index): JsonObject => {
      const own = parts.filter((_, at) => (choices?.get(at) ?? 0) === index)
      // The library keeps the history of a chat only if every record has a part.
      const content = { role: 'model', parts: [{ text: '' }] }
      return { content, finishReason: finishReason(reason, own), index, ...groundingOf(own) }
    })
    return this.#record(candidates)
  }

  #end(index: number): string {
    this.#open.delete(index)
    return this.#add(index, this.#last(index))
  }

  #record(candidates: Json): string {
    const head = answerHead(this.#collected, this.#context)
    // All records of a response have one id.
    if (this.#id === '') this.#id = textAt(head, 'responseId') ?? ''
    return sseRecord(JSON.stringify({ candidates, ...head, responseId: this.#id }))
  }

  #add(part: number, pieces: readonly JsonObject[]): string {
    if (pieces.length === 0) return ''
    const index = this.#collected.choices?.get(part) ?? 0
    return this.#record([{ content: { role: 'model', parts: [...pieces] }, index }])
  }

  /** The next piece of a part. Calls are sent whole, when they end. */
  #piece(index: number, text: string): JsonObject[] {
    const part = this.#collected.parts[index]
    if (part?.type === 'text' || part?.type === 'refusal') return [{ text }]
    return part?.type === 'reasoning' ? [{ text, thought: true }] : []
  }

  #last(index: number): JsonObject[] {
    const part = this.#collected.parts[index]
    if (part?.type === 'native') return encodePart(part, false)
    if (part?.type === 'toolCall') {
      const choice = this.#collected.choices?.get(index) ?? 0
      const isFirst = !this.#calling.has(choice)
      this.#calling.add(choice)
      return encodePart(part, isFirst)
    }
    if (part?.type !== 'reasoning') return []
    const { signature } = part
    const signed = { text: '', thought: true, thoughtSignature: thoughtSignature(signature ?? '') }
    return [...(signature === undefined ? [] : [signed]), ...sealedParts(part)]
  }

  #fail(error: ChatError): string {
    this.#isOver = true
    return sseRecord(JSON.stringify(errorBody(error)))
  }
}
