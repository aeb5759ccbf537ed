import type { ResponseContext } from '../../format.ts'
import { countAt, objectAt, textAt } from '@portico/http/json'
import type { ChatEvent, JsonObject, StartedPart } from '../../middle.ts'
import { escapeInput, INPUT_PREFIX, INPUT_SUFFIX } from '../../tools/custom-tools.ts'
import { googleSignature } from './tool-calls.ts'

interface Call {
  id: string
  isCustom: boolean
  signature?: string
  /** Null until the name is known. */
  part: number | null
  /** Arguments that came before the name. */
  early: string
  isEmpty: boolean
}

/** Turns pieces of tool calls, identified by their index, into parts. */
export class CallReader {
  /** The number of calls that have begun. */
  count = 0
  readonly #context: ResponseContext
  readonly #startPart: (part: StartedPart) => number
  readonly #emit: (event: ChatEvent) => void
  readonly #open = new Map<number, Call>()
  #lastIndex = -1
  #highest = -1

  constructor(context: ResponseContext, startPart: (part: StartedPart) => number, emit: (event: ChatEvent) => void) {
    this.#context = context
    this.#startPart = startPart
    this.#emit = emit
  }

  read(delta: JsonObject): void {
    const id = textAt(delta, 'id') ?? ''
    const isCustom = delta.type === 'custom'
    const called = objectAt(delta, isCustom || delta.custom !== undefined ? 'custom' : 'function')
    const name = textAt(called, 'name') ?? ''
    const index = this.#indexOf(delta, id, name)
    let call = this.#open.get(index)
    if (call === undefined) {
      const signature = googleSignature(delta)
      call = { id: id || this.#context.newId('call_'), isCustom, part: null, early: '', isEmpty: true }
      if (signature !== undefined) call.signature = signature
      this.#open.set(index, call)
    }
    if (call.part === null && name !== '') this.#start(call, name)
    this.#add(call, argumentsOf(called))
  }

  close(): void {
    for (const call of this.#open.values()) this.#end(call)
    this.#open.clear()
    this.#lastIndex = -1
  }

  /**
   * The index of the call that a piece belongs to. Servers that send whole calls omit the index, or repeat the same
   * index.
   */
  #indexOf(delta: JsonObject, id: string, name: string): number {
    const continues = name === '' && this.#lastIndex !== -1
    let index = countAt(delta, 'index') ?? (continues ? this.#lastIndex : this.#lastIndex + 1)
    const before = this.#open.get(index)
    if (before !== undefined && before.part !== null && id !== '' && id !== before.id && name !== '') {
      index = this.#highest + 1
    }
    this.#lastIndex = index
    this.#highest = Math.max(this.#highest, index)
    return index
  }

  #start(call: Call, name: string): number {
    const { id, signature } = call
    const index = this.#startPart({
      type: 'toolCall',
      id,
      name: this.#context.toolNames.get(name) ?? name,
      ...(signature !== undefined && { signature }),
    })
    call.part = index
    this.count += 1
    if (call.isCustom) this.#emit({ type: 'partDelta', index, text: INPUT_PREFIX })
    this.#add(call, call.early)
    return index
  }

  #add(call: Call, text: string): void {
    if (text === '') return
    if (call.part === null) {
      call.early += text
      return
    }
    call.isEmpty = false
    this.#emit({ type: 'partDelta', index: call.part, text: call.isCustom ? escapeInput(text) : text })
  }

  #end(call: Call): void {
    const index = call.part ?? this.#start(call, '')
    if (call.isCustom) this.#emit({ type: 'partDelta', index, text: INPUT_SUFFIX })
    else if (call.isEmpty) this.#emit({ type: 'partDelta', index, text: '{}' })
    this.#emit({ type: 'partEnd', index })
  }
}

function argumentsOf(called: JsonObject): string {
  const value = called.arguments ?? called.input ?? ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
