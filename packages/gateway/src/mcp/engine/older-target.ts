import { isObject, type JsonObject } from '../../wire/json.ts'
import { withResult } from '../edit.ts'
import { SERVER_INFO } from '../merge/meta.ts'
import { makeMessage, METHOD_NOT_FOUND, type RpcMessage } from '../message.ts'
import { REVISIONS } from '../revisions.ts'
import type { TargetFailure } from '../transports/transport.ts'

/** A target that knows only revisions with sessions, asked by a client of one without. */

/** Whether a refusal is one of a server that does not know requests without a session. */
export function wantsSession({ code, status, error }: TargetFailure): boolean {
  if (code !== 'refused' || status === undefined) return false
  const rpc = error?.value.error
  // Newer servers say with a code of their own what is wrong; older ones have but this one.
  return isObject(rpc) ? rpc.code === SERVER_ERROR : [400, 404, 405, 406].includes(status)
}

/** Whether a response says that nobody there has heard of discovery. */
export function isUnknownMethod({ value: { error } }: RpcMessage): boolean {
  return isObject(error) && error.code === METHOD_NOT_FOUND
}

/** What `initialize` told, as `server/discover` tells it. */
export function asDiscovery(request: RpcMessage, { capabilities, instructions, serverInfo }: JsonObject): RpcMessage {
  const result: JsonObject = {
    resultType: 'complete',
    supportedVersions: [...REVISIONS],
    capabilities: isObject(capabilities) ? capabilities : {},
    ...(typeof instructions === 'string' && { instructions }),
    ...UNCACHED,
    ...(isObject(serverInfo) && { _meta: { [SERVER_INFO]: serverInfo } }),
  }
  return makeMessage({ jsonrpc: '2.0', id: request.id, result })
}

/** A result with what newer revisions want in each. */
export function asNewerResult(response: RpcMessage, method: string): RpcMessage {
  if (!isObject(response.value.result)) return response
  const isCacheable = method.endsWith('/list') || method === 'resources/read'
  return withResult(response, { resultType: 'complete', ...(isCacheable && UNCACHED) })
}

const UNCACHED = { ttlMs: 0, cacheScope: 'private' }
const SERVER_ERROR = -32000
