import type { Random } from '../../../../http/src/http1/fuzz/random.ts'
import type { TargetRequest } from '../mcp/mcp-target.ts'

/** An MCP server with tools, prompts and resources; so many of a hundred answers are not what was asked for. */
export function answerAtRandom(random: Random, request: TargetRequest, badPercent: number): boolean {
  if (request.id !== undefined && random.chance(badPercent)) return answerBadly(random, request)
  const result = RESULTS[request.method]
  if (result === undefined || request.id === undefined) return false
  if (random.chance(70)) request.result(result)
  else {
    const events = request.events()
    events.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } })
    events.send({ jsonrpc: '2.0', id: request.id, result })
    events.end()
  }
  return true
}

function answerBadly(random: Random, request: TargetRequest): boolean {
  const { response, id } = request
  const answers: (() => void)[] = [
    () => void response.destroy(),
    () => void response.writeHead(500).end('no'),
    () => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":'),
    () => void response.writeHead(200).end(),
    () => void response.writeHead(404).end(),
    () => request.json('[]'),
    () => request.json('null'),
    () => request.json({ jsonrpc: '2.0', id }),
    () => request.json({ jsonrpc: '2.0', id: 'another', result: {} }),
    () => request.json({ jsonrpc: '2.0', id, result: null }),
    () => request.json({ jsonrpc: '2.0', id, result: { tools: 'none', prompts: [null], resources: [{}] } }),
    () => request.json({ jsonrpc: '2.0', id, result: { tools: [{ name: 7 }, {}, null, { name: 'echo' }] } }),
    () => request.json({ jsonrpc: '2.0', id, result: { nextCursor: '1', tools: [] } }),
    () => request.json({ jsonrpc: '2.0', id, error: null }),
    () => request.error(random.pick([-32601, -32022, -32602, 5]), 'no'),
    () => {
      const events = request.events()
      events.write('data: {"jsonrpc":"2.0"}\n\ndata: nothing\n\n')
      events.end()
    },
    () => {
      const events = request.events()
      events.send({ jsonrpc: '2.0', id: 9, method: 'sampling/createMessage', params: {} })
      events.send({ jsonrpc: '2.0', id, result: {} })
      events.end()
    },
  ]
  random.pick(answers)()
  return true
}

const RESULTS: Record<string, object> = {
  'tools/list': {
    tools: [
      { name: 'echo', inputSchema: { type: 'object' } },
      { name: 'add', description: 'adds', inputSchema: { type: 'object', properties: { a: { type: 'number' } } } },
    ],
  },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
  'prompts/list': { prompts: [{ name: 'p' }] },
  'prompts/get': { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }] },
  'resources/list': { resources: [{ uri: 'demo://x', name: 'x' }] },
  'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'demo://{id}', name: 't' }] },
  'resources/read': { contents: [{ uri: 'demo://x', text: 'x' }] },
  'completion/complete': { completion: { values: ['a'] } },
  ping: {},
  'server/discover': {
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    serverInfo: { name: 'scripted', version: '1' },
  },
}
