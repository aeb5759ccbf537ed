import { Deadline } from '@portico/http'
import { conditional } from '../../../pipeline/policy/conditional.ts'
import { noteRehearsal } from '../../../pipeline/policy/rehearsal.ts'
import { implement } from '../../../pipeline/context/step.ts'
import type { DelayConfig } from './schema.ts'

export const delay = conditional(
  implement<DelayConfig>(({ time, jitter = 0, percentage = 100 }, env) => {
    const count = env.rehearsed(env.attachment, 'delay')
    return {
      request(rx) {
        if (env.random() * 100 >= percentage) return rx.trace?.skipped(`not in ${percentage} % of the requests`)
        const milliseconds = Math.round(time + env.random() * jitter)
        count()
        noteRehearsal(rx, `delay ${milliseconds}ms`)
        rx.trace?.note({ rehearsal: true, delayMs: milliseconds })
        return new Promise<void>((resolve) => {
          const callouts = (rx.callouts ??= new Set())
          const end = (): void => {
            callouts.delete(giveUp)
            resolve()
          }
          const deadline = new Deadline(end)
          // Called when the client leaves during the delay; the runner ignores the steps of a request that is over.
          const giveUp = (): void => {
            env.deadlines.clear(deadline)
            end()
          }
          callouts.add(giveUp)
          env.deadlines.set(deadline, milliseconds)
        })
      },
    }
  }),
)
