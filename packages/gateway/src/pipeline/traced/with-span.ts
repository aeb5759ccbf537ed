import { contextWith } from '../context-with.ts'
import type { CallContext } from '../step.ts'
import type { SpanPlace } from '../spans/request-spans.ts'

/** The same context for calls whose spans hang elsewhere. */
export function withSpan(context: CallContext, span: SpanPlace): CallContext {
  return contextWith(context, { span })
}
