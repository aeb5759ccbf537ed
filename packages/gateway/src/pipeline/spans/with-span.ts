import type { CallContext } from '../step.ts'
import type { SpanPlace } from './request-spans.ts'

/** The same context for calls whose spans hang elsewhere. */
export function withSpan(context: CallContext, span: SpanPlace): CallContext {
  return {
    ...(context.rx !== undefined && { rx: context.rx }),
    clientVersion: context.clientVersion,
    clientScheme: context.clientScheme,
    span,
    connectingTo: (endpoint) => context.connectingTo(endpoint),
    hasTried: (endpoint) => context.hasTried?.(endpoint) ?? false,
    sentAgain: (error) => context.sentAgain?.(error),
    isUnhealthy: (response) => context.isUnhealthy?.(response) ?? response.status >= 500,
  }
}
