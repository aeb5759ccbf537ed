import type { StepList } from '../compiled/compiled.ts'
import { Reply } from '../context/reply.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { PolicyPhase } from '../context/trace.ts'

/** The stages of a request, in order: request steps before and after routing, then the response steps. */
export type Stage = 'gateway' | 'route' | 'backendResponse' | 'routeResponse' | 'gatewayResponse'

/** A request in its stages. Only one class implements it, so that V8 can inline the calls. */
export interface StagedRequest {
  readonly rx: RequestContext
  readonly isOver: boolean
  /** Changes when the request is interrupted; results of steps of an earlier turn are ignored. */
  readonly turn: number
  /** All steps of the stage have run. */
  next(stage: Stage): void
  /** The step at `index` has answered. */
  stopped(stage: Stage, steps: StepList, index: number, reply: Reply): void
  /** A step has thrown; a late exception no longer affects the request. */
  bug(error: unknown, isLate: boolean): void
}

/** Runs the steps of a stage from index `from`, then the next stage; synchronous until a step returns a promise. */
export function runSteps(request: StagedRequest, stage: Stage, steps: StepList, from: number): void {
  const { rx } = request
  const { run } = steps
  for (let i = from; i < run.length; i++) {
    let result
    try {
      // `names` and `run` have the same length, so the `!` are safe; a check would cost time for every request.
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
