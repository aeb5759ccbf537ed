import { HeaderBlock } from '@portico/http'
import { INTERNAL_ERROR, rpcError, type RpcMessage } from '../message.ts'
import { withId } from '../edit.ts'
import { SESSION_NOT_FOUND } from '../revisions.ts'
import type { TargetFailure } from '../transport.ts'
import type { Exchange } from './exchange.ts'
import type { Target } from '../targets/target.ts'

/**
 * Says why a target did not answer: a JSON-RPC error in a 200, in every revision. Clients with sessions take an HTTP
 * error for the end of all, those without lose what it says, and HTTP errors of the protocol are about the request alone.
 */
export function answerFailure(exchange: Exchange, request: RpcMessage, target: Target, failure: TargetFailure): void {
  if (failure.code === 'refused') sayRefused(exchange, request, target, failure)
  else sayUnanswered(exchange, request, target, failure)
  exchange.finish()
}

/** What a target says for itself goes on, also about who may ask it. */
function sayRefused(exchange: Exchange, request: RpcMessage, target: Target, failure: TargetFailure): void {
  const { facts, answer, endpoint, requestMeta } = exchange
  const { message, status = 502, headers = new HeaderBlock(), body = NOTHING } = failure
  const error = failure.error && asAnswerTo(request, failure.error)
  const retryAfter = headers.get('retry-after')
  const wait =
    retryAfter === null ? '' : `; retry after ${retryAfter.slice(0, MAX_SHOWN)}${/^\d+$/.test(retryAfter) ? ' s' : ''}`
  const text = `target ${target.name}: ${message}${wait}`
  if (failure.reason !== undefined) exchange.rx.reason = failure.reason
  const canSayByHttp = !answer.hasBegun && !answer.isElsewhere
  if (error !== undefined) exchange.note(error)
  else facts.fail('error', INTERNAL_ERROR, text)
  exchange.report()
  if (canSayByHttp && !endpoint.namer.isMerged && (status === 401 || status === 403)) {
    const bytes = error?.bytes ?? body
    return answer.whole(status, headers.get('content-type') ?? '', bytes, passedOn(headers))
  }
  const said = error ?? rpcError(request.id, INTERNAL_ERROR, text)
  // What is wrong with a request of the revision without sessions is told by the status too.
  const isAboutRequest = error !== undefined && requestMeta !== null && (status === 400 || status === 404)
  const shown = isAboutRequest ? status : 200
  if (retryAfter === null || !canSayByHttp) return answer.respond(said, '', shown)
  answer.whole(shown, 'application/json', said.bytes, HeaderBlock.of([['retry-after', retryAfter]]))
}

function sayUnanswered(exchange: Exchange, request: RpcMessage, target: Target, failure: TargetFailure): void {
  const { endpoint, facts, answer, rx, session, requestMeta } = exchange
  const { code, message } = failure
  const text = `target ${target.name}: ${message}`
  facts.fail('unavailable', INTERNAL_ERROR, text)
  rx.error ??= text
  rx.reason = 'UpstreamFailure'
  exchange.report()
  // Only who has a session can begin it anew, and that would end those of other targets.
  const canBeginAnew = !session.isPassing && requestMeta === null && !endpoint.namer.isMerged
  if (code === 'session_lost' && canBeginAnew) {
    return answer.respond(rpcError(request.id, SESSION_NOT_FOUND, 'Session not found'), '', 404)
  }
  answer.respond(rpcError(request.id, INTERNAL_ERROR, text), '')
}

/** The error may be about an attempt to begin a session for this request. */
function asAnswerTo({ id }: RpcMessage, error: RpcMessage): RpcMessage {
  return id === null || error.id === id ? error : withId(error, id)
}

/** What a client needs of a refusal: how to authenticate, and when to come again. */
export function passedOn(headers: HeaderBlock): HeaderBlock {
  const kept = new HeaderBlock()
  for (const name of ['www-authenticate', 'retry-after']) {
    const value = headers.get(name)
    if (value !== null) kept.set(name, value)
  }
  return kept
}

const NOTHING = Buffer.alloc(0)
const MAX_SHOWN = 64
