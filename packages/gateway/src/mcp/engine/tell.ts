import { Deadline } from '@portico/http'
import { withId } from '../edit.ts'
import { replyForTarget } from '../merge/item-methods.ts'
import type { RpcMessage } from '../protocol.ts'
import type { TargetFailure } from '../transport.ts'
import type { Exchange } from './exchange.ts'
import { answeredRequest } from './outward.ts'
import type { Target } from '../targets/target.ts'

/** Forwards a notification or response of the client; `done` is called once every recipient has accepted it or failed. */
export function tellTargets(exchange: Exchange, message: RpcMessage, done: () => void): void {
  const { endpoint } = exchange
  const told = message.kind === 'response' ? answered(exchange, message) : noticed(exchange, message)
  let left = told.length
  const finish = (): void => {
    left -= 1
    if (left > 0 || exchange.isCancelled) return
    exchange.record.outcome ??= 'ok'
    exchange.report()
    done()
  }
  if (left === 0) {
    left = 1
    return finish()
  }
  for (const { target, text } of told) {
    tellTarget(exchange, target, text, (failure) => {
      // The failure is only logged: notifications have no response.
      if (failure !== null)
        endpoint.log.debug('target did not accept a message', { target: target.name, ...reason(failure) })
      finish()
    })
  }
}

/** Sends a notification or response to one target; `done` gets null once the target has accepted it, or the failure. */
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
    took({ code: 'broken', cause: 'timeout', message: TOO_SLOW.message })
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

const TOO_SLOW = new Error('it did not accept the message in time')

/** A message for one target. */
interface Delivery {
  target: Target
  text: RpcMessage
}

/** Returns the deliveries of a notification: one to each target that knows the session. */
function noticed({ endpoint, session }: Exchange, message: RpcMessage): Delivery[] {
  const { namer, targets } = endpoint
  return targets
    .filter((target) => session.knows(target))
    .map((target) => ({ target, text: replyForTarget(message, target.name, namer) }))
}

function answered(exchange: Exchange, message: RpcMessage): Delivery[] {
  const { namer, targets } = exchange.endpoint
  if (!namer.isMerged) return [{ target: targets[0], text: replyForTarget(message, targets[0].name, namer) }]
  const found = answeredRequest(message.id)
  if (found === null || !namer.targets.includes(found.target)) return []
  const target = exchange.targetNamed(found.target)
  return [{ target, text: withId(replyForTarget(message, target.name, namer), found.id) }]
}
