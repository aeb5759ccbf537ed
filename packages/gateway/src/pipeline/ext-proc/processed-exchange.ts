import type { Reply } from '../context/reply.ts'
import type { JsonObject, RequestContext } from '../context/request-context.ts'
import type { MessageContext } from './messages.ts'

/** The request and response that a processor works on, as the owner of the stream to the processor reports and ends them. */
export interface ProcessedExchange {
  readonly rx: RequestContext
  /** Whether the exchange continues without the processor after a failure, if the processor holds no bytes of a body. */
  readonly canGoOn: boolean
  /** The attributes and metadata in the first message of a direction. */
  context(name: 'request' | 'response'): MessageContext
  /** Metadata that the processor sent with a response. */
  gotMetadata(metadata: JsonObject): void
  /** Details of a response of the processor, for the trace; `details` is not called without one. */
  note(details: () => JsonObject): void
  /** The processor failed. `cause` is not for clients; `isInStep` says whether `run` waits for the processor. */
  processorFailed(cause: string, goesOn: boolean, isInStep: boolean): void
  /** The reply after a failure without which the exchange cannot continue; `why` is for clients. */
  failureReply(why: string, cause: string): Reply
  /** The processor answered in place of the backend. */
  processorAnswered(reply: Reply, details: string, isInStep: boolean): void
  /** Ends the exchange with this reply while no `run` waits for the processor. */
  interrupt(reply: Reply): void
}
