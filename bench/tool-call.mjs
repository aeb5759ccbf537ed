// An MCP tool call, as clients make it, and the response of a server of the official SDK.

export const MCP_PATH = '/mcp'
export const REVISION = '2025-11-25'

const WORDS = 'the quick brown fox jumps over the lazy dog '.repeat(3)

export const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } },
})

export const INITIALIZED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })

export function toolCall(id) {
  const params = { name: 'echo', arguments: { message: WORDS } }
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })
}

/** The response of the origin to a message; null for a notification. */
export function answerTo(message) {
  if (message.id === undefined) return null
  const result = RESULTS[message.method]?.(message.params) ?? {}
  return JSON.stringify({ jsonrpc: '2.0', id: message.id, result })
}

const RESULTS = {
  initialize: () => ({
    protocolVersion: REVISION,
    capabilities: { tools: {} },
    serverInfo: { name: 'origin', version: '1.0.0' },
  }),
  'tools/list': () => ({
    tools: [{ name: 'echo', description: 'Echoes.', inputSchema: { type: 'object' } }],
  }),
  'tools/call': (params) => ({ content: [{ type: 'text', text: params.arguments.message }] }),
}
