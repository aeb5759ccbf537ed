import type { ResponseContext } from '../../format.ts'
import { countAt, objectAt, textAt } from '../../../wire/json.ts'
import type { ChatEvent, JsonObject, StartedPart } from '../../middle.ts'
import { escapeInput, INPUT_PREFIX, INPUT_SUFFIX } from '../responses/custom-tools.ts'
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

export interface CallReader {
  read(delta: JsonObject): void
  close(): void
  count(): number
}

/** Pieces of tool calls, told apart by their index, to parts. */
export function createCallReader(
  context: ResponseContext,
  startPart: (part: StartedPart) => number,
  emit: (event: ChatEvent) => void,
): CallReader {
  const open = new Map<number, Call>()
  let count = 0
  let lastIndex = -1
  let highest = -1

  function start(call: Call, name: string): void {
    const { id, signature } = call
    call.part = startPart({
      type: 'toolCall',
      id,
      name: context.toolNames.get(name) ?? name,
      ...(signature !== undefined && { signature }),
    })
    count += 1
    if (call.isCustom) emit({ type: 'partDelta', index: call.part, text: INPUT_PREFIX })
    add(call, call.early)
  }

  function add(call: Call, text: string): void {
    if (text === '') return
    if (call.part === null) {
      call.early += text
      return
    }
    call.isEmpty = false
    emit({ type: 'partDelta', index: call.part, text: call.isCustom ? escapeInput(text) : text })
  }

  function end(call: Call): void {
    if (call.part === null) start(call, '')
    const index = call.part!
    if (call.isCustom) emit({ type: 'partDelta', index, text: INPUT_SUFFIX })
    else if (call.isEmpty) emit({ type: 'partDelta', index, text: '{}' })
    emit({ type: 'partEnd', index })
  }

  return {
    read(delta) {
      const id = textAt(delta, 'id') ?? ''
      const isCustom = delta.type === 'custom'
      const called = objectAt(delta, isCustom || delta.custom !== undefined ? 'custom' : 'function')
      const name = textAt(called, 'name') ?? ''
      // Servers that send whole calls leave the index out, or give all of them the same.
      let index = countAt(delta, 'index') ?? (name === '' && lastIndex !== -1 ? lastIndex : lastIndex + 1)
      const before = open.get(index)
      if (before !== undefined && before.part !== null && id !== '' && id !== before.id && name !== '') {
        index = highest + 1
      }
      lastIndex = index
      highest = Math.max(highest, index)
      let call = open.get(index)
      if (call === undefined) {
        const signature = googleSignature(delta)
        call = { id: id || context.newId('call_'), isCustom, part: null, early: '', isEmpty: true }
        if (signature !== undefined) call.signature = signature
        open.set(index, call)
      }
      if (call.part === null && name !== '') start(call, name)
      add(call, argumentsOf(called))
    },
    close() {
      for (const call of open.values()) end(call)
      open.clear()
      lastIndex = -1
    },
    count: () => count,
  }
}

function argumentsOf(called: JsonObject): string {
  const value = called.arguments ?? called.input ?? ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
