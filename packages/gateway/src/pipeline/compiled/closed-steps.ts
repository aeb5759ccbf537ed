import { failureReply } from './failure-reply.ts'
import { failures } from '../context/failure.ts'
import type { StepList } from './compiled.ts'
import type { Reply } from '../context/reply.ts'
import type { RequestContext } from '../context/request-context.ts'

/** Answers every request with 500, in place of steps that cannot be compiled. */
export function closedStepList(reason: string): StepList {
  const refuse = (rx: RequestContext): Reply => {
    rx.note({ code: 'quarantined', reason })
    return failureReply(failures.quarantined, rx.headers.get('content-type'))
  }
  return { run: [refuse], names: ['quarantine'] }
}
