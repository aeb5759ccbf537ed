import type { UpstreamMessage, WorldReply } from '../simulate/world.ts'

interface ServedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: unknown
  readonly result: string
}

interface RpcRequest {
  readonly id?: unknown
  readonly method?: string
  readonly params?: { readonly protocolVersion?: string; readonly name?: string }
}

/** The response of an MCP server without sessions that offers these tools. */
export function mcpReply(
  { method, body }: Pick<UpstreamMessage, 'method' | 'body'>,
  tools: readonly ServedTool[],
): Omit<WorldReply, 'delayMs' | 'fault'> {
  if (method !== 'POST') return plain(405)
  const message = parsed(body)
  if (message === null) return plain(400)
  if (message.id === undefined) return plain(202)
  const result = resultOf(message, tools)
  const answer = { jsonrpc: '2.0', id: message.id, ...(result ?? UNKNOWN_METHOD) }
  return {
    ...{ status: 200, headers: [['content-type', 'application/json']], trailers: null },
    body: Buffer.from(JSON.stringify(answer)),
  }
}

function resultOf({ method, params }: RpcRequest, tools: readonly ServedTool[]): object | null {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: params?.protocolVersion ?? '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'simulated', version: '1' },
        },
      }
    case 'ping':
      return { result: {} }
    case 'tools/list':
      return { result: { tools: tools.map(({ result: _result, ...tool }) => tool) } }
    case 'tools/call': {
      const tool = tools.find(({ name }) => name === params?.name)
      if (tool === undefined) return { error: { code: -32602, message: `Unknown tool: ${params?.name ?? ''}` } }
      return { result: { content: [{ type: 'text', text: tool.result }] } }
    }
    case undefined:
    default:
      return null
  }
}

function parsed(body: Buffer): RpcRequest | null {
  try {
    const message = JSON.parse(body.toString('utf8')) as RpcRequest | null
    return typeof message === 'object' ? message : null
  } catch {
    return null
  }
}

function plain(status: number): Omit<WorldReply, 'delayMs' | 'fault'> {
  return { status, headers: [], body: Buffer.alloc(0), trailers: null }
}

const UNKNOWN_METHOD = { error: { code: -32601, message: 'Method not found' } }
