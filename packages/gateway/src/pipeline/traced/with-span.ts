import { contextWith } from '../context/context-with.ts'
import type { CallContext } from '../context/step.ts'
import type { SpanPlace } from '../spans/request-spans.ts'

/** The same context for calls whose spans hang elsewhere. */
export function withSpan(context: CallContext, span: SpanPlace): CallContext {
  return contextWith(context, { span })
}
