import type { LlmRecord } from '../../records/llm-record.ts'
import { modelFields } from '../../telemetry/log/model-fields.ts'
import { attributeName } from '../../telemetry/otlp/attributes.ts'
import { LONGEST_NAME } from './span-name.ts'
import type { SpanTools } from './spanned-request.ts'

/** What the span of a call to a model tells, with the names of the semantic conventions for generative AI. */
export class ModelCall {
  readonly #provider: string
  readonly #operation: string | null
  readonly #model: string

  /** What is asked is read now: once the call has failed, the record is about the next one. */
  constructor({ provider, operation, requestModel }: LlmRecord) {
    this.#provider = provider
    this.#operation = operation
    this.#model = requestModel
  }

  get name(): string {
    return [this.#operation ?? 'call', this.#model].join(' ').trim().slice(0, LONGEST_NAME)
  }

  /** `record` is null where it is not about this call any more. */
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
/** As the conventions have them, of those that formats are translated to. */
const FINISH_REASONS = new Map([
  ['stop', 'stop'],
  ['stopSequence', 'stop'],
  ['length', 'length'],
  ['contextWindow', 'length'],
  ['toolCalls', 'tool_call'],
  ['filtered', 'content_filter'],
  ['pause', 'pause'],
])

/** Attempts are the business of the whole request. */
const FIELDS = modelFields
  .filter(([name]) => name !== 'portico.ai.attempts')
  .map(([name, read]) => ({ name, key: attributeName(name), read }))
