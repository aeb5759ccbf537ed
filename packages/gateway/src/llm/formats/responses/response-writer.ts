import { brokenStream } from '../../chat-error.ts'
import type { CollectedResponse } from '../../collect-response.ts'
import { collectInto, nothingCollected } from '../../collect-response.ts'
import type { ResponseContext } from '../../format.ts'
import type { ChatEvent, JsonObject, StartedPart } from '../../middle.ts'
import { customNames } from '../../tool-calls/custom-names.ts'
import type { EventSink, ItemOutput, PartWriter } from './item-output.ts'
import type { EndStatus } from './response-object.ts'
import { emptyResponse, endedResponse, endStatus } from './response-object.ts'
import { writeCall } from './write-call.ts'
import type { MessageWriter } from './write-message.ts'
import { writeMessage } from './write-message.ts'
import type { ReasoningWriter } from './write-reasoning.ts'
import { writeReasoning } from './write-reasoning.ts'

/** Writes one response, streamed or whole: the last event of a stream holds what a buffered response would be. */
export interface ResponseWriter {
  readonly folded: CollectedResponse
  event(event: ChatEvent): void
  /** The response as it ended; without a reason or an error it broke off. */
  end(): { status: EndStatus; response: JsonObject }
}

export function createResponseWriter(context: ResponseContext, sink: EventSink): ResponseWriter {
  const customs = customNames(context.request)
  const folded = nothingCollected()
  const writers = new Map<number, PartWriter>()
  const items: (JsonObject | null)[] = []
  let empty: JsonObject | null = null
  let reasoning: ReasoningWriter | null = null
  let message: MessageWriter | null = null

  function begin(): JsonObject {
    if (empty !== null) return empty
    empty = emptyResponse(context, folded)
    sink.say('response.created', { response: empty })
    sink.say('response.in_progress', { response: empty })
    return empty
  }

  function newItem(prefix: string, id: string = context.newId(prefix)): ItemOutput {
    const at = items.push(null) - 1
    const done = (item: JsonObject): void => {
      items[at] = item
      sink.say('response.output_item.done', { output_index: at, item })
    }
    return { id, at, sink, done }
  }

  function closeMessage(): void {
    message?.close()
    message = null
  }

  function writerFor(index: number, started: StartedPart): PartWriter | null {
    const part = folded.parts[index]
    if (!message?.continuesWith(started)) closeMessage()
    if (part?.type !== 'reasoning') {
      reasoning?.close()
      reasoning = null
    }
    switch (part?.type) {
      case 'text':
      case 'refusal':
        message ??= writeMessage(part.type, newItem('msg_'))
        return message.section(part)
      case 'toolCall': {
        const isCustom = customs.has(part.name)
        return writeCall(part, isCustom, newItem(isCustom ? 'ctc_' : 'fc_'))
      }
      case 'reasoning':
        if (!reasoning?.continuesWith(part)) {
          reasoning?.close()
          reasoning = writeReasoning(part, newItem('rs_', part.id))
        }
        return reasoning.section(part)
      case 'native':
        if (part.format === 'responses') writeNative(part.value)
        return null
      case undefined:
        return null
    }
  }

  function writeNative(item: JsonObject): void {
    const output = newItem('', '')
    sink.say('response.output_item.added', { output_index: output.at, item })
    output.done(item)
  }

  return {
    folded,
    event(event) {
      collectInto(folded, event)
      begin()
      switch (event.type) {
        case 'partStart': {
          const writer = writerFor(event.index, event.part)
          if (writer !== null) writers.set(event.index, writer)
          break
        }
        case 'partDelta':
          if (event.text !== '') writers.get(event.index)?.add(event.text)
          break
        case 'partEnd':
          writers.get(event.index)?.end()
          writers.delete(event.index)
          break
        case 'finish':
          for (const writer of writers.values()) writer.end()
          writers.clear()
          closeMessage()
          reasoning?.close()
          break
        case 'error':
          // What is open stays open: half a call must not look like a whole one.
          closeMessage()
          reasoning?.close()
          break
        case 'start':
        case 'usage':
          break
      }
    },
    end() {
      if (folded.finish === null) folded.error ??= brokenStream('the answer ended too early')
      const output = items.filter((item) => item !== null)
      return { status: endStatus(folded), response: endedResponse(begin(), output, folded) }
    },
  }
}
