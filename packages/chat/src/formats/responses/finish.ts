import { objectAt, textAt } from '@portico/http/json'
import type { ChatEvent, FinishReason, JsonObject } from '../../middle.ts'
import { errorOfBody } from '../completions/errors.ts'
import { usageOf } from './usage.ts'

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
