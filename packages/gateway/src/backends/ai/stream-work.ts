import type { ClientFormat, ResponseContext, StreamEncoder } from '../../llm/format.ts'
import type { GuardChain } from '../../llm/guards/chain.ts'
import type { GuardContext } from '../../llm/guards/guard.ts'
import { RecordGuard } from '../../llm/guards/record-guard.ts'
import { StreamGuard } from '../../llm/guards/stream-guard.ts'
import type { ChatError } from '../../llm/middle.ts'
import type { PreparedChat } from './prepare-chat.ts'
import { NativeWork, type ResponseObserver, TranslatedWork } from './response-events.ts'

interface StreamParts {
  prepared: PreparedChat
  /** The response guards; null without any. */
  chain: GuardChain | null
  format: ClientFormat
  context: ResponseContext
  guardContext: Omit<GuardContext, 'about'>
  /** Whether the request can still fail over until content is sent to the client. */
  awaitsContent: boolean
  /** Redacts the credentials that the gateway sent to the provider, which errors may repeat. */
  hide: (text: string) => string
}

interface StreamWork {
  work: NativeWork | TranslatedWork
  guard: StreamGuard | RecordGuard | null
}

/** Creates the work on the records of a stream: pass them unchanged, or translate them to the client's format. */
export function createStreamWork(observer: ResponseObserver, parts: StreamParts): StreamWork {
  const { prepared, chain, format, context, guardContext, awaitsContent, hide } = parts
  const { upstream, answersAsIs, hidesUsage } = prepared
  const decoder = upstream.createStreamDecoder(context)
  const told = (error: ChatError, encoder: StreamEncoder): string =>
    hide(encoder.event({ type: 'error', error }) + encoder.end())
  if (!answersAsIs) {
    const encoder = format.createStreamEncoder(context)
    const guard = chain === null ? null : new StreamGuard(chain, guardContext)
    const tellError = (error: ChatError): string => told(error, encoder)
    return { work: new TranslatedWork(decoder, observer, { encoder, tellError, guard }), guard }
  }
  const guard = chain === null ? null : new RecordGuard(chain, guardContext, format.texts)
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
