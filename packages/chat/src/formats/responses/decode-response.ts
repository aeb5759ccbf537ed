import type { ResponseContext } from '../../format.ts'
import { countAt, isObject, textAt, objectAt } from '@portico/http/json'
import type { ChatEvent, JsonObject, FinishReason } from '../../middle.ts'
import { errorOfBody } from '../completions/errors.ts'
import { OutputReader } from './output-reader.ts'
import { usageOf } from './usage.ts'

export function decodeResponse(body: JsonObject, context: ResponseContext): ChatEvent[] | null {
  if (!Array.isArray(body.output)) {
    const error = errorOfBody(body)
    return error === null ? null : [{ type: 'error', error }]
  }
  const events: ChatEvent[] = [startEvent(body, context)]
  const reader = new OutputReader(context, (event) => events.push(event))
  for (const [at, item] of body.output.entries()) if (isObject(item)) reader.endItem(at, item)
  return [...events, ...endEvents(body, reader.hasCalls)]
}

export function startEvent(response: JsonObject, context: ResponseContext): ChatEvent {
  const created = countAt(response, 'created_at')
  return {
    type: 'start',
    id: textAt(response, 'id') ?? '',
    model: textAt(response, 'model') ?? context.model,
    ...(created !== undefined && { created: Math.floor(created) }),
  }
}

/** The last events of a finished response: usage, then finish or error. */
export function endEvents(response: JsonObject, hasCalls: boolean): ChatEvent[] {
  const usage = usageOf(response)
  return [...(usage === null ? [] : [{ type: 'usage', usage } as const]), lastEvent(response, hasCalls)]
}

function lastEvent(response: JsonObject, hasCalls: boolean): ChatEvent {
  const error = errorOfBody({ error: response.error ?? null })
  if (error !== null) return { type: 'error', error }
  switch (textAt(response, 'status')) {
    case undefined:
    case 'completed':
      return { type: 'finish', reason: hasCalls ? 'toolCalls' : 'stop' }
    case 'incomplete':
      return {
        type: 'finish',
        reason: incompleteReason(textAt(objectAt(response, 'incomplete_details'), 'reason') ?? ''),
      }
    default: {
      // Includes responses that run in the background, which the gateway does not wait for.
      const message = `the provider's response is ${JSON.stringify(response.status)}`
      return { type: 'error', error: { status: 502, kind: 'api', message, code: 'response_not_completed' } }
    }
  }
}

function incompleteReason(reason: string): FinishReason {
  if (reason.includes('filter')) return 'filtered'
  return reason.includes('context') ? 'contextWindow' : 'length'
}
