import { UpstreamError } from '@portico/http/client'
import type { CompiledBackend } from '../compiled/compiled.ts'
import { TracedContext } from './traced-context.ts'

type Connect = CompiledBackend['connect']

/** Returns `connect` with a span for each tunnel of a sampled request; the span lasts as long as the tunnel. */
export function tracedConnect(backend: { readonly name: string; readonly kind: string }, connect: Connect): Connect {
  return (authority, context, done) => {
    const place = context.span ?? null
    if (place === null) return connect(authority, context, done)
    const { spans, parentId, purpose } = place
    const span = spans.begin({ parentId, purpose, backend, method: 'CONNECT', authority, target: '' })
    const call = connect(authority, new TracedContext(span, spans, context), (outcome) => {
      if (outcome instanceof UpstreamError) span.failed(outcome.code, outcome.message)
      else {
        span.answered(200, null)
        outcome.once('close', () => span.ended())
      }
      done(outcome)
    })
    return {
      cancel(cause) {
        span.cut(cause.message)
        call.cancel(cause)
      },
    }
  }
}
