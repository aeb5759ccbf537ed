import { isObject, type JsonObject, textAt } from '@portico/http/json'
import { SERVER_INFO } from '../merge/meta.ts'
import {
  INVALID_PARAMS,
  makeMessage,
  METHOD_NOT_FOUND,
  type RpcMessage,
  isKnownRevision,
  isSessionless,
  LATEST_WITH_SESSIONS,
  META,
  REVISIONS,
} from '../protocol.ts'
import type { AnswerSink, LinkCall } from '../transport.ts'

/** The items of a target that is no MCP server: the gateway answers MCP requests for it. */
export interface LocalServer {
  readonly info: { readonly name: string; readonly version: string }
  /** Absent when the target cannot have tools. */
  readonly tools?: readonly JsonObject[]
  readonly prompts?: readonly JsonObject[]
  readonly resources?: readonly JsonObject[]
}

/** Answers the requests that every MCP server supports: initialization, discovery and lists. */
export function answerLocally(request: RpcMessage, server: LocalServer): RpcMessage {
  switch (request.method) {
    case 'initialize':
      return respond(request, server, {
        protocolVersion: agreedVersion(textAt(paramsOf(request), 'protocolVersion') ?? ''),
        capabilities: capabilitiesOf(server),
        serverInfo: server.info,
      })
    case 'server/discover': {
      const capabilities = capabilitiesOf(server)
      return respond(request, server, { supportedVersions: [...REVISIONS], capabilities, ...UNCACHED })
    }
    case 'ping':
      return respond(request, server, {})
    case 'tools/list':
      return list(request, server, 'tools', server.tools)
    case 'prompts/list':
      return list(request, server, 'prompts', server.prompts)
    case 'resources/list':
      return list(request, server, 'resources', server.resources)
    case 'resources/templates/list':
      return list(request, server, 'resourceTemplates', [])
    default:
      return refuse(request, METHOD_NOT_FOUND, `Method not found: ${request.method}`)
  }
}

export function respond(request: RpcMessage, { info }: LocalServer, result: JsonObject): RpcMessage {
  const said = isModern(request) ? { resultType: 'complete', ...result, _meta: { [SERVER_INFO]: { ...info } } } : result
  return makeMessage({ jsonrpc: '2.0', id: request.id, result: said })
}

export function refuse(request: RpcMessage, code: number, message: string): RpcMessage {
  return makeMessage({ jsonrpc: '2.0', id: request.id, error: { code, message } })
}

export function paramsOf({ value }: RpcMessage): JsonObject {
  return isObject(value.params) ? value.params : {}
}

/** Passes a response to the sink, and closes it. */
export function say(response: RpcMessage, answer: AnswerSink): LinkCall {
  return soon(() => {
    answer.message(response, '')
    answer.closed()
  })
}

/** Runs `act` later, so that sinks are not called before `request` has returned. */
export function soon(act: () => void): LinkCall {
  let isWanted = true
  queueMicrotask(() => {
    if (isWanted) act()
  })
  return { cancel: () => (isWanted = false), resume() {} }
}

function list(request: RpcMessage, server: LocalServer, name: string, items: readonly JsonObject[] = []): RpcMessage {
  if (paramsOf(request).cursor !== undefined) return refuse(request, INVALID_PARAMS, 'Invalid cursor')
  return respond(request, server, { [name]: [...items], ...(isModern(request) && UNCACHED) })
}

function capabilitiesOf({ tools, prompts, resources }: LocalServer): JsonObject {
  return { ...(tools && { tools: {} }), ...(prompts && { prompts: {} }), ...(resources && { resources: {} }) }
}

function isModern(request: RpcMessage): boolean {
  const { _meta: meta } = paramsOf(request)
  return isObject(meta) && isSessionless(textAt(meta, META.version) ?? '')
}

function agreedVersion(asked: string): string {
  return isKnownRevision(asked) && !isSessionless(asked) ? asked : LATEST_WITH_SESSIONS
}

/** Lists depend on the caller, so they must not be cached for others. */
const UNCACHED = { ttlMs: 0, cacheScope: 'private' }
