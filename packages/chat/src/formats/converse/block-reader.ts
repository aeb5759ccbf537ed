import type { ResponseContext } from '../../format.ts'
import { isObject, objectAt, textAt } from '@portico/http/json'
import type { ChatEvent, JsonObject, StartedPart } from '../../middle.ts'
import { withMaker } from '../../tools/provenance.ts'

interface Open {
  index: number
  type: StartedPart['type']
  isEmpty: boolean
  signature: string
  redacted: string[]
}

/** Blocks of content by their numbers. Only calls are announced; other blocks begin with their first piece. */
export class BlockReader {
  readonly #context: ResponseContext
  readonly #openByBlock = new Map<number, Open>()
  #partCount = 0
  #lastType: StartedPart['type'] | null = null

  constructor(context: ResponseContext) {
    this.#context = context
  }

  start(block: number, { toolUse }: JsonObject): ChatEvent[] {
    if (!isObject(toolUse)) return []
    const name = textAt(toolUse, 'name') ?? ''
    const id = textAt(toolUse, 'toolUseId') ?? this.#context.newId('call_')
    return this.#begin(block, { type: 'toolCall', id, name: this.#context.toolNames.get(name) ?? name })
  }

  delta(block: number, delta: JsonObject): ChatEvent[] {
    const text = textAt(delta, 'text')
    if (text !== undefined) return text === '' ? [] : this.#piece(block, 'text', text)
    if (isObject(delta.reasoningContent)) return this.#reason(block, delta.reasoningContent)
    const isCall = this.#openByBlock.get(block)?.type === 'toolCall'
    return isCall ? this.#add(block, textAt(objectAt(delta, 'toolUse'), 'input') ?? '') : []
  }

  stop(block: number): ChatEvent[] {
    const open = this.#openByBlock.get(block)
    if (open === undefined) return []
    this.#openByBlock.delete(block)
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

  stopAll(): ChatEvent[] {
    return [...this.#openByBlock.keys()].flatMap((block) => this.stop(block))
  }

  #begin(block: number, part: StartedPart): ChatEvent[] {
    const open: Open = { index: this.#partCount++, type: part.type, isEmpty: true, signature: '', redacted: [] }
    const closed = this.stop(block)
    this.#lastType = part.type
    this.#openByBlock.set(block, open)
    return [...closed, { type: 'partStart', index: open.index, part }]
  }

  /** Continues the open part of this type, or begins a new part. */
  #piece(block: number, type: 'text' | 'reasoning', text: string): ChatEvent[] {
    if (this.#openByBlock.get(block)?.type === type) return this.#add(block, text)
    const continues = type === 'text' && this.#lastType === 'text'
    const part: StartedPart = continues ? { type, continues } : { type }
    return [...this.#begin(block, part), ...this.#add(block, text)]
  }

  #add(block: number, text: string): ChatEvent[] {
    const open = this.#openByBlock.get(block)
    if (open === undefined || text === '') return []
    open.isEmpty = false
    return [{ type: 'partDelta', index: open.index, text }]
  }

  #reason(block: number, delta: JsonObject): ChatEvent[] {
    const events = this.#piece(block, 'reasoning', textAt(delta, 'text') ?? '')
    const open = this.#openByBlock.get(block)
    const redacted = textAt(delta, 'redactedContent')
    if (open !== undefined) open.signature += textAt(delta, 'signature') ?? ''
    if (open !== undefined && redacted !== undefined) open.redacted.push(redacted)
    return events
  }
}

/** Joins bytes whose pieces are base64 each. */
function joined(pieces: string[]): string {
  const [only = '', ...more] = pieces
  return more.length === 0
    ? only
    : Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64'))).toString('base64')
}
