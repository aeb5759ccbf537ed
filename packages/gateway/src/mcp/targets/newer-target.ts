import { isObject, type JsonObject, objectAt } from '@portico/http/json'
import { SUBSCRIPTION_ID } from '../conversation.ts'
import { withParams, withResult } from '../edit.ts'
import type { Hub } from '../hub.ts'
import { ASKING_METHODS, carriedAbilities } from '../questions.ts'
import { SERVER_INFO } from '../merge/meta.ts'
import {
  requestId,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  makeMessage,
  METHOD_NOT_FOUND,
  type RpcId,
  type RpcMessage,
  HEADER_MISMATCH,
  isKnownRevision,
  isSessionless,
  LATEST_WITH_SESSIONS,
  META,
  SESSIONLESS,
  UNSUPPORTED_VERSION,
} from '../protocol.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure, TargetLink } from '../transport.ts'
import { type AskedClient, passAnswer, ElicitationReplayCall } from './elicitation-replay-call.ts'

// Translation for targets that know only revisions without sessions, and clients of revisions with sessions.

/** Whether the response to `initialize` shows that the server does not know the method. */
export function knowsNoSessions(answer: RpcMessage | TargetFailure): boolean {
  const said = 'kind' in answer ? answer : answer.error
  const error = said?.value.error
  if (isObject(error)) return typeof error.code === 'number' && STRANGE.has(error.code)
  return !('kind' in answer) && answer.code === 'refused' && [400, 404, 405].includes(answer.status ?? 0)
}

/** Builds the `server/discover` request for the client that sent this `initialize`. */
export function discoveryFor(initialize: RpcMessage): RpcMessage {
  const params = { _meta: metaFor(initialize.value) }
  return makeMessage({ jsonrpc: '2.0', id: 'portico-discover', method: 'server/discover', params })
}

/** Converts a `server/discover` response to an `initialize` response; null when it is not valid. */
export function asInitialize(request: RpcMessage, discovered: RpcMessage | TargetFailure): RpcMessage | null {
  const told = 'kind' in discovered ? discovered.value.result : undefined
  if (!isObject(told) || !Array.isArray(told.supportedVersions) || !told.supportedVersions.includes(SESSIONLESS)) {
    return null
  }
  const asked = objectAt(request.value, 'params').protocolVersion
  const canStay = typeof asked === 'string' && isKnownRevision(asked) && !isSessionless(asked)
  const serverInfo = objectAt(told, '_meta')[SERVER_INFO]
  const result: JsonObject = {
    protocolVersion: canStay ? asked : LATEST_WITH_SESSIONS,
    capabilities: olderCapabilities(objectAt(told, 'capabilities')),
    serverInfo: isObject(serverInfo) ? serverInfo : { name: 'unknown', version: '' },
    ...(typeof told.instructions === 'string' && { instructions: told.instructions }),
  }
  return makeMessage({ jsonrpc: '2.0', id: request.id, result })
}

/** Removes the capabilities that need requests which the target's revision lacks, and the newer extensions. */
function olderCapabilities(capabilities: JsonObject): JsonObject {
  const kept = Object.entries(capabilities).filter(([name]) => name !== 'extensions' && name !== 'logging')
  return Object.fromEntries(
    kept.map(([name, value]) => {
      if (name !== 'resources' || !isObject(value)) return [name, value]
      return [name, Object.fromEntries(Object.entries(value).filter(([member]) => member !== 'subscribe'))]
    }),
  )
}

/** The link of a session to such a target: each request carries the client's metadata, and the stream is a subscription. */
export class NewerLink implements TargetLink {
  readonly session = ''
  readonly #link: TargetLink
  readonly #meta: JsonObject

  readonly #client: AskedClient

  /** `initialize` are the params of the client's request; `session` is the key of the client's session. */
  constructor(link: TargetLink, initialize: JsonObject, session: string, hub: Hub) {
    this.#link = link
    this.#meta = metaFor({ params: initialize })
    this.#client = { hub, session, abilities: carriedAbilities(initialize.capabilities) }
  }

