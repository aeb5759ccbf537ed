import type { OpenApiTools } from '../../../formats/openapi/operation.ts'
import { isObject, textAt, type JsonObject } from '../../../wire/json.ts'
import { SERVER_INFO } from '../../merge/meta.ts'
import { INVALID_PARAMS, makeMessage, METHOD_NOT_FOUND, type RpcMessage } from '../../message.ts'
import { isKnownRevision, isSessionless, LATEST_WITH_SESSIONS, META, REVISIONS } from '../../revisions.ts'

/** An API knows nothing of MCP, so what a server would say of itself is said in its place. */
export function answerLocally(request: RpcMessage, tools: OpenApiTools): RpcMessage {
  const params = paramsOf(request)
  switch (request.method) {
    case 'initialize':
      return respond(request, tools, {
        protocolVersion: agreedVersion(textAt(params, 'protocolVersion') ?? ''),
        capabilities: { tools: {} },
        serverInfo: serverInfo(tools),
      })
    case 'server/discover':
      return respond(request, tools, { supportedVersions: [...REVISIONS], capabilities: { tools: {} }, ...UNCACHED })
    case 'ping':
      return respond(request, tools, {})
    case 'tools/list':
      if (params.cursor !== undefined) return refuse(request, INVALID_PARAMS, 'Invalid cursor')
      // Plain data, but of a type of its own.
      return list(request, tools, { tools: tools.operations.map(({ tool }): JsonObject => ({ ...tool })) })
    case 'prompts/list':
      return list(request, tools, { prompts: [] })
    case 'resources/list':
      return list(request, tools, { resources: [] })
    case 'resources/templates/list':
      return list(request, tools, { resourceTemplates: [] })
    default:
      return refuse(request, METHOD_NOT_FOUND, `Method not found: ${request.method}`)
  }
}

export function respond(request: RpcMessage, tools: OpenApiTools, result: JsonObject): RpcMessage {
  const said = isModern(request)
    ? { resultType: 'complete', ...result, _meta: { [SERVER_INFO]: serverInfo(tools) } }
    : result
  return makeMessage({ jsonrpc: '2.0', id: request.id, result: said })
}

export function refuse(request: RpcMessage, code: number, message: string): RpcMessage {
  return makeMessage({ jsonrpc: '2.0', id: request.id, error: { code, message } })
}

export function paramsOf({ value }: RpcMessage): JsonObject {
  return isObject(value.params) ? value.params : {}
}

function list(request: RpcMessage, tools: OpenApiTools, result: JsonObject): RpcMessage {
  return respond(request, tools, isModern(request) ? { ...result, ...UNCACHED } : result)
}

function isModern(request: RpcMessage): boolean {
  const { _meta: meta } = paramsOf(request)
  return isObject(meta) && isSessionless(textAt(meta, META.version) ?? '')
}

function agreedVersion(asked: string): string {
  return isKnownRevision(asked) && !isSessionless(asked) ? asked : LATEST_WITH_SESSIONS
}

function serverInfo({ title, version }: OpenApiTools): JsonObject {
  return { name: title, version }
}

/** Who asks decides what is seen of a list. */
const UNCACHED = { ttlMs: 0, cacheScope: 'private' }
