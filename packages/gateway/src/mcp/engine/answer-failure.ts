import { HeaderBlock } from '@portico/http'
import { INTERNAL_ERROR, rpcError, type RpcMessage, SESSION_NOT_FOUND } from '../protocol.ts'
import { withId } from '../edit.ts'
import { recordedFailure, type TargetFailure } from '../transport.ts'
import type { Exchange } from './exchange.ts'
import type { Target } from '../targets/target.ts'

/**
 * Responds with the failure of a target: a JSON-RPC error with status 200, in every revision. Clients with sessions treat
 * an HTTP error as the end of the session, clients without sessions drop its text, and the HTTP errors of the protocol
 * are about invalid requests only.
 */
export function answerFailure(exchange: Exchange, request: RpcMessage, target: Target, failure: TargetFailure): void {
  if (failure.code === 'refused') sayRefused(exchange, request, target, failure)
  else sayUnanswered(exchange, request, target, failure)
  exchange.finish()
}

/** Forwards an error that the target sent, including 401 and 403 of a single target. */
function sayRefused(exchange: Exchange, request: RpcMessage, target: Target, failure: TargetFailure): void {
  const { record, answer, endpoint, requestMeta } = exchange
  const { message, status = 502, headers = new HeaderBlock(), body = NOTHING } = failure
  const error = failure.error && asAnswerTo(request, failure.error)
  const retryAfter = headers.get('retry-after')
  const wait =
    retryAfter === null ? '' : `; retry after ${retryAfter.slice(0, MAX_SHOWN)}${/^\d+$/.test(retryAfter) ? ' s' : ''}`
  const text = `target ${target.name}: ${message}${wait}`
  if (failure.reason !== undefined) exchange.rx.reason = failure.reason
  const canSayByHttp = !answer.hasBegun && !answer.isElsewhere
  if (error !== undefined) exchange.note(error, target.name)
  else record.fail('error', INTERNAL_ERROR, text, recordedFailure(target.name, failure))
  exchange.report()
  if (canSayByHttp && !endpoint.namer.isMerged && (status === 401 || status === 403)) {
    const bytes = error?.bytes ?? body
    return answer.whole(status, headers.get('content-type') ?? '', bytes, passedOn(headers))
  }
  const said = error ?? rpcError(request.id, INTERNAL_ERROR, text)
  // In revisions without sessions, errors about the request also have an HTTP status.
  const isAboutRequest = error !== undefined && requestMeta !== null && (status === 400 || status === 404)
  const shown = isAboutRequest ? status : 200
  if (retryAfter === null || !canSayByHttp) return answer.respond(said, '', shown)
  answer.whole(shown, 'application/json', said.bytes, HeaderBlock.of([['retry-after', retryAfter]]))
}

function sayUnanswered(exchange: Exchange, request: RpcMessage, target: Target, failure: TargetFailure): void {
  const { endpoint, record, answer, rx, session, requestMeta } = exchange
  const { code, message } = failure
  const text = `target ${target.name}: ${message}`
  record.fail('unavailable', INTERNAL_ERROR, text, recordedFailure(target.name, failure))
  rx.error ??= text
  rx.reason = 'UpstreamFailure'
  exchange.report()
  // A client with a session of a single target is told to begin a new session; with several targets, the others go on.
  const canBeginAnew = !session.isPassing && requestMeta === null && !endpoint.namer.isMerged
  if (code === 'session_lost' && canBeginAnew) {
    return answer.respond(rpcError(request.id, SESSION_NOT_FOUND, 'Session not found'), '', 404)
  }
  answer.respond(rpcError(request.id, INTERNAL_ERROR, text), '')
}

/** Returns the error with the id of the request, because it may be the response to an `initialize` for this request. */
function asAnswerTo({ id }: RpcMessage, error: RpcMessage): RpcMessage {
  return id === null || error.id === id ? error : withId(error, id)
}

/** Returns the headers of a refusal that clients need: how to authenticate, and when to retry. */
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
