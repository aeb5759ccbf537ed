import type { LlmRecord } from '../../records/llm-record.ts'
import { shortened } from './record-writer.ts'

/**
 * Encodes the details of records that have only a model call, as most chats do. Consecutive calls mostly have the same
 * names, so the encoded names of the last call are cached, and only the numbers are written for each call.
 */
export class ModelDetails {
  #last: { of: CallNames; head: string; tail: string } | null = null

  /** The same as `JSON.stringify({ llm: call.details(startedAt, shortened) })`. */
  of(call: LlmRecord, startedAt: number): string {
    const { usage, attempts } = call
    const [attempt] = attempts
    if (attempt === undefined || attempts.length !== 1 || attempt.charge !== null || !isPlain(call))
      return JSON.stringify({ llm: call.details(startedAt, shortened) })
    const { head, tail } = this.#encodedNames(call, attempt.outcome, attempt.providerName || attempt.provider)
    return (
      head +
      numberOf(usage.input) +
      ',"outputTokens":' +
      numberOf(usage.output) +
      ',"cacheReadTokens":' +
      numberOf(usage.cacheRead) +
      ',"cacheWriteTokens":' +
      numberOf(usage.cacheWrite) +
      ',"reasoningTokens":' +
      numberOf(usage.reasoning) +
      (call.isEstimated ? ',"isEstimated":true,"timeToFirstToken":' : ',"isEstimated":false,"timeToFirstToken":') +
      numberOf(call.timeToFirstToken(startedAt)) +
      tail +
      (call.cost === null ? '}}' : `,"cost":${JSON.stringify(call.cost)}}}`)
    )
  }

  #encodedNames(call: LlmRecord, outcome: string, attempted: string): { head: string; tail: string } {
    const last = this.#last
    if (last !== null && last.of.outcome === outcome && last.of.attempted === attempted && isLike(last.of, call))
      return last
    const { operation, provider, providerName, requestModel, responseModel, finishReason, streaming } = call
    const of = { operation, provider, providerName, requestModel, responseModel, finishReason, streaming }
    const named = {
      operation,
      provider,
      providerName,
      requestModel: shortened(requestModel),
      responseModel: shortened(responseModel),
      finishReason: shortened(finishReason),
      streaming,
    }
    const head = `{"llm":${JSON.stringify(named).slice(0, -1)},"inputTokens":`
    const tail = `,"attempts":${JSON.stringify([{ provider: attempted, outcome }])}`
    this.#last = { of: { ...of, outcome, attempted }, head, tail }
    return this.#last
  }
}

/** Whether a model call has only names, numbers, a cost and one attempt to show. */
function isPlain({ clientModel, modelChoice, cache, usage }: LlmRecord): boolean {
  return clientModel === '' && modelChoice === '' && cache === null && usage.calls === undefined
}

interface CallNames extends Pick<
  LlmRecord,
  'operation' | 'provider' | 'providerName' | 'requestModel' | 'responseModel' | 'finishReason' | 'streaming'
> {
  outcome: string
  attempted: string
}

function isLike(one: CallNames, other: LlmRecord): boolean {
  return (
    one.requestModel === other.requestModel &&
    one.responseModel === other.responseModel &&
    one.finishReason === other.finishReason &&
    one.streaming === other.streaming &&
    one.operation === other.operation &&
    one.provider === other.provider &&
    one.providerName === other.providerName
  )
}

/** Formats a number for JSON; null for anything that JSON numbers cannot be. */
function numberOf(value: number | null | undefined): string {
  return value === null || value === undefined || !Number.isFinite(value) ? 'null' : String(value)
}
