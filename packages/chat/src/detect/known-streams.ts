import { isObject, objectAt, objectsAt, textAt } from '@portico/http/json'
import { errorOfBody as errorOfChunk } from '../formats/completions/errors.ts'
import { errorOf as errorOfGemini } from '../formats/gemini/errors.ts'
import { errorOfBody as errorOfMessage } from '../formats/messages/errors.ts'
import type { ChatError, JsonObject } from '../middle.ts'

/** Recognizes the end of streams of one format. */
export interface KnownStream {
  /** Whether a record at the beginning of a stream is of this format. */
  recognizes(record: JsonObject): boolean
  /** Matches every record for which `isEnd` or `errorOf` applies, and few others: only matching records are parsed. */
  readonly marks: RegExp
  isEnd(record: JsonObject): boolean
  errorOf(record: JsonObject): ChatError | null
}

const completions: KnownStream = {
  recognizes: ({ object, choices }) =>
    object === 'chat.completion.chunk' || object === 'text_completion' || Array.isArray(choices),
  marks: /"finish_reason"\s*:\s*"|"error"/,
  // Some servers leave out `[DONE]`, so a reason will do, as it does for streams that are read.
  isEnd: (record) => objectsAt(record, 'choices').some((choice) => typeof choice['finish_reason'] === 'string'),
  errorOf: errorOfChunk,
}

const messages: KnownStream = {
  recognizes: ({ type }) => type === 'message_start',
  marks: /"type"\s*:\s*"(?:message_stop|error)"/,
  isEnd: ({ type }) => type === 'message_stop',
  errorOf: (record) => (record['type'] === 'error' ? (errorOfMessage(record) ?? UNNAMED) : null),
}

const responses: KnownStream = {
  recognizes: (record) => textAt(record, 'type')?.startsWith('response.') === true,
  marks: /"type"\s*:\s*"(?:response\.(?:completed|incomplete|failed|cancelled)|error)"/,
  isEnd: ({ type }) => typeof type === 'string' && RESPONSE_ENDS.has(type),
  errorOf(record) {
    if (record['type'] === 'response.failed') return errorOfChunk(objectAt(record, 'response')) ?? UNNAMED
    if (record['type'] !== 'error') return null
    return errorOfChunk(isObject(record['error']) ? record : { error: withoutType(record) })
  },
}

const RESPONSE_ENDS: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.cancelled'])

const gemini: KnownStream = {
  recognizes: ({ candidates, promptFeedback, modelVersion }) =>
    Array.isArray(candidates) || isObject(promptFeedback) || typeof modelVersion === 'string',
  marks: /"(?:finishReason|blockReason|error)"/,
  isEnd: (record) =>
    objectsAt(record, 'candidates').some(({ finishReason }) => typeof finishReason === 'string') ||
    typeof objectAt(record, 'promptFeedback')['blockReason'] === 'string',
  errorOf: ({ error }) => (isObject(error) ? errorOfGemini(error, 502) : null),
}

/** Converse events, each as the only member of an object: the form in which Nova streams its responses. */
export const converse: KnownStream = {
  recognizes: (record) => isObject(record['messageStart']),
  marks: /"messageStop"/,
  isEnd: (record) => isObject(record['messageStop']),
  errorOf: () => null,
}

export const KNOWN_STREAMS: readonly KnownStream[] = [completions, messages, responses, gemini, converse]

/** The error in place of the first record, which is read without knowing the format. */
export function errorInstead(record: JsonObject): ChatError | null {
  const { type, error, message } = record
  if (isObject(error)) return type === 'error' ? errorOfMessage(record) : errorOfChunk(record)
  return type === 'error' && typeof message === 'string' ? responses.errorOf(record) : null
}

function withoutType({ type: _type, ...error }: JsonObject): JsonObject {
  return error
}

const UNNAMED: ChatError = { status: 502, kind: 'api', message: 'the provider answered with an error' }
