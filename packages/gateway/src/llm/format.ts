import type {
  ChatError,
  ChatEvent,
  ChatRequest,
  FinishReason,
  FormatName,
  JsonObject,
  Loss,
  Unsupported,
  Usage,
} from './middle.ts'
import type { NativeTexts } from './native-texts.ts'
import type { Reading } from './request-texts.ts'

/** A format that clients speak. It knows no provider. */
export interface ClientFormat {
  readonly name: FormatName
  /** Unknown fields go to `rest`. */
  decodeRequest(body: JsonObject): ChatRequest | Unsupported
  encodeResponse(events: readonly ChatEvent[], context: ResponseContext): JsonObject
  createStreamEncoder(context: ResponseContext): StreamEncoder
  /**
   * Encodes the rest of a stream that passed up to here as it came. Formats whose records depend on those before, by
   * numbers or ids, have it; for others a new encoder does.
   */
  resumeStreamEncoder?(context: ResponseContext, passed: PassedStream): StreamEncoder
  encodeError(error: ChatError): { status: number; body: JsonObject }
  /**
   * Whether a request may go to any provider of this format as it is, seen without decoding it. No is always right: then
   * `passesThrough` says it.
   */
  isPlain?(body: JsonObject): boolean
  /** What `decodeResponse` finds out about a whole answer, without its events; null where only that can tell. */
  plainFacts?(body: JsonObject): AnswerFacts | null
  /** Finds the texts in a request of this format. */
  readonly requestTexts: Reading
  /** Finds the texts in a response of this format. */
  readonly texts: NativeTexts
  /** What stands in the record that says that a streamed answer is complete, and in no text of a model. */
  readonly endMarks: RegExp
}

/** The part of a stream that the client already has, passed through unchanged. */
export interface PassedStream {
  start: Extract<ChatEvent, { type: 'start' }>
  /** Text of the last record, each character a byte. */
  lastRecord: string
  /** Number of records so far. */
  records: number
}

/** What an answer says of itself, rather than to the client. */
export interface AnswerFacts {
  id: string
  model: string
  /** Null where it is not reported. */
  usage: Usage | null
  finish: FinishReason
}

/** A format that providers speak. It knows no client. */
export interface UpstreamFormat {
  readonly name: FormatName
  /** `losses` gets what could not be said. */
  encodeRequest(request: ChatRequest, target: EncodeTarget, losses: Loss[]): JsonObject | Unsupported
  /** A whole response as events; null when it is none of this format. */
  decodeResponse(body: JsonObject, context: ResponseContext): ChatEvent[] | null
  /** For one streamed response; chunks may be cut anywhere. */
  createStreamDecoder(context: ResponseContext): StreamDecoder
  /** The body of a response whose status is not 2xx. */
  decodeError(status: number, body: Buffer): ChatError
}

/** What a provider needs said differently, as data. */
export interface EncodeTarget {
  /** The model that the upstream is asked for; it may be left out of the body. */
  model: string
  /** Deviations of one provider from the format, such as `completionTokens` for `max_completion_tokens`. */
  quirks: ReadonlySet<string>
  /** Filled by the encoder where the provider allows fewer names than the client used: theirs to the client's. */
  toolNames: Map<string, string>
  /** Fields that the provider's configuration adds to the body, such as a guardrail; objects are merged one level deep. */
  extra?: JsonObject
}

/** What both ends of a response must know of its request. */
export interface ResponseContext {
  request: ChatRequest
  /** The model as the client asked for it. */
  model: string
  /** Seconds since 1970. */
  now: number
  /** A new id with this prefix, unique and unguessable. */
  newId(prefix: string): string
  /** Names that `encodeRequest` had to change for the provider, back to the client's; it fills this in. */
  toolNames: Map<string, string>
}

export interface StreamDecoder {
  /** Events that these bytes complete. Malformed input is an error event, never an exception. */
  push(chunk: Buffer): ChatEvent[]
  /** The upstream ended; a stream that had not finished gives an error event. */
  end(): ChatEvent[]
}

export interface StreamEncoder {
  /** What the client gets for this event; may be empty. */
  event(event: ChatEvent): string
  /** After the last event. */
  end(): string
}
