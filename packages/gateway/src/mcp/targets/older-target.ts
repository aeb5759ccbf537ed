import { randomUUID } from 'node:crypto'
import { isObject, type Json, type JsonObject, objectAt, textAt } from '@portico/http/json'
import { SUBSCRIPTION_ID } from '../conversation.ts'
import { withParams, withResult, editExactly } from '../edit.ts'
import { SERVER_INFO } from '../merge/meta.ts'
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  makeMessage,
  METHOD_NOT_FOUND,
  type RpcId,
  type RpcMessage,
  META,
  REVISIONS,
  UNSUPPORTED_VERSION,
} from '../protocol.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure, TargetLink } from '../transport.ts'

// Translation for targets that know only revisions with sessions, and clients of revisions without sessions.

/** Whether a refusal comes from a server that requires a session. */
export function wantsSession({ code, status, error }: TargetFailure, method: string): boolean {
  if (code !== 'refused' || status === undefined) return false
  if (method === 'server/discover' && error !== undefined && isUnknownMethod(error)) return true
  const rpc = error?.value.error
  // Newer servers have specific error codes for invalid requests; older ones have only this general one.
  if (isObject(rpc)) return rpc.code === SERVER_ERROR || rpc.code === UNSUPPORTED_VERSION
  return [400, 404, 405, 406].includes(status)
}

/** Whether a response says that the server does not speak the revision of the request. */
export function isUnsupportedVersion({ value: { error } }: RpcMessage): boolean {
  return isObject(error) && error.code === UNSUPPORTED_VERSION
}

/** Removes the members of `_meta` that older servers do not know: some refuse requests with unknown members. */
export function asOlderRequest(request: RpcMessage): RpcMessage {
  return editExactly(request, 'params', ({ _meta }) => {
    if (!isObject(_meta) || !OWN_META.some((name) => name in _meta)) return null
    const kept = Object.entries(_meta).filter(([name]) => !OWN_META.includes(name))
    return { _meta: kept.length === 0 ? undefined : Object.fromEntries(kept) }
  })
}

/** Whether the response to `server/discover` shows that the server does not know the method; some report invalid params. */
export function isUnknownMethod({ value: { error } }: RpcMessage): boolean {
  return isObject(error) && typeof error.code === 'number' && STRANGE.has(error.code)
}

/** Builds the gateway's response to a target's request that cannot be forwarded to the client. */
export function answerInPlace({ id, method }: RpcMessage, why: string): RpcMessage {
  if (method === 'ping') return makeMessage({ jsonrpc: '2.0', id, result: {} })
  const message = `${method} cannot reach the client: ${why}`
  return makeMessage({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message } })
}

export const NO_SERVER_REQUESTS = 'its protocol revision has no requests from servers'

/** Builds the cancellation that older revisions need when a client closes the stream of its request. */
export function cancellation(requestId: RpcId): RpcMessage {
  const params = { requestId, reason: 'the client closed the stream' }
  return makeMessage({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
}

/** Converts an `initialize` result to a `server/discover` response. */
export function asDiscovery(request: RpcMessage, { capabilities, instructions, serverInfo }: JsonObject): RpcMessage {
  const result: JsonObject = {
    resultType: 'complete',
    supportedVersions: [...REVISIONS],
    capabilities: isObject(capabilities) ? carried(capabilities) : {},
    ...(typeof instructions === 'string' && { instructions }),
    ...UNCACHED,
    ...(isObject(serverInfo) && { _meta: { [SERVER_INFO]: serverInfo } }),
  }
  return makeMessage({ jsonrpc: '2.0', id: request.id, result })
}

/** Removes the capabilities that need requests which newer revisions lack. */
function carried(capabilities: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(capabilities).filter(([name]) => name !== 'logging' && name !== 'tasks'))
}

/** Adds the members that newer revisions require in every result. */
export function asNewerResult(response: RpcMessage, method: string): RpcMessage {
  if (!isObject(response.value.result)) return response
  const isCacheable = method.endsWith('/list') || method === 'resources/read'
  return withResult(response, { resultType: 'complete', ...(isCacheable && UNCACHED) })
}

/**
 * Serves `subscriptions/listen` at a target with sessions: forwards the requested notifications of the target's stream.
 * When the target has no such stream, the subscription stays open without messages.
 */
export function listenToOlder(link: TargetLink, request: RpcMessage, caller: Caller, answer: AnswerSink): LinkCall {
  const wanted = objectAt(objectAt(request.value, 'params'), 'notifications')
  const uris = Array.isArray(wanted.resourceSubscriptions) ? wanted.resourceSubscriptions.filter(isText) : []
  answer.opened?.()
  answer.message(tagged(acknowledgement(wanted, uris), request), '')
  for (const [index, uri] of uris.entries()) subscribe(link, caller, uri, index)
  const heard: AnswerSink = {
    message(said) {
      if (said.kind === 'request') return answer.message(said, '')
      if (said.kind !== 'notification' || !isWanted(said, wanted, uris)) return true
      return answer.message(tagged(said, request), '')
    },
    closed: () => answer.closed(),
    failed(failure) {
      if (failure.code !== 'unsupported') answer.failed(failure)
    },
  }
  return hasSharedStream(link) ? link.attend(null, caller, heard, () => {}) : link.listen('', caller, heard)
}

/** Whether the session has a stream of messages outside of requests, which all clients of a caller share. */
export function hasSharedStream(link: TargetLink): link is TargetLink & Required<Pick<TargetLink, 'attend'>> {
  return link.attend !== undefined && link.session !== ''
}

function isText(value: Json): value is string {
  return typeof value === 'string'
}

/** Subscribes to one resource, as older revisions require; a refusal is ignored. */
function subscribe(link: TargetLink, caller: Caller, uri: string, index: number): void {
  const params = { uri }
  const message = makeMessage({
    jsonrpc: '2.0',
    id: `portico-subscribe-${index}-${randomUUID()}`,
    method: 'resources/subscribe',
    params,
  })
  link.request(message, caller, { message: () => true, closed() {}, failed() {} })
}

function acknowledgement(wanted: JsonObject, uris: readonly string[]): RpcMessage {
  const notifications: JsonObject = {}
  for (const flag of Object.values(FLAGS)) if (wanted[flag] === true) notifications[flag] = true
  if (uris.length > 0) notifications.resourceSubscriptions = [...uris]
  const method = 'notifications/subscriptions/acknowledged'
  return makeMessage({ jsonrpc: '2.0', method, params: { notifications } })
}

function isWanted({ method, value }: RpcMessage, wanted: JsonObject, uris: readonly string[]): boolean {
  if (method === 'notifications/resources/updated') return uris.includes(textAt(objectAt(value, 'params'), 'uri') ?? '')
  return Object.hasOwn(FLAGS, method) && wanted[FLAGS[method] ?? ''] === true
}

/** Adds the subscription id to a message. */
function tagged(message: RpcMessage, request: RpcMessage): RpcMessage {
  const meta = objectAt(objectAt(message.value, 'params'), '_meta')
  return withParams(message, { _meta: { ...meta, [SUBSCRIPTION_ID]: request.id } })
}

const FLAGS: Readonly<Record<string, string>> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
}

const STRANGE = new Set([METHOD_NOT_FOUND, INVALID_REQUEST, INVALID_PARAMS, UNSUPPORTED_VERSION])
const OWN_META: readonly string[] = Object.values(META)
const UNCACHED = { ttlMs: 0, cacheScope: 'private' }
const SERVER_ERROR = -32000
