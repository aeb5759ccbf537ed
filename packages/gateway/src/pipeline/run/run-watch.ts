import type { CompiledListener, CompiledRoute } from '../compiled/compiled.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { RouteCandidate } from '../route/route-table.ts'
import type { Tracer } from './run-services.ts'
import { RequestTrace, type TraceServices } from '../context/trace.ts'

/** Begins the trace of a request if a watcher claims it. */
export function watch(rx: RequestContext, services: TraceServices & { tracer: Tracer }): void {
  const sink = services.tracer.claim(rx)
  if (sink === null) return
  rx.trace = new RequestTrace(rx, sink, services)
  rx.trace.started()
}

/** Finds the route, and reports to the trace why the other routes did not match. */
export function explainRoute(
  rx: RequestContext,
  { routes }: CompiledListener,
  trace: RequestTrace,
): RouteCandidate<CompiledRoute> | null {
  const { found, evaluated, rejected } = routes.explain(rx)
  trace.routed(found === null ? null : found.value.key, evaluated, rejected)
  return found
}
