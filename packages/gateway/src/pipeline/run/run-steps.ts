import type { StepList } from '../compiled/compiled.ts'
import { Reply } from '../context/reply.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { PolicyPhase } from '../context/trace.ts'

/** Lists of steps in the order a request meets them: before and after routing, then the same way back. */
export type Stage = 'gateway' | 'route' | 'backendResponse' | 'routeResponse' | 'gatewayResponse'

/** A request on its way through its stages. One class alone is this: calls of it can be inlined. */
export interface StagedRequest {
  readonly rx: RequestContext
  readonly isOver: boolean
  /** Changes when the request is interrupted: what steps of an earlier turn still find out is not wanted. */
  readonly turn: number
  /** All steps of the stage have run. */
  next(stage: Stage): void
  /** The step at `index` has answered. */
  stopped(stage: Stage, steps: StepList, index: number, reply: Reply): void
  /** A step has thrown; a late one no longer decides what becomes of the request. */
  bug(error: unknown, isLate: boolean): void
}

/** Goes on to the next stage when all steps have run; stays synchronous until one really waits. */
export function runSteps(request: StagedRequest, stage: Stage, steps: StepList, from: number): void {
  const { rx } = request
  const { run } = steps
  for (let i = from; i < run.length; i++) {
    let result
    try {
      // The `!` cost nothing where every request passes: names and functions are of one length.
      result = run[i]!(rx)
    } catch (error) {
      return request.bug(error, false)
    }
    if (result === undefined) {
      if (rx.trace !== null) rx.trace.policy(steps.names[i]!, phaseOf[stage])
      continue
    }
    if (result instanceof Reply) return request.stopped(stage, steps, i, result)
    const { turn } = request
    result.then(
      (reply) => {
        if (request.isOver || turn !== request.turn) return
        try {
          if (reply instanceof Reply) return request.stopped(stage, steps, i, reply)
          if (rx.trace !== null) rx.trace.policy(steps.names[i]!, phaseOf[stage])
          runSteps(request, stage, steps, i + 1)
        } catch (error) {
          request.bug(error, false)
        }
      },
      (error: unknown) => request.bug(error, turn !== request.turn),
    )
    return
  }
  request.next(stage)
}

export const phaseOf: Readonly<Record<Stage, PolicyPhase>> = {
  gateway: 'gateway',
  route: 'route',
  backendResponse: 'response',
  routeResponse: 'response',
  gatewayResponse: 'response',
}
