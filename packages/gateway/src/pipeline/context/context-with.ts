import type { CallContext } from './step.ts'

/** Returns a context with changed members. It delegates, because a context is often a class instance with getters, which a spread would lose. */
export function contextWith(context: CallContext, changes: Partial<CallContext>): CallContext {
  return {
    ...(context.rx !== undefined && { rx: context.rx }),
    hops: context.hops,
    clientVersion: context.clientVersion,
    clientScheme: context.clientScheme,
    span: context.span ?? null,
    belongsTo: context.belongsTo ?? null,
    order: context.order,
    ...(context.clientAddress !== undefined && { clientAddress: context.clientAddress }),
    connectingTo: (endpoint, scheme) => context.connectingTo(endpoint, scheme),
    hasTried: (endpoint) => context.hasTried?.(endpoint) ?? false,
    movedOn: (error) => context.movedOn?.(error),
    sentAgain: (error) => context.sentAgain?.(error),
    hasEvicted: () => context.hasEvicted?.(),
    isUnhealthy: (response) => context.isUnhealthy?.(response) ?? response.status >= 500,
    ...changes,
  }
}
