import type { RpcMessage } from '../message.ts'
import type { TargetFailure } from '../transports/transport.ts'
import type { Exchange } from './exchange.ts'
import type { Target } from './target.ts'
import { TargetCall } from './target-call.ts'

/** The response of one target, for an answer that is put together of several; `limitMs` is how long it may take. */
export function ask(
  exchange: Exchange,
  target: Target,
  message: RpcMessage,
  limitMs = 0,
): Promise<RpcMessage | TargetFailure> {
  return new Promise((resolve) => {
    let response: RpcMessage | null = null
    const call = new TargetCall(exchange.session, target, message, exchange.callerFor(target), {
      message(said) {
        if (said.kind === 'response' && said.id === message.id) response = said
        return true
      },
      opened: () => exchange.answer.preferEvents(),
      closed: () => resolve(response ?? NO_ANSWER),
      failed: (failure) => resolve(failure.code === 'refused' ? (failure.error ?? failure) : failure),
    })
    exchange.keep(call).start(limitMs)
  })
}

export function isFailure(answer: RpcMessage | TargetFailure): answer is TargetFailure {
  return !('kind' in answer)
}

const NO_ANSWER: TargetFailure = { code: 'bad_answer', message: 'it closed the stream without an answer' }
