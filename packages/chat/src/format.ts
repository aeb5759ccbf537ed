import type {
  ChatError,
  ChatEvent,
  ChatRequest,
  FinishReason,
  FormatName,
  JsonObject,
  Loss,
  UnsupportedField,
  Usage,
} from './middle.ts'
import type { NativeTexts } from './texts/native-texts.ts'
import type { Reading } from './texts/request-texts.ts'

/** A format that clients speak; independent of any provider. */
export interface ClientFormat {
  readonly name: FormatName
  /** Unknown fields go to `rest`. */
  decodeRequest(body: JsonObject): ChatRequest | UnsupportedField
  encodeResponse(events: readonly ChatEvent[], context: ResponseContext): JsonObject
  createStreamEncoder(context: ResponseContext): StreamEncoder
  /**
   * Encodes the rest of a stream whose beginning was passed through unchanged. Formats whose records refer to earlier
   * records by number or id implement this; for other formats a new encoder suffices.
   */
  resumeStreamEncoder?(context: ResponseContext, passed: PassedStream): StreamEncoder
  encodeError(error: ChatError): { status: number; body: JsonObject }
  /**
   * Whether a request can be forwarded unchanged to any provider of this format, found without decoding the request.
   * False is always safe: `passesThrough` then decides.
   */
  isPlain?(body: JsonObject): boolean
  /**
   * The facts that `decodeResponse` would find in a whole response, without creating events; null when only
   * `decodeResponse` can tell.
   */
  plainFacts?(body: JsonObject): AnswerFacts | null
  /** Finds the texts in a request of this format. */
  readonly requestTexts: Reading
  /** Finds the texts in a response of this format. */
  readonly texts: NativeTexts
  /** Matches the record that ends a complete streamed response, and never the text of a model unless there is `isEnd`. */
  readonly endMarks: RegExp
  /** Whether a record that `endMarks` matches ends the response, for formats in which a model can write the marks. */
  readonly isEnd?: (record: JsonObject) => boolean
}

/** The part of a stream that the client already has, passed through unchanged. */
export interface PassedStream {
  start: Extract<ChatEvent, { type: 'start' }>
  /** Text of the last record, each character a byte. */
  lastRecord: string
  /** Number of records so far. */
  records: number
}

/** Metadata of a response. */
export interface AnswerFacts {
  id: string
  model: string
  /** Null when the provider reported no usage. */
  usage: Usage | null
  finish: FinishReason
}

/** A format that providers speak; independent of any client. */
export interface UpstreamFormat {
  readonly name: FormatName
  /** Adds to `losses` every part of the request that this format cannot express. */
  encodeRequest(request: ChatRequest, target: EncodeTarget, losses: Loss[]): JsonObject | UnsupportedField
  /** Decodes a whole response into events; null when the body is not a response of this format. */
  decodeResponse(body: JsonObject, context: ResponseContext): ChatEvent[] | null
  /** Creates the decoder of one streamed response; chunks may be cut anywhere. */
  createStreamDecoder(context: ResponseContext): StreamDecoder
  /** Decodes the body of a response whose status is not 2xx. */
  decodeError(status: number, body: Buffer): ChatError
}

/** The deviations of a provider from the format, as data. */
export interface EncodeTarget {
  /** The model to request from the upstream; an encoder may leave the model out of the body. */
  model: string
  /** Deviations of one provider from the format, such as `completionTokens` for `max_completion_tokens`. */
  quirks: ReadonlySet<string>
  /**
   * The provider's tool names mapped to the client's; filled by the encoder when the provider allows fewer names than
   * the client used.
   */
  toolNames: Map<string, string>
  /** Fields that the provider's configuration adds to the body, such as a guardrail; objects are merged one level deep. */
  extra?: JsonObject
}

/** The properties of a request that the decoder and the encoder of its response need. */
export interface ResponseContext {
  request: ChatRequest
  /** The model that the client requested. */
  model: string
  /** Seconds since 1970. */
  now: number
  /** A new id with this prefix, unique and unguessable. */
  newId(prefix: string): string
  /**
   * Tool names that `encodeRequest` changed for the provider, mapped to the client's names; filled by `encodeRequest`.
   */
  toolNames: Map<string, string>
}

export interface StreamDecoder {
  /** Events that these bytes complete. Malformed input is an error event, never an exception. */
  push(chunk: Buffer): ChatEvent[]
  /** Called when the upstream ended; an unfinished stream yields an error event. */
  end(): ChatEvent[]
}

export interface StreamEncoder {
  /** The bytes to send to the client for this event; may be empty. */
  event(event: ChatEvent): string
  /** Called after the last event. */
  end(): string
}
