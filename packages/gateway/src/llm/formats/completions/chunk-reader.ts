import type { ResponseContext } from '../../format.ts'
import { countAt, isObject, objectAt, objectsAt, textAt } from '../../../wire/json.ts'
import type { ChatEvent, JsonObject, StartedPart } from '../../middle.ts'
import { fromClientOf } from '../../provenance.ts'
import type { RecordReader } from '../../sse-json.ts'
import { createCallReader } from './call-reader.ts'
import { errorOfBody } from './errors.ts'
import { decodeFinish } from './finish.ts'
import { partOfDetail } from './reasoning-fields.ts'
import { usageOf } from './usage.ts'

type TextKind = 'text' | 'refusal' | 'reasoning'

/**
 * Chunks of one answer to events. A buffered answer is read as a single chunk, so that both agree. Only the first choice
 * is read. `finish` waits for the end of the stream, because usage comes behind the reason.
 */
export function createChunkReader(context: ResponseContext): RecordReader {
  const events: ChatEvent[] = []
  let partCount = 0
  let hasStarted = false
  /** Of texts one is open at a time; tool calls stay open until the end. */
  let open: { kind: TextKind; index: number; signature?: string; annotations?: JsonObject[] } | null = null
  let finishWord: string | null = null
  let stopSequence: string | undefined
  let hasPlainReasoning = false

  const calls = createCallReader(context, startPart, (event) => events.push(event))

  function startPart(part: StartedPart): number {
    closeText()
    const index = partCount
    partCount += 1
    events.push({ type: 'partStart', index, part })
    return index
  }

  function closeText(): void {
    if (open === null) return
    const { index, signature, annotations } = open
    open = null
    events.push({
      type: 'partEnd',
      index,
      ...(signature !== undefined && { signature }),
      ...(annotations !== undefined && { rest: { annotations } }),
    })
  }

  function addText(kind: TextKind, text: string): void {
    if (text === '') return
    if (open?.kind !== kind) open = { kind, index: startPart({ type: kind }) }
    events.push({ type: 'partDelta', index: open.index, text })
  }

  function readDelta(delta: JsonObject): void {
    const reasoning = textAt(delta, 'reasoning_content') ?? textAt(delta, 'reasoning') ?? ''
    if (reasoning !== '') hasPlainReasoning = true
    addText('reasoning', reasoning)
    readDetails(delta)
    readContent(delta)
    addText('refusal', textAt(delta, 'refusal') ?? '')
    // The number of an entry says where helpers of clients put it, and nothing else.
    const annotations = objectsAt(delta, 'annotations').map(({ index: _index, ...annotation }) => annotation)
    if (annotations.length > 0 && open?.kind === 'text')
      open.annotations = [...(open.annotations ?? []), ...annotations]
    for (const call of objectsAt(delta, 'tool_calls')) calls.read(call)
    const legacy = delta.function_call
    if (isObject(legacy)) calls.read({ index: 0, function: legacy })
  }

  /** Sealed reasoning, and signatures of what came as text. */
  function readDetails(delta: JsonObject): void {
    for (const part of objectsAt(delta, 'reasoning_details').flatMap(partOfDetail)) {
      const { text, signature, opaque, id } = part
      if (opaque !== undefined) {
        const index = startPart({ type: 'reasoning', opaque, ...(id !== undefined && { id }) })
        events.push({ type: 'partEnd', index })
        continue
      }
      if (!hasPlainReasoning) addText('reasoning', text)
      if (signature === undefined) continue
      if (open?.kind !== 'reasoning') open = { kind: 'reasoning', index: startPart({ type: 'reasoning' }) }
      open.signature = signature
      closeText()
    }
    const signature = textAt(delta, 'reasoning_signature')
    if (signature !== undefined && open?.kind === 'reasoning') open.signature = fromClientOf('anthropic', signature)
  }

  function readContent(delta: JsonObject): void {
    if (typeof delta.content === 'string') addText('text', delta.content)
    for (const piece of objectsAt(delta, 'content')) {
      if (piece.type === 'text') addText('text', textAt(piece, 'text') ?? '')
      for (const thought of objectsAt(piece, 'thinking')) addText('reasoning', textAt(thought, 'text') ?? '')
    }
  }

  function readChoice(choice: JsonObject): void {
    readDelta(objectAt(choice, 'delta'))
    const reason = textAt(choice, 'finish_reason')
    if (reason === undefined) return
    finishWord = reason
    stopSequence = textAt(choice, 'stop_reason')
    closeText()
    calls.close()
  }

  function finish(word: string): void {
    closeText()
    calls.close()
    const reason = decodeFinish(word, calls.count() > 0)
    const isSequence = reason === 'stop' && stopSequence !== undefined
    events.push(isSequence ? { type: 'finish', reason: 'stopSequence', stopSequence } : { type: 'finish', reason })
  }

  function flush(): ChatEvent[] {
    return events.splice(0)
  }

  return {
    record(body) {
      const error = errorOfBody(body)
      if (error !== null) return [...flush(), { type: 'error', error }]
      if (!hasStarted) {
        hasStarted = true
        const created = countAt(body, 'created')
        const id = textAt(body, 'id') || context.newId('chatcmpl-')
        const model = textAt(body, 'model') || context.model
        events.push({ type: 'start', id, model, ...(created !== undefined && { created }) })
      }
      const first = objectsAt(body, 'choices').find((choice) => (choice.index ?? 0) === 0)
      if (first !== undefined) readChoice(first)
      const usage = usageOf(body)
      if (usage !== null) events.push({ type: 'usage', usage })
      return flush()
    },
    done() {
      // Whoever says that it is done has finished, also without a reason.
      if (hasStarted) finish(finishWord ?? 'stop')
      return flush()
    },
    end() {
      if (finishWord !== null) finish(finishWord)
      return flush()
    },
  }
}

export function decodeResponse(body: JsonObject, context: ResponseContext): ChatEvent[] | null {
  const [choice] = objectsAt(body, 'choices')
  if (choice === undefined && errorOfBody(body) === null) return null
  const reader = createChunkReader(context)
  const chunk = { ...body, choices: choice === undefined ? [] : [{ ...choice, index: 0, delta: wholeDelta(choice) }] }
  const events = reader.record(chunk, '')
  return events.at(-1)?.type === 'error' ? events : [...events, ...reader.done!()]
}

/** A whole message has no indexes, because its calls stand in order. */
function wholeDelta(choice: JsonObject): JsonObject {
  const message = objectAt(choice, 'message')
  // Nearly every message is a text alone.
  if (message.tool_calls === undefined && message.reasoning_details === undefined) return message
  const calls = objectsAt(message, 'tool_calls').map((call, index) => ({ ...call, index }))
  // Details say the same as the plain text, and more.
  const hasDetails = objectsAt(message, 'reasoning_details').some((detail) => partOfDetail(detail).length > 0)
  const { reasoning: _reasoning, reasoning_content: _content, ...others } = message
  return { ...(hasDetails ? others : message), tool_calls: calls }
}
