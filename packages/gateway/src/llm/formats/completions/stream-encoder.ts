import { brokenStream } from '../../chat-error.ts'
import { annotationsOf } from '../../annotations.ts'
import { clientCallId } from '../../tool-calls/client-call-id.ts'
import type { CollectedResponse } from '../../collect-response.ts'
import { nothingCollected, collectInto } from '../../collect-response.ts'
import type { ResponseContext, StreamEncoder } from '../../format.ts'
import { choiceLogprobs } from '../../logprobs.ts'
import { objectAt } from '../../../wire/json.ts'
import type { ChatError, ChatEvent, Json, JsonObject } from '../../middle.ts'
import { sseRecord } from '../../../wire/sse.ts'
import { unwrapInput } from '../custom-tools.ts'
import { customNames } from '../../tool-calls/tool-names.ts'
import { errorBody } from './errors.ts'
import { wantsFunctionCall } from '../../translate-tools.ts'
import { finishWord } from './finish.ts'
import { detailsOfPart, needsDetails } from './reasoning-fields.ts'
import { encodeUsage } from './usage.ts'

export class ChunkWriter implements StreamEncoder {
  readonly #context: ResponseContext
  readonly #customs: ReadonlySet<string>
  readonly #wantsUsage: boolean
  /** The client reads one `function_call` in place of `tool_calls`. */
  readonly #isLegacy: boolean
  readonly #folded: CollectedResponse = nothingCollected()
  /** Places among `tool_calls`, by part. */
  readonly #callIndexes = new Map<number, number>()
  /** How many entries each list has: helpers of clients put them together by their numbers. */
  readonly #listLengths = { reasoning_details: 0, annotations: 0 }
  #reasoningCount = 0
  /** Total length of the finished texts, in characters. */
  #textLength = 0
  #head = ''
  #isOver = false

  constructor(context: ResponseContext) {
    this.#context = context
    this.#customs = customNames(context.request)
    this.#isLegacy = wantsFunctionCall(context.request)
    this.#wantsUsage = objectAt(context.request.rest, 'stream_options').include_usage === true
  }

  event(event: ChatEvent): string {
    if (this.#isOver) return ''
    collectInto(this.#folded, event)
    const opening = this.#head === '' && event.type !== 'error' ? this.#start() : ''
    switch (event.type) {
      case 'start':
      case 'usage':
        return opening
      case 'partStart':
        return opening + this.#startPart(event.index)
      case 'partDelta':
        return opening + (event.text === '' ? '' : this.#addText(event.index, event.text))
      case 'partEnd':
        return opening + this.#endPart(event.index)
      case 'finish':
        return opening + this.#delta({}, finishWord(event.reason, this.#isLegacy))
      case 'error':
        return this.#fail(event.error)
    }
  }

  end(): string {
    if (this.#isOver) return ''
    const { finish, usage } = this.#folded
    if (finish === null) return this.#fail(brokenStream('the answer ended too early'))
    this.#isOver = true
    const counted = this.#wantsUsage && usage !== null ? this.#chunk([], encodeUsage(usage)) : ''
    return `${counted}${sseRecord('[DONE]')}`
  }

  #chunk(choices: Json, usage?: JsonObject): string {
    const counted = this.#wantsUsage ? `,"usage":${JSON.stringify(usage ?? null)}` : ''
    return sseRecord(`${this.#head}${JSON.stringify(choices)}${counted}}`)
  }

  #delta(delta: JsonObject, finish: string | null = null, logprobs: Json = null): string {
    return this.#chunk([{ index: 0, delta, logprobs, finish_reason: finish }])
  }

  #call(index: number, members: JsonObject): string {
    const at = this.#callIndexes.get(index) ?? 0
    if (!this.#isLegacy) return this.#delta({ tool_calls: [{ index: at, ...members }] })
    return at === 0 && members.function !== undefined ? this.#delta({ function_call: members.function }) : ''
  }

  #listed(name: 'reasoning_details' | 'annotations', entries: readonly JsonObject[]): JsonObject {
    return { [name]: entries.map((entry) => ({ ...entry, index: this.#listLengths[name]++ })) }
  }

  #start(): string {
    const { id, created, model } = this.#folded
    const opening = {
      id: id || this.#context.newId('chatcmpl-'),
      object: 'chat.completion.chunk',
      created: created ?? this.#context.now,
      model: model || this.#context.model,
    }
    this.#head = `${JSON.stringify(opening).slice(0, -1)},"choices":`
    return this.#delta({ role: 'assistant', content: '' })
  }

  #startPart(index: number): string {
    const part = this.#folded.parts[index]
    if (part?.type === 'reasoning') this.#reasoningCount += 1
    if (part?.type !== 'toolCall') return ''
    this.#callIndexes.set(index, this.#callIndexes.size)
    const { name } = part
    const id = clientCallId(part)
    if (this.#customs.has(name)) return this.#call(index, { id, type: 'custom', custom: { name, input: '' } })
    return this.#call(index, { id, type: 'function', function: { name, arguments: '' } })
  }

  #addText(index: number, text: string): string {
    const part = this.#folded.parts[index]
    switch (part?.type) {
      case 'text':
        return this.#delta({ content: text })
      case 'refusal':
        return this.#delta({ refusal: text })
      case 'reasoning':
        return this.#delta({ reasoning_content: text })
      case 'toolCall':
        // Free text can be told from its JSON only when all of it is there.
        return this.#customs.has(part.name) ? '' : this.#call(index, { function: { arguments: text } })
      case 'native':
      case undefined:
        return ''
    }
  }

  #endPart(index: number): string {
    const part = this.#folded.parts[index]
    if (part?.type === 'toolCall') {
      if (this.#customs.has(part.name)) return this.#call(index, { custom: { input: unwrapInput(part.arguments) } })
      return part.arguments === '' ? this.#call(index, { function: { arguments: '{}' } }) : ''
    }
    if (part?.type === 'text') {
      const start = this.#textLength
      this.#textLength += part.text.length
      const annotations = annotationsOf(part.rest, { start, end: this.#textLength })
      const logprobs = choiceLogprobs([part.rest])
      const probable = logprobs === null ? '' : this.#delta({}, null, logprobs)
      return annotations.length === 0 ? probable : probable + this.#delta(this.#listed('annotations', annotations))
    }
    if (part?.type !== 'reasoning' || !needsDetails(part)) return ''
    const { signature } = part
    const details = detailsOfPart(part)
    if (details.length === 0) return ''
    // Only for the first: clients put the texts together, and one signature does not fit two.
    const isAlone = this.#reasoningCount === 1 && signature !== undefined
    const signed: JsonObject = isAlone ? { reasoning_signature: signature } : {}
    return this.#delta({ ...signed, ...this.#listed('reasoning_details', details) })
  }

  #fail(error: ChatError): string {
    this.#isOver = true
    return sseRecord(JSON.stringify(errorBody(error)))
  }
}
