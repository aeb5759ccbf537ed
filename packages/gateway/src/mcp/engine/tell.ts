import { Deadline } from '@portico/http'
import { withId } from '../edit.ts'
import { replyForTarget } from '../merge/for-target.ts'
import type { RpcMessage } from '../message.ts'
import type { TargetFailure } from '../transport.ts'
import { targetNamed } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import { answeredRequest } from './outward.ts'
import type { Target } from '../targets/target.ts'

/** A notification or an answer of the client: `done` is called once every target it concerns has taken it, or failed to. */
export function tellTargets(exchange: Exchange, message: RpcMessage, done: () => void): void {
  const { endpoint } = exchange
  const told = message.kind === 'response' ? answered(exchange, message) : noticed(exchange, message)
  let left = told.length
  const finish = (): void => {
    left -= 1
    if (left > 0 || exchange.isCancelled) return
    exchange.facts.outcome ??= 'ok'
    exchange.report()
    done()
  }
  if (left === 0) {
    left = 1
    return finish()
  }
  for (const { target, text } of told) {
    tellTarget(exchange, target, text, (failure) => {
      // The client cannot be told: nobody answers a notification.
      if (failure !== null)
        endpoint.log.debug('target did not take a message', { target: target.name, ...reason(failure) })
      finish()
    })
  }
}

/** One target gets something that it does not answer; `done` is told once it has taken it, or why it has not. */
export function tellTarget(
  exchange: Exchange,
  target: Target,
  text: RpcMessage,
  done: (failure: TargetFailure | null) => void,
): void {
  const { beginMs, deadlines } = target.limits
  const took = (failure: TargetFailure | null): void => {
    deadlines.clear(limit)
    done(failure)
  }
  const limit = new Deadline(() => {
    call.cancel(TOO_SLOW)
    took({ code: 'broken', message: TOO_SLOW.message })
  })
  deadlines.set(limit, beginMs)
  const call = exchange.session.link(target).tell(text, exchange.callerFor(target), took)
  exchange.keep({
    cancel(cause) {
      deadlines.clear(limit)
      call.cancel(cause)
    },
    resume: () => call.resume(),
  })
}

function reason({ code, message }: { code: string; message: string }): { code: string; error: string } {
  return { code, error: message }
}

const TOO_SLOW = new Error('it did not take the message in time')

interface Told {
  target: Target
  text: RpcMessage
}

/** Notifications are for every target that knows of the session. */
function noticed({ endpoint, session }: Exchange, message: RpcMessage): Told[] {
  const { namer, targets } = endpoint
  return targets
    .filter((target) => session.knows(target))
    .map((target) => ({ target, text: replyForTarget(message, target.name, namer) }))
}

function answered({ endpoint }: Exchange, message: RpcMessage): Told[] {
  const { namer, targets } = endpoint
  if (!namer.isMerged) return [{ target: targets[0], text: replyForTarget(message, targets[0].name, namer) }]
  const found = answeredRequest(message.id)
  if (found === null || !namer.targets.includes(found.target)) return []
  const target = targetNamed(endpoint, found.target)
  return [{ target, text: withId(replyForTarget(message, target.name, namer), found.id) }]
}
