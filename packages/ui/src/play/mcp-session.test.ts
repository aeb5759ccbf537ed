import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TraceEvent } from '@portico/gateway/admin-api'
import type { SendCall } from '@portico/gateway/admin-send'
import { McpFailure, McpSession } from './mcp-session.ts'
import { begun, type SentRequest } from './send.ts'

describe('a session with MCP servers', () => {
  test('begins once, says which revision and session it is, and reads all pages', async () => {
    const { session, calls } = scene(({ method, params }) => {
      if (method === 'tools/list')
        return params?.['cursor'] === 'more'
          ? { result: { tools: [{ name: 'b' }, 7, { no: 'name' }] } }
          : { result: { tools: [{ name: 'a' }], nextCursor: 'more' } }
      return { result: { content: [{ type: 'text', text: 'ok' }] } }
    })
    const { tools } = await session.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['a', 'b'],
    )
    const { result } = await session.callTool('a', { x: 1 })
    assert.deepEqual([result.content.length, result.isError], [1, false])
    assert.deepEqual(
      calls.map(({ body }) => (JSON.parse(body ?? '{}') as { method: string }).method),
      ['initialize', 'notifications/initialized', 'tools/list', 'tools/list', 'tools/call'],
    )
    const headers = new Map(calls.at(-1)?.headers)
    assert.deepEqual(
      [headers.get('mcp-session-id'), headers.get('mcp-protocol-version'), headers.get('x-key')],
      ['s-1', '2025-06-18', 'k'],
    )
    await session.end()
    assert.equal(calls.at(-1)?.method, 'DELETE')
  })

  test('reads answers that come as a stream, whatever else is in it', async () => {
    const { session } = scene(({ id }) => {
      const noise = { jsonrpc: '2.0', method: 'notifications/message', params: {} }
      const answer = { jsonrpc: '2.0', id, result: { content: [], structuredContent: { a: 1 }, isError: true } }
      return {
        stream: [noise, answer].map((each) => `event: message\r\ndata: ${JSON.stringify(each)}\r\n\r\n`).join(''),
      }
    })
    const { result } = await session.callTool('a', {})
    assert.deepEqual([result.structuredContent, result.isError], [{ a: 1 }, true])
  })

  test('begins anew where the session is gone, but only once', async () => {
    let calls = 0
    const once = scene(() => (++calls === 1 ? { status: 404, text: 'gone' } : { result: { content: [] } }))
    await once.session.callTool('a', {})
    const always = scene(() => ({ status: 404, text: 'gone' }))
    await assert.rejects(always.session.callTool('a', {}), McpFailure)
  })

  test('tells refusals, errors and nonsense apart from results', async () => {
    for (const [answer, text] of [
      [{ status: 403, text: 'authorization denied\n' }, 'authorization denied'],
      [{ error: { code: -32602, message: 'Unknown tool: a' } }, '-32602: Unknown tool: a'],
      [{ text: 'no json' }, 'The MCP server did not answer the message'],
      [{ result: 7 }, 'The MCP server returned no result'],
    ] as const)
      await assert.rejects(scene(() => answer).session.callTool('a', {}), { message: text })
  })

  test('lists denied tools with the rules that deny them', async () => {
    const items = [
      { kind: 'tool', name: 'push', target: 'git', rules: [{ name: 'mcp.tool.name == "push"', mode: 'deny' }] },
      { kind: 'tool', name: 'tag', target: 'git', by: 'tools' },
    ]
    const event: TraceEvent = {
      eventStart: null,
      eventEnd: 1,
      severity: 'info',
      message: { type: 'mcpFiltered', items, kept: 0, hidden: 2 },
    }
    const { session } = scene(() => ({ result: { tools: [] }, trace: [event] }))
    assert.deepEqual((await session.listTools()).hidden, [
      { name: 'push', why: 'deny mcp.tool.name == "push"' },
      { name: 'tag', why: 'not in `tools` of the target' },
    ])
  })
})

interface Message {
  id?: number
  method: string
  params?: Record<string, unknown>
}

interface Answer {
  status?: number
  text?: string
  stream?: string
  result?: unknown
  error?: unknown
  trace?: readonly TraceEvent[]
}

function scene(answer: (message: Message) => Answer) {
  const calls: SendCall[] = []
  const send = (call: SendCall): Promise<SentRequest> => {
    calls.push(call)
    const message = JSON.parse(call.body ?? '{}') as Message
    const sent = (fields: Partial<SentRequest>): Promise<SentRequest> =>
      Promise.resolve({ ...begun(call), status: 200, ...fields })
    if (message.method === 'initialize')
      return sent({
        headers: [['mcp-session-id', 's-1']],
        text: JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { protocolVersion: '2025-06-18' } }),
      })
    if (message.id === undefined) return sent({ status: 202 })
    const { status = 200, text, stream, trace = [], ...rest } = answer(message)
    if (stream !== undefined) return sent({ headers: [['content-type', 'text/event-stream']], text: stream })
    return sent({ status, trace, text: text ?? JSON.stringify({ jsonrpc: '2.0', id: message.id, ...rest }) })
  }
  const session = new McpSession(send, { bind: 'b', listener: 'l', path: '/mcp', headers: [['x-key', 'k']] })
  return { session, calls }
}
