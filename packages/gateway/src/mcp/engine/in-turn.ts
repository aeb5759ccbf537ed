import { isObject } from '../../wire/json.ts'
import type { AskedItem } from '../merge/for-target.ts'
import { forClient } from '../merge/for-client.ts'
import type { RpcMessage } from '../message.ts'
import type { TargetFailure } from '../transports/transport.ts'
import { ask, isFailure } from './ask.ts'
import { denial } from './hide-forbidden.ts'
import { answerFailure } from './answer-failure.ts'
import type { Exchange } from './exchange.ts'
import type { Target } from './target.ts'

/**
 * Asks one target after the other for something that no list shows, until one has it: reading does no harm where it
 * finds nothing. What the first one says stands when none has it.
 */
export async function askInTurn(exchange: Exchange, request: RpcMessage, asked: AskedItem): Promise<void> {
  const { endpoint, rx, facts } = exchange
  const allowed = endpoint.targets.filter(({ judge, name }) =>
    judge.allows(rx, { kind: asked.kind, name: asked.exposed, target: name }),
  )
  let first: { target: Target; answer: RpcMessage | TargetFailure } | null = null
  facts.askedAt = endpoint.now()
  for (const target of allowed) {
    // The last one has nobody behind it who waits.
    const answer = await ask(exchange, target, request, target === allowed.at(-1) ? 0 : target.limits.listMs)
    if (exchange.isCancelled) return
    if (!isFailure(answer) && isObject(answer.value.result)) return pass(exchange, request, target, answer)
    first ??= { target, answer }
  }
  if (first === null) {
    const { code, message } = denial(asked.kind, asked.exposed)
    return exchange.refuse(request, 200, code, message, 'denied')
  }
  if (isFailure(first.answer)) answerFailure(exchange, request, first.target, first.answer)
  else pass(exchange, request, first.target, first.answer)
}

function pass(exchange: Exchange, request: RpcMessage, target: Target, answer: RpcMessage): void {
  exchange.facts.target = target.name
  exchange.note(answer)
  exchange.answer.respond(forClient(answer, request.method, target.name, exchange.endpoint.namer), '')
  exchange.finish()
}
