import { objectAt } from '@portico/http/json'
import { forClient } from '../merge/for-client.ts'
import { mergeAcknowledged, splitListen } from '../merge/subscriptions.ts'
import type { RpcMessage } from '../protocol.ts'
import type { TargetFailure } from '../transport.ts'
import { isThere } from './ask.ts'
import { answerFailure } from './answer-failure.ts'
import type { Exchange } from './exchange.ts'
import { listsOf } from '../owners.ts'
import { MergeError } from '../merge/gather.ts'
import { requestList } from './list.ts'
import { TargetCall } from './target-call.ts'

/** Serves `subscriptions/listen` of revisions without sessions: one stream with the notifications of several targets. */
export async function serveListen(exchange: Exchange, request: RpcMessage): Promise<void> {
  await learnOwners(exchange, request)
  if (exchange.isCancelled) return
  const { endpoint, rx, answer, session } = exchange
  const { namer } = endpoint
  const split = splitListen(request, namer.targets, (kind, exposed) => {
    const owned =
      namer.needsOwners && kind === 'resource' ? session.owners.find(kind, exposed) : namer.owner(kind, exposed)
    if (owned === null || !('name' in owned)) return null
    const { judge } = exchange.targetNamed(owned.target)
    const item = { kind, ...owned }
    const isClear = !judge.isAmbiguous(rx, item) || session.owners.isListed(item)
    return isClear && judge.allows(rx, item) ? owned : null
  })
  const waiting = new Set(split.keys())
  const acknowledged: RpcMessage[] = []
  const failures: [string, TargetFailure][] = []
  const errors: RpcMessage[] = []
  /** Sends one acknowledgment to the client once every target has acknowledged or failed. */
  const acknowledge = (target: string): void => {
    if (!waiting.delete(target) || waiting.size > 0) return
    const [first, ...others] = acknowledged
    if (first !== undefined) answer.say(mergeAcknowledged([first, ...others]), '')
    else if (failures[0] !== undefined)
      answerFailure(exchange, request, exchange.targetNamed(failures[0][0]), failures[0][1])
    else if (errors[0] !== undefined) answer.respond(errors[0], '')
  }
  let open = split.size
  const leave = (target: string): void => {
    open -= 1
    acknowledge(target)
    if (open > 0) return
    if (!answer.isOver) answer.end()
    exchange.finish()
  }
  for (const [name, message] of split) {
    const target = exchange.targetNamed(name)
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
        acknowledge(name)
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

/** Requests the lists that tell the targets of the resources, when the URIs alone do not. */
async function learnOwners(exchange: Exchange, request: RpcMessage): Promise<void> {
  const { resourceSubscriptions } = objectAt(objectAt(request.value, 'params'), 'notifications')
  const { endpoint, session } = exchange
  if (!endpoint.namer.needsOwners || !Array.isArray(resourceSubscriptions)) return
  for (const uri of resourceSubscriptions) {
    if (typeof uri !== 'string') continue
    for (const method of listsOf.resource) {
      if (session.owners.find('resource', uri) !== null) break
      if ((await requestList(exchange, method)) instanceof MergeError) break
    }
  }
}

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
