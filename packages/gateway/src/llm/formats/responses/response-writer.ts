import { brokenStream } from '../../chat-error.ts'
import { type CollectedResponse, collectInto, nothingCollected } from '../../collect-response.ts'
import type { ResponseContext } from '../../format.ts'
import type { ChatEvent, JsonObject, StartedPart, ToolCallPart } from '../../middle.ts'
import { customNames } from '../../tool-calls/custom-names.ts'
import { deltaHead, type EventSink, type ItemOutput, type PartWriter } from './item-output.ts'
import { emptyResponse, endedResponse, endStatus, type EndStatus } from './response-object.ts'
import { type MessageWriter, writeMessage } from './write-message.ts'
import { type ReasoningWriter, writeReasoning } from './write-reasoning.ts'
import { clientCallId } from '../../tool-calls/client-call-id.ts'
import { unwrapInput } from './custom-tools.ts'

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

/** A call; `part` is filled by others. */
function writeCall(part: ToolCallPart, isCustom: boolean, output: ItemOutput): PartWriter {
  const { id, at, sink } = output
  const place = { item_id: id, output_index: at }
  const call = { call_id: clientCallId(part), name: part.name }
  const head = deltaHead(
    isCustom ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta',
    place,
  )
  const item = (text: string, status: string) =>
    isCustom
      ? { id, type: 'custom_tool_call', status, ...call, input: text }
      : { id, type: 'function_call', status, ...call, arguments: text }
  sink.say('response.output_item.added', { output_index: at, item: item('', 'in_progress') })
  return {
    add(text) {
      // Free text can be told from its JSON only when all of it is there.
      if (!isCustom) sink.delta(head, text)
    },
    end() {
      const text = isCustom ? unwrapInput(part.arguments) : part.arguments || '{}'
      if (isCustom || part.arguments === '') sink.delta(head, text)
      if (isCustom) sink.say('response.custom_tool_call_input.done', { ...place, input: text })
      else sink.say('response.function_call_arguments.done', { ...place, name: part.name, arguments: text })
      output.done(item(text, 'completed'))
    },
  }
}
