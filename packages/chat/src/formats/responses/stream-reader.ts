import type { ResponseContext } from '../../format.ts'
import { countAt, isObject, objectAt, textAt } from '@portico/http/json'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import type { RecordReader } from '../../streams/sse-json.ts'
import { errorOfBody } from '../completions/errors.ts'
import { startEvent, endEvents } from './decode-response.ts'
import { OutputReader } from './output-reader.ts'

/** Reads the events that carry content; all other events repeat content. */
export class StreamReader implements RecordReader {
  readonly #context: ResponseContext
  readonly #output: OutputReader
  #events: ChatEvent[] = []
  #hasStarted = false

  constructor(context: ResponseContext) {
    this.#context = context
    this.#output = new OutputReader(context, (event) => {
      this.#start({})
      this.#events.push(event)
    })
  }

  record(body: JsonObject, event: string): ChatEvent[] {
    this.#events = []
    const type = textAt(body, 'type') ?? event
    if (type === 'error' || isObject(body.error)) this.#events.push(errorEvent(body))
    else if (type.startsWith('response.reasoning_summary_')) this.#readSummary(body, type)
    else this.#read(body, type)
    return this.#events
  }

  end(): ChatEvent[] {
    return []
  }

  #read(body: JsonObject, type: string): void {
    const output = this.#output
    const item = countAt(body, 'output_index') ?? 0
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return this.#start(objectAt(body, 'response'))
      case 'response.output_item.added':
        return output.beginItem(item, objectAt(body, 'item'))
      case 'response.output_item.done':
        return output.endItem(item, objectAt(body, 'item'))
      case 'response.content_part.added':
        return output.beginContent(contentAt(item, body), objectAt(body, 'part'))
      case 'response.content_part.done':
        return output.endContent(contentAt(item, body), objectAt(body, 'part'))
      case 'response.output_text.delta':
      case 'response.refusal.delta':
      case 'response.reasoning_text.delta':
        return output.addContent(contentAt(item, body), CONTENT_TYPES[type], textAt(body, 'delta') ?? '')
      case 'response.output_text.done':
      case 'response.refusal.done':
      case 'response.reasoning_text.done':
        return output.wholeContent(contentAt(item, body), { ...body, type: CONTENT_TYPES[type] })
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return output.addCall(item, textAt(body, 'delta') ?? '')
      case 'response.function_call_arguments.done':
        return output.wholeCall(item, textAt(body, 'arguments') ?? '')
      case 'response.custom_tool_call_input.done':
        return output.wholeCall(item, textAt(body, 'input') ?? '')
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#end(endedBy(type, objectAt(body, 'response')))
    }
  }

  #readSummary(body: JsonObject, type: string): void {
    const summary = { item: countAt(body, 'output_index') ?? 0, at: countAt(body, 'summary_index') ?? 0 }
    switch (type) {
      case 'response.reasoning_summary_part.added':
      case 'response.reasoning_summary_text.delta':
        return this.#output.addSummary(summary, textAt(body, 'delta') ?? '')
      case 'response.reasoning_summary_text.done':
        return this.#output.wholeSummary(summary, textAt(body, 'text') ?? '')
      case 'response.reasoning_summary_part.done':
        return this.#output.wholeSummary(summary, textAt(objectAt(body, 'part'), 'text') ?? '')
    }
  }

  #start(response: JsonObject): void {
    if (this.#hasStarted) return
    this.#hasStarted = true
    this.#events.push(startEvent(response, this.#context))
  }

  #end(response: JsonObject): void {
    this.#start(response)
    // Servers that send nothing but the end have everything there.
    const items = !this.#output.hasItems && Array.isArray(response.output) ? response.output : []
    for (const [at, item] of items.entries()) if (isObject(item)) this.#output.endItem(at, item)
    this.#events.push(...endEvents(response, this.#output.hasCalls))
  }
}

const CONTENT_TYPES = {
  'response.output_text.delta': 'output_text',
  'response.output_text.done': 'output_text',
  'response.refusal.delta': 'refusal',
  'response.refusal.done': 'refusal',
  'response.reasoning_text.delta': 'reasoning_text',
  'response.reasoning_text.done': 'reasoning_text',
} as const

function contentAt(item: number, body: JsonObject): { item: number; at: number } {
  return { item, at: countAt(body, 'content_index') ?? 0 }
}

/** The response with a status; the event type is the status when the response has none. */
function endedBy(type: string, response: JsonObject): JsonObject {
  return { ...response, status: response.status ?? type.slice('response.'.length) }
}

function errorEvent(body: JsonObject): ChatEvent {
  const { code, message, param } = body
  const inner = isObject(body.error)
    ? body.error
    : { code: code ?? null, message: message ?? null, param: param ?? null }
  const error = errorOfBody({ error: inner })
  return { type: 'error', error: error ?? { status: 502, kind: 'api', message: 'the provider answered with an error' } }
}
