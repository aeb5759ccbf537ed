import type { ChatError, ClientFormat, ResponseContext, StreamEncoder } from '@portico/chat'
import type { ExchangeContext, GuardNote, Rejection } from '../../llm/guards/guard.ts'
import type { ResponseGuards } from '../../llm/guards/prompt-guards.ts'
import type { PreparedChat } from './prepare-chat.ts'
import { NativeWork, type ResponseObserver, TranslatedWork } from './response-events.ts'

interface StreamParts {
  prepared: PreparedChat
  /** Null without response guards. */
  guards: ResponseGuards | null
  format: ClientFormat
  context: ResponseContext
  guardContext: ExchangeContext
  /** Whether the request can still fail over until content is sent to the client. */
  awaitsContent: boolean
  /** Redacts the credentials that the gateway sent to the provider, which errors may repeat. */
  hide: (text: string) => string
}

/** The outcome of the guards of a stream, complete when the stream is over. */
export interface StreamGuard {
  readonly notes: readonly GuardNote[]
  readonly rejection: Rejection | null
}

interface StreamWork {
  work: NativeWork | TranslatedWork
  guard: StreamGuard | null
}

/** Creates the work on the records of a stream: pass them unchanged, or translate them to the client's format. */
export function createStreamWork(observer: ResponseObserver, parts: StreamParts): StreamWork {
  const { prepared, guards, format, context, guardContext, awaitsContent, hide } = parts
  const { upstream, answersAsIs, hidesUsage } = prepared
  const decoder = upstream.createStreamDecoder(context)
  const told = (error: ChatError, encoder: StreamEncoder): string =>
    hide(encoder.event({ type: 'error', error }) + encoder.end())
  if (!answersAsIs) {
    const encoder = format.createStreamEncoder(context)
    const guard = guards?.eventStream(guardContext) ?? null
    const tellError = (error: ChatError): string => told(error, encoder)
    return { work: new TranslatedWork(decoder, observer, { encoder, tellError, guard }), guard }
  }
  const guard = guards?.recordStream(format.texts, guardContext) ?? null
  const work = new NativeWork(decoder, observer, {
    hidesUsage,
    awaitsContent,
    endMarks: format.endMarks,
    keepsLastRecord: format.resumeStreamEncoder !== undefined,
    tellError(error, passed) {
      const resumed = passed === null ? undefined : format.resumeStreamEncoder?.(context, passed)
      return told(error, resumed ?? format.createStreamEncoder(context))
    },
    hide,
    guard,
  })
  return { work, guard }
}
