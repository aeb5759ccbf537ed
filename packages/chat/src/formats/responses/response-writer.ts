import { brokenStream } from '../../response/chat-error.ts'
import { type CollectedResponse, collectInto, nothingCollected } from '../../response/collect-response.ts'
import type { ResponseContext } from '../../format.ts'
import type { ChatEvent, JsonObject, ReasoningPart, StartedPart, ToolCallPart } from '../../middle.ts'
import { customNames } from '../../tools/tool-names.ts'
import { deltaHead, type EventSink, type ItemOutput, type PartWriter } from './item-output.ts'
import { emptyResponse, endedResponse, endStatus, type EndStatus } from './response-object.ts'
import { type MessageWriter, writeMessage } from './write-message.ts'
import { type ReasoningWriter, writeReasoning } from './write-reasoning.ts'
import { clientCallId } from '../../tools/call-ids.ts'
import { unwrapInput } from '../../tools/custom-tools.ts'

/** Writes one response, streamed or whole: the last event of a stream has the same response as a buffered one. */
export class ResponseWriter {
  readonly folded: CollectedResponse = nothingCollected()
  readonly #context: ResponseContext
  readonly #sink: EventSink
  readonly #customs: ReadonlySet<string>
  readonly #writers = new Map<number, PartWriter>()
  readonly #items: (JsonObject | null)[] = []
  #empty: JsonObject | null = null
  #reasoning: ReasoningWriter | null = null
  #message: MessageWriter | null = null

  constructor(context: ResponseContext, sink: EventSink) {
    this.#context = context
    this.#sink = sink
    this.#customs = customNames(context.request)
  }

  /** Continues a response that the client knows by the id of `start`. */
  resume(start: Extract<ChatEvent, { type: 'start' }>): void {
    collectInto(this.folded, start)
    this.#empty = { ...emptyResponse(this.#context, this.folded), id: start.id }
  }

  event(event: ChatEvent): void {
    collectInto(this.folded, event)
    this.#begin()
    switch (event.type) {
      case 'partStart': {
        const writer = this.#writerFor(event.index, event.part)
        if (writer !== null) this.#writers.set(event.index, writer)
        break
      }
      case 'partDelta':
        if (event.text !== '') this.#writers.get(event.index)?.add(event.text)
        break
      case 'partEnd':
        this.#writers.get(event.index)?.end()
        this.#writers.delete(event.index)
        break
      case 'finish':
        for (const writer of this.#writers.values()) writer.end()
        this.#writers.clear()
        this.#closeItems()
        break
      case 'error':
        // Open parts stay open: half a call must not look complete.
        this.#closeItems()
        break
      case 'start':
      case 'usage':
        break
    }
  }

  /** The response at its end; a response without a finish reason or an error broke off. */
  end(): { status: EndStatus; response: JsonObject } {
    const { folded } = this
    if (folded.finish === null) folded.error ??= brokenStream('the answer ended too early')
    const output = this.#items.filter((item) => item !== null)
    return { status: endStatus(folded), response: endedResponse(this.#begin(), output, folded) }
  }

  #begin(): JsonObject {
    if (this.#empty !== null) return this.#empty
    const empty = emptyResponse(this.#context, this.folded)
    this.#empty = empty
    this.#sink.say('response.created', { response: empty })
    this.#sink.say('response.in_progress', { response: empty })
    return empty
  }

  #newItem(prefix: string, id: string = this.#context.newId(prefix)): ItemOutput {
    const sink = this.#sink
    const at = this.#items.push(null) - 1
    const done = (item: JsonObject): void => {
      this.#items[at] = item
      sink.say('response.output_item.done', { output_index: at, item })
    }
    return { id, at, sink, done }
  }

  #closeItems(): void {
    this.#message?.close()
    this.#reasoning?.close()
  }

  #writerFor(index: number, started: StartedPart): PartWriter | null {
    const part = this.folded.parts[index]
    if (!this.#message?.continuesWith(started)) {
      this.#message?.close()
      this.#message = null
    }
    if (part?.type !== 'reasoning') {
      this.#reasoning?.close()
      this.#reasoning = null
    }
    switch (part?.type) {
      case 'text':
      case 'refusal':
        this.#message ??= writeMessage(part.type, this.#newItem('msg_'))
        return this.#message.section(part)
      case 'toolCall': {
        const isCustom = this.#customs.has(part.name)
        return writeCall(part, isCustom, this.#newItem(isCustom ? 'ctc_' : 'fc_'))
      }
      case 'reasoning':
        return this.#reasoningFor(part).section(part)
      case 'native':
        if (part.format === 'responses') this.#writeNative(part.value)
        return null
      case undefined:
        return null
    }
  }

  #reasoningFor(part: ReasoningPart): ReasoningWriter {
    if (this.#reasoning?.continuesWith(part)) return this.#reasoning
    this.#reasoning?.close()
    this.#reasoning = writeReasoning(part, this.#newItem('rs_', part.id))
    return this.#reasoning
  }

  #writeNative(item: JsonObject): void {
    const output = this.#newItem('', '')
    this.#sink.say('response.output_item.added', { output_index: output.at, item })
    output.done(item)
  }
}

/** Writes a tool call; `collectInto` fills the arguments of `part`. */
function writeCall(part: ToolCallPart, isCustom: boolean, output: ItemOutput): PartWriter {
  const { id, at, sink } = output
  const position = { item_id: id, output_index: at }
  const call = { call_id: clientCallId(part), name: part.name }
  const head = deltaHead(
    isCustom ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta',
    position,
  )
  const item = (text: string, status: string) =>
    isCustom
      ? { id, type: 'custom_tool_call', status, ...call, input: text }
      : { id, type: 'function_call', status, ...call, arguments: text }
  sink.say('response.output_item.added', { output_index: at, item: item('', 'in_progress') })
  return {
    add(text) {
      // Free text can be unwrapped from its JSON only when complete.
      if (!isCustom) sink.delta(head, text)
    },
    end() {
      const text = isCustom ? unwrapInput(part.arguments) : part.arguments || '{}'
      if (isCustom || part.arguments === '') sink.delta(head, text)
      if (isCustom) sink.say('response.custom_tool_call_input.done', { ...position, input: text })
      else sink.say('response.function_call_arguments.done', { ...position, name: part.name, arguments: text })
      output.done(item(text, 'completed'))
    },
  }
}
