import type { Ir } from '../ir/resources.ts'
import type { SimulatedRequest } from '../simulate/outcome.ts'
import type { CarriedCredentials } from './credentials.ts'
import type { GivenClient, Request } from './schema.ts'

/** Converts a request of a test file to the request that a client sends. */
export function simulatedRequest(
  request: Request,
  given: GivenClient,
  { headers: ofClient, query }: CarriedCredentials,
  ir: Ir,
): SimulatedRequest {
  const message = messageOf(request)
  const url = /^(https?):\/\/([^/?#]*)([^#]*)/.exec(message.path)
  const [, urlScheme, urlHost, rest = ''] = url ?? []
  const path = url === null ? message.path : rest.startsWith('/') ? rest : `/${rest}`
  const urlPort = /:(\d+)$/.exec(urlHost ?? '')?.[1]
  const port = request.port ?? (urlPort === undefined ? null : Number(urlPort))
  const scheme = (urlScheme as 'http' | 'https' | undefined) ?? schemeOf(ir, port)
  const target = query.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${query.join('&')}`
  return {
    ...{ port, scheme, target, method: message.method, body: message.body, trailers: null, server: null },
    version: request.version ?? (request.grpc === undefined ? 'HTTP/1.1' : 'HTTP/2'),
    authority: request.host ?? urlHost ?? hostOf(ir, port),
    headers: [...withoutNames(message.headers, request.headers), ...ofClient, ...Object.entries(request.headers)],
    client: { address: given.address ?? '127.0.0.1', port: 40_000 },
  }
}

interface Message {
  method: string
  path: string
  headers: [name: string, value: string][]
  body: Buffer
}

function messageOf(request: Request): Message {
  const { body, chat, mcp, grpc } = request
  if (chat !== undefined) return chatMessage(chat, request)
  if (mcp !== undefined) return mcpMessage(mcp, request)
  if (grpc !== undefined) {
    const headers: [string, string][] = [
      ['content-type', 'application/grpc'],
      ['te', 'trailers'],
    ]
    return { method: 'POST', path: `/${grpc}`, headers, body: Buffer.alloc(5) }
  }
  const isText = typeof body === 'string' || body === undefined
  return {
    method: request.method ?? (body === undefined ? 'GET' : 'POST'),
    path: request.path ?? '/',
    headers: isText ? [] : [['content-type', 'application/json']],
    body: Buffer.from(isText ? (body ?? '') : JSON.stringify(body)),
  }
}

/** A call in the format of OpenAI's chat completions, which every model backend accepts. */
function chatMessage(
  text: string,
  { model = 'default', stream = false, path }: Pick<Request, 'model' | 'stream'> & { path?: string | undefined },
): Message {
  const body = {
    model,
    messages: [{ role: 'user', content: text }],
    ...(stream && { stream, stream_options: { include_usage: true } }),
  }
  return {
    ...{ method: 'POST', path: path ?? '/v1/chat/completions' },
    ...{ headers: [['content-type', 'application/json']], body: Buffer.from(JSON.stringify(body)) },
  }
}

/** A message of the revision without sessions, so that one request is a whole conversation. */
function mcpMessage(
  method: string,
  { params, path }: Pick<Request, 'params'> & { path?: string | undefined },
): Message {
  const own = typeof params === 'object' && params !== null && !Array.isArray(params) ? params : {}
  const message = { jsonrpc: '2.0', id: 1, method, params: { ...own, _meta: CLIENT } }
  const name = own['name'] ?? own['uri']
  const headers: [string, string][] = [
    ['content-type', 'application/json'],
    ['accept', 'application/json, text/event-stream'],
    ['mcp-protocol-version', REVISION],
    ['mcp-method', method],
  ]
  if (typeof name === 'string') headers.push(['mcp-name', name])
  return { method: 'POST', path: path ?? '/mcp', headers, body: Buffer.from(JSON.stringify(message)) }
}

const REVISION = '2026-07-28'
const CLIENT = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'porticoctl test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

function withoutNames(
  headers: readonly (readonly [name: string, value: string])[],
  given: Readonly<Record<string, string>>,
): (readonly [name: string, value: string])[] {
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()))
  return headers.filter(([name]) => !names.has(name))
}

/** TLS is used where the port speaks it. */
function schemeOf(ir: Ir, port: number | null): 'http' | 'https' {
  const bind = ir.binds.find((each) => port === null || each.port === port)
  const listener = ir.listeners.find((each) => each.bind === bind?.key)
  return listener?.protocol === 'HTTPS' || listener?.protocol === 'TLS' ? 'https' : 'http'
}

/** The hostname of the listener, when it is one name; clients of other listeners call `localhost`. */
function hostOf(ir: Ir, port: number | null): string {
  const bind = ir.binds.find((each) => port === null || each.port === port)
  const { hostname = '' } = ir.listeners.find((each) => each.bind === bind?.key) ?? {}
  return hostname === '' || hostname.startsWith('*') ? 'localhost' : hostname
}
