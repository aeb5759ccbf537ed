import type { ResponseContext } from '../../format.ts'
import { isObject, objectAt, objectsAt, textAt } from '../../../wire/json.ts'
import type { ChatEvent, FinishReason, JsonObject } from '../../middle.ts'
import { errorOf } from './errors.ts'
import { decodeUsage } from './usage.ts'
import { withMaker } from '../../provenance.ts'

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

/** Turns the parts of an answer into events. A text goes on until something else comes, in however many pieces. */
interface PartsReader {
  read(parts: readonly JsonObject[]): ChatEvent[]
  /** Nothing more will come. */
  end(): ChatEvent[]
  hasCalls(): boolean
}

function createPartsReader(context: ResponseContext): PartsReader {
  let next = 0
  let open: { index: number; type: 'text' | 'reasoning'; signature?: string } | null = null
  /** Came with a text, when its thought was over. */
  let lateSignature: string | undefined
  let hasCalls = false

  function close(signature?: string): ChatEvent[] {
    if (open === null) return []
    const signed = open.type === 'reasoning' ? (signature ?? open.signature) : undefined
    const end: ChatEvent = { type: 'partEnd', index: open.index }
    if (signed !== undefined) end.signature = withMaker('google', signed)
    open = null
    return [end]
  }

  function readText(part: JsonObject, text: string): ChatEvent[] {
    const type = part.thought === true ? 'reasoning' : 'text'
    const signature = textAt(part, 'thoughtSignature')
    const events: ChatEvent[] = []
    if (open !== null && open.type !== type) events.push(...close(signature))
    else if (type === 'text') lateSignature = signature ?? lateSignature
    if (open === null && text !== '') {
      open = { index: next++, type }
      events.push({ type: 'partStart', index: open.index, part: { type } })
    }
    if (open !== null && text !== '') events.push({ type: 'partDelta', index: open.index, text })
    if (open?.type === 'reasoning' && signature !== undefined) open.signature = signature
    return events
  }

  function readCall(part: JsonObject, call: JsonObject): ChatEvent[] {
    hasCalls = true
    const name = textAt(call, 'name') ?? ''
    const signature = textAt(part, 'thoughtSignature')
    const id = textAt(call, 'id') ?? context.newId('call_')
    const signed = signature === undefined ? {} : { signature: withMaker('google', signature) }
    const index = next++
    return [
      ...close(),
      {
        type: 'partStart',
        index,
        part: { type: 'toolCall', id, name: context.toolNames.get(name) ?? name, ...signed },
      },
      { type: 'partDelta', index, text: JSON.stringify(objectAt(call, 'args')) },
      { type: 'partEnd', index },
    ]
  }

  function readPart(part: JsonObject): ChatEvent[] {
    if (isObject(part.functionCall)) return readCall(part, part.functionCall)
    const text = textAt(part, 'text')
    if (text !== undefined) return readText(part, text)
    const { thoughtSignature, ...value } = part
    if (Object.keys(value).length === 0) {
      if (typeof thoughtSignature === 'string') lateSignature = thoughtSignature
      return []
    }
    const index = next++
    const native = { type: 'native', format: 'gemini', value } as const
    return [...close(), { type: 'partStart', index, part: native }, { type: 'partEnd', index }]
  }

  function end(): ChatEvent[] {
    const events = close()
    // Only clients that asked for thoughts know what to do with one that has no text.
    if (lateSignature === undefined || context.request.reasoning === null) return events
    const index = next++
    const signature = withMaker('google', lateSignature)
    return [...events, { type: 'partStart', index, part: { type: 'reasoning' } }, { type: 'partEnd', index, signature }]
  }

  return { read: (parts) => parts.flatMap(readPart), end, hasCalls: () => hasCalls }
}
