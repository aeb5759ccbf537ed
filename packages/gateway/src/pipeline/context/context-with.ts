import type { CallContext } from './step.ts'

/** The same context but for this. Contexts are often the call itself, whose members are not its own to be spread. */
export function contextWith(context: CallContext, changes: Partial<CallContext>): CallContext {
  return {
    ...(context.rx !== undefined && { rx: context.rx }),
    hops: context.hops,
    clientVersion: context.clientVersion,
    clientScheme: context.clientScheme,
    span: context.span ?? null,
    belongsTo: context.belongsTo ?? null,
    ...(context.clientAddress !== undefined && { clientAddress: context.clientAddress }),
    connectingTo: (endpoint, scheme) => context.connectingTo(endpoint, scheme),
    hasTried: (endpoint) => context.hasTried?.(endpoint) ?? false,
    sentAgain: (error) => context.sentAgain?.(error),
    hasEvicted: () => context.hasEvicted?.(),
    isUnhealthy: (response) => context.isUnhealthy?.(response) ?? response.status >= 500,
    ...changes,
  }
}