  request(message: RpcMessage, caller: Caller, answer: AnswerSink): LinkCall {
    // These requests have no effect at a target without sessions.
    if (message.method === 'ping' || message.method === 'logging/setLevel') {
      answer.message(makeMessage({ jsonrpc: '2.0', id: message.id, result: {} }), '')
      answer.closed()
      return NOTHING
    }
    const signed = this.#signed(message)
    return this.#cancellable(requestId(message), answer, (older) => {
      if (!ASKING_METHODS.has(message.method)) return this.#link.request(signed, caller, older)
      return new ElicitationReplayCall(this.#client, this.#link, signed, caller, older).start()
    })
  }

  /** Sends nothing to the target, whose revision has no notifications from clients; cancellations and responses are handled here. */
  tell(message: RpcMessage, _caller: Caller, done: (failure: TargetFailure | null) => void): LinkCall {
    const { requestId } = objectAt(message.value, 'params')
    if (message.method !== 'notifications/cancelled') passAnswer(this.#client, message)
    else if (typeof requestId === 'string' || typeof requestId === 'number') {
      void this.#client.hub.send(this.#cancelAddress(requestId), '')
    }
    done(null)
    return NOTHING
  }

  listen(_lastEventId: string, caller: Caller, answer: AnswerSink): LinkCall {
    const listen = {
      jsonrpc: '2.0',
      id: 'portico-listen',
      method: 'subscriptions/listen',
      params: { notifications: LISTS },
    }
    return this.#link.request(this.#signed(makeMessage(listen)), caller, {
      opened: () => answer.opened?.(),
      message(said) {
        if (said.kind !== 'notification' || said.method === 'notifications/subscriptions/acknowledged') return true
        const { [SUBSCRIPTION_ID]: _, ...meta } = objectAt(objectAt(said.value, 'params'), '_meta')
        return answer.message(withParams(said, { _meta: Object.keys(meta).length > 0 ? meta : undefined }), '')
      },
      closed: () => answer.closed(),
      failed: (failure) => answer.failed(failure.code === 'refused' ? { ...failure, code: 'unsupported' } : failure),
    })
  }

  /** Does nothing: the target keeps no session. */
  end(): void {}

  /** Makes a request cancellable from any worker, by a cancellation notification of the client. */
  #cancellable(id: RpcId, answer: AnswerSink, start: (older: AnswerSink) => LinkCall): LinkCall {
    const unlisten = this.#client.hub.listen(this.#cancelAddress(id), () => {
      unlisten()
      call.cancel(GIVEN_UP)
      answer.failed({ code: 'broken', message: GIVEN_UP.message })
    })
    const call = start(olderAnswer(answer, unlisten))
    return {
      cancel(cause) {
        unlisten()
        call.cancel(cause)
      },
      resume: () => call.resume(),
    }
  }

  /** Returns an address in which the ids 1 and "1" differ. */
  #cancelAddress(id: RpcId): string {
    return `mcp-cancel:${this.#client.session}:${JSON.stringify(id)}`
  }

  #signed(message: RpcMessage): RpcMessage {
    const own = objectAt(objectAt(message.value, 'params'), '_meta')
    return withParams(message, { _meta: { ...own, ...this.#meta } })
  }
}

/** Returns a sink that converts responses for the client, without `raw`; `over` is called before the end. */
function olderAnswer(answer: AnswerSink, over: () => void): AnswerSink {
  return {
    opened: () => answer.opened?.(),
    message: (message, eventId) =>
      answer.message(message.kind === 'response' ? asOlderResult(message) : message, eventId),
    mark: (eventId, retryMs) => answer.mark?.(eventId, retryMs),
    closed() {
      over()
      answer.closed()
    },
    failed(failure) {
      over()
      answer.failed(failure)
    },
  }
}

function asOlderResult(response: RpcMessage): RpcMessage {
  const { result } = response.value
  if (!isObject(result) || result.resultType === undefined) return response
  if (result.resultType === 'complete') return withResult(response, { resultType: undefined })
  const message = `the target answered with ${JSON.stringify(result.resultType).slice(0, 64)}, which this revision does not know`
  return makeMessage({ jsonrpc: '2.0', id: response.id, error: { code: INTERNAL_ERROR, message } })
}

/** Returns the client's metadata, with the capabilities that servers may use. */
function metaFor(initialize: JsonObject): JsonObject {
  const { clientInfo = { name: 'unknown', version: '' }, capabilities } = objectAt(initialize, 'params')
  return {
    [META.version]: SESSIONLESS,
    [META.clientInfo]: clientInfo,
    [META.capabilities]: carriedAbilities(capabilities),
  }
}

const STRANGE = new Set([METHOD_NOT_FOUND, INVALID_REQUEST, INVALID_PARAMS, HEADER_MISMATCH, UNSUPPORTED_VERSION])
const LISTS = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
const GIVEN_UP = new Error('the client cancelled the request')
const NOTHING: LinkCall = { cancel() {}, resume() {} }
