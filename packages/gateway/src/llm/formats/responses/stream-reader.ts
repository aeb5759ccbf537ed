import type { ResponseContext } from '../../format.ts'
import { countAt, isObject, objectAt, textAt } from '../../../wire/json.ts'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import type { RecordReader } from '../../sse-json.ts'
import { errorOfBody } from '../completions/errors.ts'
import { startEvent } from './decode-response.ts'
import { endEvents } from './finish.ts'
import { OutputReader } from './output-reader.ts'

/** Events of this format that carry something; all others say what is said elsewhere too. */
export function createStreamReader(context: ResponseContext): RecordReader {
  let events: ChatEvent[] = []
  let hasStarted = false
  const reader = new OutputReader(context, (event) => {
    start({})
    events.push(event)
  })

  function start(response: JsonObject): void {
    if (hasStarted) return
    hasStarted = true
    events.push(startEvent(response, context))
  }

  function end(response: JsonObject): void {
    start(response)
    // Servers that send nothing but the end have everything there.
    const items = !reader.hasItems && Array.isArray(response.output) ? response.output : []
    for (const [at, item] of items.entries()) if (isObject(item)) reader.endItem(at, item)
    events.push(...endEvents(response, reader.hasCalls))
  }

  function read(body: JsonObject, type: string): void {
    const item = countAt(body, 'output_index') ?? 0
    const content = { item, at: countAt(body, 'content_index') ?? 0 }
    const summary = { item, at: countAt(body, 'summary_index') ?? 0 }
    const delta = textAt(body, 'delta') ?? ''
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return start(objectAt(body, 'response'))
      case 'response.output_item.added':
        return reader.beginItem(item, objectAt(body, 'item'))
      case 'response.output_item.done':
        return reader.endItem(item, objectAt(body, 'item'))
      case 'response.content_part.added':
        return reader.beginContent(content, objectAt(body, 'part'))
      case 'response.content_part.done':
        return reader.endContent(content, objectAt(body, 'part'))
      case 'response.output_text.delta':
        return reader.addContent(content, 'output_text', delta)
      case 'response.output_text.done':
        return reader.wholeContent(content, { ...body, type: 'output_text' })
      case 'response.refusal.delta':
        return reader.addContent(content, 'refusal', delta)
      case 'response.refusal.done':
        return reader.wholeContent(content, { ...body, type: 'refusal' })
      case 'response.reasoning_text.delta':
        return reader.addContent(content, 'reasoning_text', delta)
      case 'response.reasoning_text.done':
        return reader.wholeContent(content, { ...body, type: 'reasoning_text' })
      case 'response.reasoning_summary_part.added':
      case 'response.reasoning_summary_text.delta':
        return reader.addSummary(summary, delta)
      case 'response.reasoning_summary_text.done':
        return reader.wholeSummary(summary, textAt(body, 'text') ?? '')
      case 'response.reasoning_summary_part.done':
        return reader.wholeSummary(summary, textAt(objectAt(body, 'part'), 'text') ?? '')
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return reader.addCall(item, delta)
      case 'response.function_call_arguments.done':
        return reader.wholeCall(item, textAt(body, 'arguments') ?? '')
      case 'response.custom_tool_call_input.done':
        return reader.wholeCall(item, textAt(body, 'input') ?? '')
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return end(endedBy(type, objectAt(body, 'response')))
    }
  }

  return {
    record(body, event) {
      events = []
      const type = textAt(body, 'type') ?? event
      if (type === 'error' || isObject(body.error)) events.push(errorEvent(body))
      else read(body, type)
      return events
    },
    end: () => [],
  }
}

/** The name of the event says how it ended, should the response not say it. */
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
