import type {
  ChatError,
  ChatEvent,
  ClientFormat,
  PassedStream,
  ResponseContext,
  StreamEncoder,
  StreamFault,
  StreamFaultCode,
} from '@portico/chat'
import type { ExchangeContext, GuardNote, Rejection } from '../../../llm/guards/guard.ts'
import type { ResponseGuards } from '../../../llm/guards/prompt-guards.ts'
import type { BodyWork } from './deferred-body.ts'
import type { PreparedChat } from './prepare-chat.ts'

export interface StreamParts {
  prepared: PreparedChat
  /** Null without response guards. */
  guards: ResponseGuards | null
  format: ClientFormat
  context: ResponseContext
  guardContext: ExchangeContext
  /** Whether the request can still fail over until content is sent to the client. */
  awaitsContent: boolean
  /** Redacts the credentials that the gateway sent to the provider, which errors may repeat. */
  redact: (text: string) => string
}

/** The outcome of the guards of a stream, complete when the stream is over. */
export interface StreamGuard {
  readonly notes: readonly GuardNote[]
  readonly rejection: Rejection | null
}

/** The work on the records of a stream: to pass them unchanged, or to translate them to the client's format. */
export interface StreamWork extends BodyWork {
  /** Set when an error came before any bytes were sent. */
  readonly firstError: ChatError | null
  /** The provider's first fault, before or after the stream began; null while there is none. */
  readonly fault: StreamFault | null
}

/** Receives the events of a response, however the response is read. */
export interface ResponseObserver {
  observe(event: ChatEvent): void
  /**
   * Ends the response. `records` is the number of records, an estimate of the tokens of a broken stream. `whole` says
   * that reported usage needs no estimate. Not called when an error was all that came: such a response costs nothing,
   * and the request may still fail over. `fault` is the provider's later fault.
   */
  over(outcome: { whole: boolean; records: number; fault: StreamFault | null }): void
}

/**
 * Encodes an error at the end of the client's stream; `passed` is the part of the stream that the client already has.
 */
export type TellError = (error: ChatError, passed: PassedStream | null) => string

export type DetectedFault = Exclude<StreamFaultCode, 'stream_error'>

/** The end of the client's stream after an error, without credentials. */
export function encodeStreamError(error: ChatError, encoder: StreamEncoder, redact: StreamParts['redact']): string {
  return redact(encoder.event({ type: 'error', error }) + encoder.end())
}

/** Whether an event is content; `start` and `usage` only announce content. */
export function isContent({ type }: ChatEvent): boolean {
  return type !== 'start' && type !== 'usage'
}
