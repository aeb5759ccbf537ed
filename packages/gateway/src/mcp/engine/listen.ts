import { objectAt } from '@portico/http/json'
import { forClient } from '../merge/for-client.ts'
import { mergeAcknowledged, splitListen } from '../merge/subscriptions.ts'
import type { RpcMessage } from '../message.ts'
import type { TargetFailure } from '../transport.ts'
import { targetNamed } from './endpoint.ts'
import { isThere } from './ask.ts'
import { answerFailure } from './answer-failure.ts'
import type { Exchange } from './exchange.ts'
import { findTarget, isListed } from './find-target.ts'
import { TargetCall } from './target-call.ts'

/** One stream of what several targets have to tell, of revisions without sessions. */
export async function serveListen(exchange: Exchange, request: RpcMessage): Promise<void> {
  await learnOwners(exchange, request)
  if (exchange.isCancelled) return
  const { endpoint, rx, answer, session } = exchange
  const { namer } = endpoint
  const split = splitListen(request, namer.targets, (kind, exposed) => {
    const owned =
      namer.needsOwners && kind === 'resource' ? session.owners.find(kind, exposed) : namer.owner(kind, exposed)
    if (owned === null || !('name' in owned)) return null
    const { judge } = targetNamed(endpoint, owned.target)
    const item = { kind, ...owned }
    const isClear = !judge.isAmbiguous(rx, item) || isListed(exchange, item)
    return isClear && judge.allows(rx, item) ? owned : null
  })
  const waiting = new Set(split.keys())
  const acknowledged: RpcMessage[] = []
  const failures: [string, TargetFailure][] = []
  const errors: RpcMessage[] = []
  /** The client hears once that everybody listens. */
  const settle = (target: string): void => {
    if (!waiting.delete(target) || waiting.size > 0) return
    const [first, ...others] = acknowledged
    if (first !== undefined) answer.say(mergeAcknowledged([first, ...others]), '')
    else if (failures[0] !== undefined)
      answerFailure(exchange, request, targetNamed(endpoint, failures[0][0]), failures[0][1])
    else if (errors[0] !== undefined) answer.respond(errors[0], '')
  }
  let open = split.size
  const leave = (target: string): void => {
    open -= 1
    settle(target)
    if (open > 0) return
    if (!answer.isOver) answer.end()
    exchange.finish()
  }
  for (const [name, message] of split) {
    const target = targetNamed(endpoint, name)
    const outage = endpoint.outages?.current(name) ?? null
    if (outage !== null) {
      failures.push([name, outage])
      exchange.leftOut(name, outage.message)
      leave(name)
      continue
    }
    const call = new TargetCall(session, target, message, exchange.callerFor(target), {
      message(said) {
        if (said.kind === 'response') {
          if (said.value.error !== undefined) errors.push(said)
          return true
        }
        const outward = forClient(said, request.method, name, namer)
        if (said.method !== ACKNOWLEDGED) return answer.say(outward, '')
        acknowledged.push(outward)
        settle(name)
        return true
      },
      closed: () => leave(name),
      failed(failure) {
        failures.push([name, failure])
        exchange.leftOut(name, failure.message)
        endpoint.outages?.missed(name, () => isThere(exchange, target))
        leave(name)
      },
    })
    exchange.keep(call).start(target.limits.beginMs)
  }
}

/** Where names do not tell whose a resource is, lists must. */
async function learnOwners(exchange: Exchange, request: RpcMessage): Promise<void> {
  const { resourceSubscriptions } = objectAt(objectAt(request.value, 'params'), 'notifications')
  if (!exchange.endpoint.namer.needsOwners || !Array.isArray(resourceSubscriptions)) return
  for (const uri of resourceSubscriptions) {
    if (typeof uri === 'string') await findTarget(exchange, { kind: 'resource', exposed: uri })
  }
}

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
