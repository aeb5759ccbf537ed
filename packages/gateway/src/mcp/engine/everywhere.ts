import { hasNoSuchList, MergeError, readAnswer } from '../merge/gather.ts'
import type { RpcMessage } from '../message.ts'
import { ask } from './ask.ts'
import type { Exchange } from './exchange.ts'

/** A request that concerns every target, and has nothing to answer; targets that do not know it are not asked again. */
export async function serveEverywhere(exchange: Exchange, request: RpcMessage): Promise<void> {
  const { targets, failsOpen } = exchange.endpoint
  const answers = await Promise.all(
    targets.map(async (target) => readAnswer(target.name, await ask(exchange, target, request, target.limits.listMs))),
  )
  if (exchange.isCancelled) return
  const failures = answers.filter((answer): answer is MergeError => answer instanceof MergeError)
  const real = failures.filter((failure) => !hasNoSuchList(failure))
  if (failures.length === answers.length || (real.length > 0 && !failsOpen)) {
    return exchange.mergeFailed(request, real[0] ?? failures[0]!)
  }
  for (const { target, message } of real) exchange.leftOut(target, message)
  exchange.respond(request, {})
}
