import { containedWork } from '@portico/http/faults'
import { isObject } from '@portico/http/json'
import { forClient } from '../merge/for-client.ts'
import type { AskedItem } from '../merge/item-methods.ts'
import { hasNoSuchList, MergeError, readAnswer } from '../merge/gather.ts'
import type { RpcMessage } from '../protocol.ts'
import type { TargetFailure } from '../transport.ts'
import { answerFailure } from './answer-failure.ts'
import type { Exchange } from './exchange.ts'
import { answerInPlace } from '../targets/older-target.ts'
import type { Target } from '../targets/target.ts'
import { TargetCall } from './target-call.ts'
import { tellTarget } from './tell.ts'
import { refuseUnknown, saysUnknown } from './unknown-item.ts'

/** Returns the response of one target, as a part of a merged response; `limitMs` is the target's time limit. */
export function ask(
  exchange: Exchange,
  target: Target,
  message: RpcMessage,
  limitMs = 0,
): Promise<RpcMessage | TargetFailure> {
  const limits = { limitMs, keep: (call: TargetCall) => exchange.keep(call) }
  // Nobody waits for a probe: it outlives the request.
  const alone = { limitMs: limitMs > 0 ? limitMs : target.limits.listMs, keep: (call: TargetCall) => call }
  const send = (options: SendOptions) => sendTo(exchange, target, message, options)
  return unlessOut(
    exchange,
    target,
    () => send(limits),
    () => send(alone),
  )
}

/**
 * Returns the response of `send`, or at once the failure of a target that hung recently; `probe` then runs unawaited.
 */
export async function unlessOut<Answer extends object>(
  exchange: Exchange,
  target: Target,
  send: () => Promise<Answer | TargetFailure>,
  probe: () => Promise<object>,
): Promise<Answer | TargetFailure> {
  const { outages, now } = exchange.endpoint
  if (outages === null) return send()
  const { name } = target
  const askedAt = now()
  const recorded = <Settled extends object>(answer: Settled): Settled => {
    outages.record(name, askedAt, isLost(answer) ? answer : null, () => isThere(exchange, target))
    return answer
  }
  const recordProbe = async (probed: Promise<object>): Promise<void> => {
    try {
      recorded(await probed)
    } catch (error) {
      // The target stays out, and the next probe may begin.
      outages.record(name, askedAt, PROBE_FAILED, () => isThere(exchange, target))
      throw error
    }
  }
  const failure = outages.current(name)
  if (failure === null) return recorded(await send())
  if (outages.startProbe(name)) containedWork('request', recordProbe(probe()))
  return failure
}

/** Whether the target answers `initialize`; the session that begins with it ends at once. */
export async function isThere(exchange: Exchange, target: Target): Promise<boolean> {
  const { session, endpoint } = exchange
  const caller = exchange.callerFor(target)
  const link = target.transport.link({ key: endpoint.newKey(), target: '', isPassing: true })
  const answer = await session.introduceBy(link, target, caller)
  link.end(caller)
  return !isLost(answer)
}

const PROBE_FAILED: TargetFailure = { code: 'broken', cause: 'other', message: 'internal error' }

/** Whether the answer is the failure of a target that cannot be reached; a target that refuses can be reached. */
function isLost(answer: object): answer is TargetFailure {
  return 'code' in answer && 'message' in answer && answer.code !== 'refused'
}

interface SendOptions {
  limitMs: number
  keep: (call: TargetCall) => TargetCall
}

function sendTo(
  exchange: Exchange,
  target: Target,
  message: RpcMessage,
  { limitMs, keep }: SendOptions,
): Promise<RpcMessage | TargetFailure> {
  return new Promise((resolve) => {
    let response: RpcMessage | null = null
    const call = new TargetCall(exchange.session, target, message, exchange.callerFor(target), {
      message(said) {
        if (said.kind === 'response' && said.id === message.id) response = said
        if (said.kind === 'request') tellTarget(exchange, target, answerInPlace(said, NOT_NOW), () => {})
        return true
      },
      opened: () => exchange.answer.preferEvents(true),
      closed: () => resolve(response ?? NO_ANSWER),
      failed: (failure) => resolve(failure.code === 'refused' ? (failure.error ?? failure) : failure),
    })
    keep(call).start(limitMs)
  })
}

export function isFailure(answer: RpcMessage | TargetFailure): answer is TargetFailure {
  return !('kind' in answer)
}

/** Sends a request with an empty result to every target; targets that do not know the method are ignored. */
export async function serveEverywhere(exchange: Exchange, request: RpcMessage): Promise<void> {
  const { targets, failsOpen } = exchange.endpoint
  const answers = await Promise.all(
    targets.map(async (target) => readAnswer(target.name, await ask(exchange, target, request, target.limits.listMs))),
  )
  if (exchange.isCancelled) return
  const failures = answers.filter((answer): answer is MergeError => answer instanceof MergeError)
  const real = failures.filter((failure) => !hasNoSuchList(failure))
  const [failure] = [...real, ...failures]
  if (failure !== undefined && (failures.length === answers.length || (real.length > 0 && !failsOpen))) {
    return exchange.mergeFailed(request, failure)
  }
  for (const { target, message } of real) exchange.leftOut(target, message)
  exchange.respond(request, {})
}

/**
 * Sends a read request for an unlisted item to one target after the other until one has the item; reads have no side
 * effects. When no target has the item, the client gets the answer of the first target.
 */
export async function askInTurn(exchange: Exchange, request: RpcMessage, asked: AskedItem): Promise<void> {
  const { endpoint, rx, record } = exchange
  const allowed = endpoint.targets.filter(({ judge, name }) => {
    const item = { kind: asked.kind, name: asked.exposed, target: name }
    return judge.allows(rx, item) && !judge.isAmbiguous(rx, item)
  })
  let first: { target: Target; answer: RpcMessage | TargetFailure } | null = null
  record.askedAt = endpoint.now()
  for (const target of allowed) {
    // The last target has no fallback, so it has no time limit of its own.
    const answer = await ask(exchange, target, request, target === allowed.at(-1) ? 0 : target.limits.listMs)
    if (exchange.isCancelled) return
    if (!isFailure(answer) && isObject(answer.value.result)) return pass(exchange, request, target, answer)
    first ??= { target, answer }
  }
  if (first === null) {
    return refuseUnknown(exchange, request, asked, 'denied')
  }
  const isHidden = endpoint.targets.some(({ judge }) => judge.hasRules)
  if (isHidden && !isFailure(first.answer) && saysUnknown(first.answer, request.method)) {
    return refuseUnknown(exchange, request, asked)
  }
  if (isFailure(first.answer)) answerFailure(exchange, request, first.target, first.answer)
  else pass(exchange, request, first.target, first.answer)
}

function pass(exchange: Exchange, request: RpcMessage, target: Target, answer: RpcMessage): void {
  exchange.record.target = target.name
  exchange.note(answer, target.name)
  exchange.answer.respond(forClient(answer, request.method, target.name, exchange.endpoint.namer), '')
  exchange.finish()
}

const NOT_NOW = 'the client cannot answer server requests here, because several servers serve its request'
const NO_ANSWER: TargetFailure = {
  code: 'bad_answer',
  cause: 'lost',
  message: 'it closed the stream without an answer',
}
