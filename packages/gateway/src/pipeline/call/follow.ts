import { reportFault } from '@portico/http/faults'
import type { RequestContext } from '../context/request-context.ts'

/** Waits for work that is done for a request: an exception of the work ends this request and nothing else. */
export function follow(rx: Pick<RequestContext, 'runner'>, work: unknown): void {
  if (!(work instanceof Promise)) return
  work.catch((error: unknown) => fault(rx, error))
}

/** Runs a callback of other work for a request: its exception ends this request and nothing else. */
export function containedIn(rx: Pick<RequestContext, 'runner'>, run: () => void): void {
  try {
    run()
  } catch (error) {
    fault(rx, error)
  }
}

function fault({ runner }: Pick<RequestContext, 'runner'>, error: unknown): void {
  if (runner === null) reportFault(error, 'request')
  else runner.faulted(error)
}

/** Continues synchronously with a value, or asynchronously with a promise. */
export function nowOrLater<Value, Result>(
  value: Value | Promise<Value>,
  goOn: (settled: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then((settled) => goOn(settled)) : goOn(value)
}
