import type { ResponseContext } from '../../format.ts'
import { isObject, objectAt, textAt } from '../../../wire/json.ts'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { withMaker } from '../../provenance.ts'

/** Turns the parts of an answer into events. A text goes on until something else comes, in however many pieces. */
export interface PartsReader {
  read(parts: readonly JsonObject[]): ChatEvent[]
  /** Nothing more will come. */
  end(): ChatEvent[]
  hasCalls(): boolean
}

export function createPartsReader(context: ResponseContext): PartsReader {
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
