import { brokenStream } from '../../response/chat-error.ts'
import { annotationsOf } from '../../response/annotations.ts'
import { clientCallId } from '../../tools/call-ids.ts'
import { type CollectedResponse, nothingCollected, collectInto } from '../../response/collect-response.ts'
import type { ResponseContext, StreamEncoder } from '../../format.ts'
import { choiceLogprobs } from '../../response/logprobs.ts'
import { objectAt } from '@portico/http/json'
import type { ChatError, ChatEvent, FinishReason, Json, JsonObject, ToolCallPart } from '../../middle.ts'
import { sseRecord } from '@portico/http/sse'
import { unwrapInput } from '../../tools/custom-tools.ts'
import { customNames } from '../../tools/tool-names.ts'
import { errorBody } from './errors.ts'
import { wantsFunctionCall } from '../../translate/translate-request.ts'
import { detailsOfPart, needsDetails } from './reasoning-fields.ts'
import { encodeUsage } from './usage.ts'

export function createStreamEncoder(context: ResponseContext): StreamEncoder {
  return new ChunkWriter(context)
}

class ChunkWriter implements StreamEncoder {
  readonly #context: ResponseContext
  readonly #customs: ReadonlySet<string>
  readonly #wantsUsage: boolean
  /** Whether the client reads one legacy `function_call` instead of `tool_calls`. */
  readonly #isLegacy: boolean
  readonly #folded: CollectedResponse = nothingCollected()
  readonly #choices: [ChoiceState, ...ChoiceState[]] = [new ChoiceState(0)]
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
        return opening + this.#finish([event.reason, ...(event.others ?? [])])
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

  #delta({ index }: ChoiceState, delta: JsonObject, finish: string | null = null, logprobs: Json = null): string {
    return this.#chunk([{ index, delta, logprobs, finish_reason: finish }])
  }

  #choiceOf(part: number): ChoiceState {
    return this.#choiceAt(this.#folded.choices?.get(part) ?? 0)
  }

  #choiceAt(index: number): ChoiceState {
    for (let next = this.#choices.length; next <= index; next++) this.#choices.push(new ChoiceState(next))
    return this.#choices[index] ?? this.#choices[0]
  }

  #call(index: number, members: JsonObject): string {
    const choice = this.#choiceOf(index)
    const at = choice.callIndexes.get(index) ?? 0
    if (!this.#isLegacy) return this.#delta(choice, { tool_calls: [{ index: at, ...members }] })
    return at === 0 && members.function !== undefined ? this.#delta(choice, { function_call: members.function }) : ''
  }

  #finish(reasons: readonly FinishReason[]): string {
    const ends = reasons.map((reason, index) => {
      const choice = this.#choiceAt(index)
      return this.#open(choice) + this.#delta(choice, {}, finishWord(reason, this.#isLegacy))
    })
    return ends.join('')
  }

  /** The first chunk of a choice names the role. */
  #open(choice: ChoiceState): string {
    if (choice.isOpen) return ''
    choice.isOpen = true
    return this.#delta(choice, { role: 'assistant', content: '' })
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
    return this.#open(this.#choices[0])
  }

  #startPart(index: number): string {
    const choice = this.#choiceOf(index)
    const opening = this.#open(choice)
    const part = this.#folded.parts[index]
    if (part?.type === 'reasoning') choice.reasoningCount += 1
    if (part?.type !== 'toolCall') return opening
    choice.callIndexes.set(index, choice.callIndexes.size)
    return opening + this.#startCall(index, part)
  }

  #startCall(index: number, part: ToolCallPart): string {
    const { name } = part
    const id = clientCallId(part)
    if (this.#customs.has(name)) return this.#call(index, { id, type: 'custom', custom: { name, input: '' } })
    return this.#call(index, { id, type: 'function', function: { name, arguments: '' } })
  }

  #addText(index: number, text: string): string {
    const part = this.#folded.parts[index]
    const choice = this.#choiceOf(index)
    switch (part?.type) {
      case 'text':
        return this.#delta(choice, { content: text })
      case 'refusal':
        return this.#delta(choice, { refusal: text })
      case 'reasoning':
        return this.#delta(choice, { reasoning_content: text })
      case 'toolCall':
        // Free text can be unwrapped from its JSON only when complete.
        return this.#customs.has(part.name) ? '' : this.#call(index, { function: { arguments: text } })
      case 'native':
      case undefined:
        return ''
    }
  }

  #endPart(index: number): string {
    const part = this.#folded.parts[index]
    const choice = this.#choiceOf(index)
    if (part?.type === 'toolCall') {
      if (this.#customs.has(part.name)) return this.#call(index, { custom: { input: unwrapInput(part.arguments) } })
      return part.arguments === '' ? this.#call(index, { function: { arguments: '{}' } }) : ''
    }
    if (part?.type === 'text') {
      const start = choice.textLength
      choice.textLength += part.text.length
      if (part.rest === undefined) return ''
      const annotations = annotationsOf(part.rest, { start, end: choice.textLength })
      const logprobs = choiceLogprobs([part.rest])
      const probable = logprobs === null ? '' : this.#delta(choice, {}, null, logprobs)
      if (annotations.length === 0) return probable
      return probable + this.#delta(choice, choice.listed('annotations', annotations))
    }
    if (part?.type !== 'reasoning' || !needsDetails(part)) return ''
    const { signature } = part
    const details = detailsOfPart(part)
    if (details.length === 0) return ''
    // Clients join all reasoning texts, and a signature is valid for one text only.
    const isAlone = choice.reasoningCount === 1 && signature !== undefined
    const signed: JsonObject = isAlone ? { reasoning_signature: signature } : {}
    return this.#delta(choice, { ...signed, ...choice.listed('reasoning_details', details) })
  }

  #fail(error: ChatError): string {
    this.#isOver = true
    return sseRecord(JSON.stringify(errorBody(error)))
  }
}

/** The state of one choice of a streamed response. */
class ChoiceState {
  readonly index: number
  /** Positions in `tool_calls`, by part. */
  readonly callIndexes = new Map<number, number>()
  /** The number of entries of each list so far; client libraries merge entries by these numbers. */
  readonly #listLengths = { reasoning_details: 0, annotations: 0 }
  reasoningCount = 0
  /** Total length of the finished texts, in characters. */
  textLength = 0
  isOpen = false

  constructor(index: number) {
    this.index = index
  }

  listed(name: 'reasoning_details' | 'annotations', entries: readonly JsonObject[]): JsonObject {
    return { [name]: entries.map((entry) => ({ ...entry, index: this.#listLengths[name]++ })) }
  }
}

/** `isLegacy`: for a client that declares `functions` instead of `tools`. */
export function finishWord(reason: FinishReason, isLegacy: boolean): string {
  return isLegacy && reason === 'toolCalls' ? 'function_call' : FINISH_WORDS[reason]
}

const FINISH_WORDS: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  stopSequence: 'stop',
  pause: 'stop',
  length: 'length',
  contextWindow: 'length',
  toolCalls: 'tool_calls',
  filtered: 'content_filter',
}
