import type { LlmRecord } from '../../records/llm-record.ts'
import { modelFields } from '../../telemetry/log/access-log.ts'
import { attributeName } from '../../telemetry/otlp/attributes.ts'
import { LONGEST_NAME } from './span-name.ts'
import type { SpanTools } from './spanned-request.ts'

/** The span attributes of a model call, named by the semantic conventions for generative AI. */
export class ModelCall {
  readonly #provider: string
  readonly #operation: string | null
  readonly #model: string

  /** Reads the request fields now, because after a failed call the record is about the next call. */
  constructor({ provider, operation, requestModel }: LlmRecord) {
    this.#provider = provider
    this.#operation = operation
    this.#model = requestModel
  }

  get name(): string {
    return [this.#operation ?? 'call', this.#model].join(' ').trim().slice(0, LONGEST_NAME)
  }

  /** Writes the attributes; `record` is null when it is already about a later call. */
  write(record: LlmRecord | null, startedAt: number, { encoder, removed }: SpanTools): void {
    const asked: Partial<Record<string, string | null>> = {
      'gen_ai.operation.name': this.#operation,
      'gen_ai.provider.name': this.#provider,
      'gen_ai.request.model': this.#model.slice(0, LONGEST_NAME),
    }
    for (const { name, key, read } of FIELDS) {
      const value = record === null ? (asked[name] ?? null) : read(record, startedAt)
      if (value !== null && value !== '' && !removed.has(name)) encoder.attribute(key, value)
    }
    if (record === null) return
    if (record.responseId !== '') encoder.attribute(RESPONSE_ID, record.responseId.slice(0, LONGEST_NAME))
    const reason = FINISH_REASONS.get(record.finishReason)
    if (reason !== undefined) encoder.attribute(FINISHED, [reason])
  }
}

const RESPONSE_ID = attributeName('gen_ai.response.id')
const FINISHED = attributeName('gen_ai.response.finish_reasons')
/** The finish reasons of the conventions by those of the gateway. */
const FINISH_REASONS = new Map([
  ['stop', 'stop'],
  ['stopSequence', 'stop'],
  ['length', 'length'],
  ['contextWindow', 'length'],
  ['toolCalls', 'tool_call'],
  ['filtered', 'content_filter'],
  ['pause', 'pause'],
])

/** The span of the request has the attempts. */
const FIELDS = modelFields
  .filter(([name]) => name !== 'portico.ai.attempts')
  .map(([name, read]) => ({ name, key: attributeName(name), read }))
