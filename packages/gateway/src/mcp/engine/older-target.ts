import { isObject, type JsonObject } from '../../wire/json.ts'
import { withResult } from '../edit.ts'
import { SERVER_INFO } from '../merge/meta.ts'
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  makeMessage,
  METHOD_NOT_FOUND,
  type RpcId,
  type RpcMessage,
} from '../message.ts'
import { REVISIONS } from '../revisions.ts'
import type { TargetFailure } from '../transports/transport.ts'

/** A target that knows only revisions with sessions, asked by a client of one without. */

/** Whether a refusal is one of a server that does not know requests without a session. */
export function wantsSession({ code, status, error }: TargetFailure, method: string): boolean {
  if (code !== 'refused' || status === undefined) return false
  if (method === 'server/discover' && error !== undefined && isUnknownMethod(error)) return true
  const rpc = error?.value.error
  // Newer servers say with a code of their own what is wrong; older ones have but this one.
  return isObject(rpc) ? rpc.code === SERVER_ERROR : [400, 404, 405, 406].includes(status)
}

/** Whether a response to discovery says that nobody there has heard of it; some read its name as a bad parameter. */
export function isUnknownMethod({ value: { error } }: RpcMessage): boolean {
  return isObject(error) && typeof error.code === 'number' && STRANGE.has(error.code)
}

/** What a target gets that asks the client something: revisions without sessions have no way to ask back. */
export function answerInPlace({ id, method }: RpcMessage): RpcMessage {
  if (method === 'ping') return makeMessage({ jsonrpc: '2.0', id, result: {} })
  const message = `${method} cannot reach the client: it speaks a revision in which servers do not send requests`
  return makeMessage({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message } })
}

/** Whoever closes the stream of a request has given it up; older revisions want to be told. */
export function cancellation(requestId: RpcId): RpcMessage {
  const params = { requestId, reason: 'the client closed the stream' }
  return makeMessage({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
}

/** What `initialize` told, as `server/discover` tells it. */
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

/** Without what requests are for that newer revisions do not have: nobody could use it through here. */
function carried(capabilities: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(capabilities).filter(([name]) => name !== 'logging' && name !== 'tasks'))
}

/** A result with what newer revisions want in each. */
export function asNewerResult(response: RpcMessage, method: string): RpcMessage {
  if (!isObject(response.value.result)) return response
  const isCacheable = method.endsWith('/list') || method === 'resources/read'
  return withResult(response, { resultType: 'complete', ...(isCacheable && UNCACHED) })
}

const STRANGE = new Set([METHOD_NOT_FOUND, INVALID_REQUEST, INVALID_PARAMS])
const UNCACHED = { ttlMs: 0, cacheScope: 'private' }
const SERVER_ERROR = -32000
