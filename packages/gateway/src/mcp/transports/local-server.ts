import { isObject, type JsonObject, textAt } from '@portico/http/json'
import { SERVER_INFO } from '../merge/meta.ts'
import { INVALID_PARAMS, makeMessage, METHOD_NOT_FOUND, type RpcMessage } from '../message.ts'
import { isKnownRevision, isSessionless, LATEST_WITH_SESSIONS, META, REVISIONS } from '../revisions.ts'
import type { AnswerSink, LinkCall } from '../transport.ts'

/** What a target that knows nothing of MCP offers, so that the gateway can say in its place what a server would. */
export interface LocalServer {
  readonly info: { readonly name: string; readonly version: string }
  /** Absent where there can be none. */
  readonly tools?: readonly JsonObject[]
  readonly prompts?: readonly JsonObject[]
  readonly resources?: readonly JsonObject[]
}

/** What every server answers: who it is, and what it has. */
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

/** The whole answer to a request. */
export function say(response: RpcMessage, answer: AnswerSink): LinkCall {
  return soon(() => {
    answer.message(response, '')
    answer.closed()
  })
}

/** Never before the one who asked has what `request` returns. */
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

/** Who asks decides what is seen of a list. */
const UNCACHED = { ttlMs: 0, cacheScope: 'private' }
