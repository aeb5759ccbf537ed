import type { RequestContext } from '../../pipeline/request-context.ts'
import type { ReadyProvider } from './provider.ts'

/** Whoever has guards shall see in the trace that they did not look. */
export function noteUnguarded({ trace }: RequestContext, { guards }: Pick<ReadyProvider, 'guards'>): void {
  if (trace === null) return
  const reason = 'requests of this type pass as they are'
  for (const phase of ['request', 'response'] as const) {
    if (guards[phase] !== null) trace.emit({ type: 'promptGuard', phase, verdict: 'notRun', reason }, 'warn')
  }
}
