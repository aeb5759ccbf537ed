import { contextWith } from '../context/context-with.ts'
import type { CallContext } from '../context/step.ts'
import type { SpanParent } from '../spans/request-spans.ts'

/** Returns the context with another parent for the spans of calls. */
export function withSpan(context: CallContext, span: SpanParent): CallContext {
  return contextWith(context, { span })
}
