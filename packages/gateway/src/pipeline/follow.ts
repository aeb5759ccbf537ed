import { reportFault } from '../telemetry/faults.ts'
import type { RequestContext } from './request-context.ts'

/** Waits for work that is done for a request: an exception of the work ends this request and nothing else. */
export function follow(rx: Pick<RequestContext, 'runner'>, work: unknown): void {
  if (!(work instanceof Promise)) return
  work.catch((error: unknown) => {
    if (rx.runner === null) reportFault(error, 'request')
    else rx.runner.faulted(error)
  })
}
