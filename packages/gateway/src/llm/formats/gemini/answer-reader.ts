import type { ResponseContext } from '../../format.ts'
import { isObject, objectAt, objectsAt, textAt } from '../../../wire/json.ts'
import type { ChatEvent, FinishReason, JsonObject } from '../../middle.ts'
import { errorOf } from './errors.ts'
import { createPartsReader } from './parts-reader.ts'
import { decodeUsage } from './usage.ts'

/** One answer, whole or in pieces: a buffered body is a stream of one record. */
export interface AnswerReader {
  record(body: JsonObject): ChatEvent[]
  /** Nothing more will come. Empty when no piece said why, and `reason` does not either. */
  end(reason?: string): ChatEvent[]
}

export function createAnswerReader(context: ResponseContext): AnswerReader {
  const parts = createPartsReader(context)
  let isStarted = false
  let lastUsage = '{}'
  // Some models say it with every piece, so it counts only once there are no more.
  let reason: string | null = null

  function start(body: JsonObject): ChatEvent[] {
    if (isStarted) return []
    isStarted = true
    const id = textAt(body, 'responseId') ?? context.newId('gemini-')
    return [{ type: 'start', id, model: textAt(body, 'modelVersion') ?? context.model }]
  }

  function usage(body: JsonObject): ChatEvent[] {
    const usage = decodeUsage(objectAt(body, 'usageMetadata'))
    const text = JSON.stringify(usage)
    if (text === '{}' || text === lastUsage) return []
    lastUsage = text
    return [{ type: 'usage', usage }]
  }

  function record(body: JsonObject): ChatEvent[] {
    if (isObject(body.error)) return [{ type: 'error', error: errorOf(body.error, 502) }]
    const candidate = objectsAt(body, 'candidates').find(({ index }) => index === undefined || index === 0) ?? {}
    const blocked = textAt(objectAt(body, 'promptFeedback'), 'blockReason')
    reason = textAt(candidate, 'finishReason') ?? (blocked === undefined ? reason : `BLOCKED_${blocked}`)
    return [...start(body), ...parts.read(objectsAt(objectAt(candidate, 'content'), 'parts')), ...usage(body)]
  }

  function end(otherwise?: string): ChatEvent[] {
    const known = reason ?? otherwise
    if (known === undefined) return []
    return [...parts.end(), { type: 'finish', reason: finishOf(known, parts.hasCalls()) }]
  }

  return { record, end }
}

function finishOf(reason: string, hasCalls: boolean): FinishReason {
  if (reason === 'MAX_TOKENS') return 'length'
  if (FILTERED.has(reason) || /^(?:BLOCKED|IMAGE)_/.test(reason)) return 'filtered'
  return hasCalls ? 'toolCalls' : 'stop'
}

const FILTERED: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MODEL_ARMOR',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
])
