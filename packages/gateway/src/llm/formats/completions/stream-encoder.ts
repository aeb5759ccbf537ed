import { brokenStream } from '../../chat-error.ts'
import { clientCallId } from '../../tool-calls/client-call-id.ts'
import type { CollectedResponse } from '../../collect-response.ts'
import { nothingCollected, collectInto } from '../../collect-response.ts'
import type { ResponseContext, StreamEncoder } from '../../format.ts'
import { objectAt, objectsAt } from '../../../wire/json.ts'
import type { ChatError, ChatEvent, Json, JsonObject } from '../../middle.ts'
import { sseRecord } from '../../../wire/sse.ts'
import { unwrapInput } from '../responses/custom-tools.ts'
import { customNames } from '../../tool-calls/custom-names.ts'
import { errorBody } from './errors.ts'
import { FINISH_WORDS } from './finish.ts'
import { detailsOfPart, needsDetails } from './reasoning-fields.ts'
import { encodeUsage } from './usage.ts'

export function createStreamEncoder(context: ResponseContext): StreamEncoder {
  const customs = customNames(context.request)
  const wantsUsage = objectAt(context.request.rest, 'stream_options').include_usage === true
  const folded: CollectedResponse = nothingCollected()
  /** Places among `tool_calls`, by part. */
  const callIndexes = new Map<number, number>()
  let reasoningCount = 0
  /** How many entries each list has: helpers of clients put them together by their numbers. */
  const listLengths = { reasoning_details: 0, annotations: 0 }
  let head = ''
  let isOver = false

  function chunk(choices: Json, usage?: JsonObject): string {
    const counted = wantsUsage ? `,"usage":${JSON.stringify(usage ?? null)}` : ''
    return sseRecord(`${head}${JSON.stringify(choices)}${counted}}`)
  }

  function delta(delta: JsonObject, finish: string | null = null): string {
    return chunk([{ index: 0, delta, logprobs: null, finish_reason: finish }])
  }

  function call(index: number, members: JsonObject): string {
    return delta({ tool_calls: [{ index: callIndexes.get(index) ?? 0, ...members }] })
  }

  function listed(name: keyof typeof listLengths, entries: readonly JsonObject[]): JsonObject {
    return { [name]: entries.map((entry) => ({ ...entry, index: listLengths[name]++ })) }
  }

  function start(): string {
    const opening = {
      id: folded.id || context.newId('chatcmpl-'),
      object: 'chat.completion.chunk',
      created: folded.created ?? context.now,
      model: folded.model || context.model,
    }
    head = `${JSON.stringify(opening).slice(0, -1)},"choices":`
    return delta({ role: 'assistant', content: '' })
  }

  function startPart(index: number): string {
    const part = folded.parts[index]
    if (part?.type === 'reasoning') reasoningCount += 1
    if (part?.type !== 'toolCall') return ''
    callIndexes.set(index, callIndexes.size)
    const { name } = part
    const id = clientCallId(part)
    if (customs.has(name)) return call(index, { id, type: 'custom', custom: { name, input: '' } })
    return call(index, { id, type: 'function', function: { name, arguments: '' } })
  }

  function addText(index: number, text: string): string {
    const part = folded.parts[index]
    switch (part?.type) {
      case 'text':
        return delta({ content: text })
      case 'refusal':
        return delta({ refusal: text })
      case 'reasoning':
        return delta({ reasoning_content: text })
      case 'toolCall':
        // Free text can be told from its JSON only when all of it is there.
        return customs.has(part.name) ? '' : call(index, { function: { arguments: text } })
      case 'native':
      case undefined:
        return ''
    }
  }

  function endPart(index: number): string {
    const part = folded.parts[index]
    if (part?.type === 'toolCall') {
      if (customs.has(part.name)) return call(index, { custom: { input: unwrapInput(part.arguments) } })
      return part.arguments === '' ? call(index, { function: { arguments: '{}' } }) : ''
    }
    if (part?.type === 'text') {
      const annotations = objectsAt(part.rest ?? {}, 'annotations')
      return annotations.length === 0 ? '' : delta(listed('annotations', annotations))
    }
    if (part?.type !== 'reasoning' || !needsDetails(part)) return ''
    const { signature } = part
    const details = detailsOfPart(part)
    // Only for the first: clients put the texts together, and one signature does not fit two.
    const isAlone = reasoningCount === 1 && signature !== undefined
    return details.length === 0
      ? ''
      : delta({ ...(isAlone && { reasoning_signature: signature }), ...listed('reasoning_details', details) })
  }

  function fail(error: ChatError): string {
    isOver = true
    return sseRecord(JSON.stringify(errorBody(error)))
  }

  return {
    event(event: ChatEvent) {
      if (isOver) return ''
      collectInto(folded, event)
      const opening = head === '' && event.type !== 'error' ? start() : ''
      switch (event.type) {
        case 'start':
        case 'usage':
          return opening
        case 'partStart':
          return opening + startPart(event.index)
        case 'partDelta':
          return opening + (event.text === '' ? '' : addText(event.index, event.text))
        case 'partEnd':
          return opening + endPart(event.index)
        case 'finish':
          return opening + delta({}, FINISH_WORDS[event.reason])
        case 'error':
          return fail(event.error)
      }
    },
    end() {
      if (isOver) return ''
      if (folded.finish === null) return fail(brokenStream('the answer ended too early'))
      isOver = true
      const usage = wantsUsage && folded.usage !== null ? chunk([], encodeUsage(folded.usage)) : ''
      return `${usage}${sseRecord('[DONE]')}`
    },
  }
}
