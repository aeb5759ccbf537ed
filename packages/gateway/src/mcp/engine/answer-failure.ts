import { HeaderBlock } from '../../net/header-block.ts'
import { rpcError } from '../client/errors.ts'
import { INTERNAL_ERROR, type RpcMessage } from '../message.ts'
import { SESSION_NOT_FOUND } from '../revisions.ts'
import type { TargetFailure } from '../transports/transport.ts'
import type { Exchange } from './exchange.ts'
import type { Target } from './target.ts'

/** Says why a target did not answer. */
export function answerFailure(exchange: Exchange, request: RpcMessage, target: Target, failure: TargetFailure): void {
  if (failure.code === 'refused') sayRefused(exchange, request, target, failure)
  else sayUnanswered(exchange, request, target, failure)
  exchange.finish()
}

/** What a target says for itself goes on, also about who may ask it. */
function sayRefused(exchange: Exchange, request: RpcMessage, target: Target, failure: TargetFailure): void {
  const { facts, answer, endpoint } = exchange
  const { message, status, headers, body, error } = failure
  if (error !== undefined) {
    exchange.note(error)
    return answer.respond(error, '', status)
  }
  const text = `target ${target.name}: ${message}`
  facts.fail('error', INTERNAL_ERROR, text)
  exchange.report()
  const mustBeRpc = endpoint.namer.isMerged || answer.hasBegun
  if (mustBeRpc) return answer.respond(rpcError(request.id, INTERNAL_ERROR, text), '', 502)
  answer.whole(status!, headers!.get('content-type') ?? '', body!, passedOn(headers!))
}

function sayUnanswered(exchange: Exchange, request: RpcMessage, target: Target, failure: TargetFailure): void {
  const { facts, answer, rx, session, requestMeta } = exchange
  const { code, message } = failure
  const text = `target ${target.name}: ${message}`
  facts.fail('unavailable', INTERNAL_ERROR, text)
  rx.error ??= text
  rx.reason = 'UpstreamFailure'
  exchange.report()
  // Only who has a session can begin it anew.
  if (code === 'session_lost' && !session.isPassing && requestMeta === null) {
    return answer.respond(rpcError(request.id, SESSION_NOT_FOUND, 'Session not found'), '', 404)
  }
  answer.respond(rpcError(request.id, INTERNAL_ERROR, text), '', code === 'unavailable' ? 503 : 502)
}

/** What a client needs of a refusal: how to authenticate, and when to come again. */
function passedOn(headers: HeaderBlock): HeaderBlock {
  const kept = new HeaderBlock()
  for (const name of ['www-authenticate', 'retry-after']) {
    const value = headers.get(name)
    if (value !== null) kept.set(name, value)
  }
  return kept
}
