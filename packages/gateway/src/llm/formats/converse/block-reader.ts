import type { ResponseContext } from '../../format.ts'
import { isObject, objectAt, textAt } from '../../../wire/json.ts'
import type { ChatEvent, JsonObject, StartedPart } from '../../middle.ts'
import { withMaker } from '../../provenance.ts'

/** Blocks of content by their numbers. Only calls are announced; other blocks begin with their first piece. */
export interface BlockReader {
  start(block: number, start: JsonObject): ChatEvent[]
  delta(block: number, delta: JsonObject): ChatEvent[]
  stop(block: number): ChatEvent[]
  stopAll(): ChatEvent[]
}

interface Open {
  index: number
  type: StartedPart['type']
  isEmpty: boolean
  signature: string
  redacted: string[]
}

export function createBlockReader(context: ResponseContext): BlockReader {
  const openByBlock = new Map<number, Open>()
  let next = 0
  let lastType: StartedPart['type'] | null = null

  function begin(block: number, part: StartedPart): ChatEvent[] {
    const open: Open = { index: next++, type: part.type, isEmpty: true, signature: '', redacted: [] }
    const closed = stop(block)
    lastType = part.type
    openByBlock.set(block, open)
    return [...closed, { type: 'partStart', index: open.index, part }]
  }

  /** Goes on with the open part of this type, or begins one. */
  function piece(block: number, type: 'text' | 'reasoning', text: string): ChatEvent[] {
    const continues = type === 'text' && lastType === 'text'
    const part: StartedPart = continues ? { type, continues } : { type }
    const events = openByBlock.get(block)?.type === type ? [] : begin(block, part)
    return [...events, ...add(block, text)]
  }

  function add(block: number, text: string): ChatEvent[] {
    const open = openByBlock.get(block)
    if (open === undefined || text === '') return []
    open.isEmpty = false
    return [{ type: 'partDelta', index: open.index, text }]
  }

  function reason(block: number, delta: JsonObject): ChatEvent[] {
    const events = piece(block, 'reasoning', textAt(delta, 'text') ?? '')
    const open = openByBlock.get(block)
    const redacted = textAt(delta, 'redactedContent')
    if (open !== undefined) open.signature += textAt(delta, 'signature') ?? ''
    if (open !== undefined && redacted !== undefined) open.redacted.push(redacted)
    return events
  }

  function start(block: number, { toolUse }: JsonObject): ChatEvent[] {
    if (!isObject(toolUse)) return []
    const name = textAt(toolUse, 'name') ?? ''
    const id = textAt(toolUse, 'toolUseId') ?? context.newId('call_')
    return begin(block, { type: 'toolCall', id, name: context.toolNames.get(name) ?? name })
  }

  function delta(block: number, delta: JsonObject): ChatEvent[] {
    const text = textAt(delta, 'text')
    if (text !== undefined) return text === '' ? [] : piece(block, 'text', text)
    if (isObject(delta.reasoningContent)) return reason(block, delta.reasoningContent)
    const isCall = openByBlock.get(block)?.type === 'toolCall'
    return isCall ? add(block, textAt(objectAt(delta, 'toolUse'), 'input') ?? '') : []
  }

  function stop(block: number): ChatEvent[] {
    const open = openByBlock.get(block)
    if (open === undefined) return []
    openByBlock.delete(block)
    const { index, signature, redacted } = open
    // A call without arguments comes without a piece.
    const rest: ChatEvent[] = open.type === 'toolCall' && open.isEmpty ? [{ type: 'partDelta', index, text: '{}' }] : []
    return [
      ...rest,
      {
        type: 'partEnd',
        index,
        ...(signature !== '' && { signature: withMaker('anthropic', signature) }),
        ...(redacted.length > 0 && { opaque: withMaker('amazon', joined(redacted)) }),
      },
    ]
  }

  return { start, delta, stop, stopAll: () => [...openByBlock.keys()].flatMap(stop) }
}

/** Bytes that came in pieces, each in base64 of its own. */
function joined(pieces: string[]): string {
  const [only = '', ...more] = pieces
  return more.length === 0
    ? only
    : Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64'))).toString('base64')
}
