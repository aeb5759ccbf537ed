import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ResourceTemplate, type McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { request } from '../../../testing/client.ts'
import { begin } from '../../../testing/mcp/mcp-post.ts'
import { mcpConfig } from '../../../testing/mcp/mcp-scene.ts'
import { useMcpServer } from '../../../testing/mcp/mcp-server.ts'
import { type Script, useTarget } from '../../../testing/mcp/mcp-target.ts'
import type { JsonObject } from '@portico/http/json'
import { useGateway } from '../../../testing/scene.ts'

function offer(server: McpServer): void {
  server.registerTool('push', {}, () => ({ content: [] }))
  server.registerPrompt('draft', { argsSchema: { word: z.string() } }, () => ({ messages: [] }))
  server.registerResource('note', 'demo://notes/one', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'one' }] }))
  const template = new ResourceTemplate('demo://made/{id}', { list: undefined, complete: { id: () => ['1'] } })
  server.registerResource('made', template, {}, (uri) => ({ contents: [{ uri: uri.href, text: 'made' }] }))
}

/** A server with tasks that marks its streams, as servers do whose clients may come again. */
const marking: Script = (asked) => {
  const known: Record<string, unknown> = { taskId: 'hidden', uri: 'demo://notes/one' }
  for (const [member, value] of Object.entries(known)) {
    if (asked.params[member] === undefined) continue
    const events = asked.events()
    events.write('id: 1\ndata: \n\n')
    const isKnown = asked.params[member] === value
    const text = member === 'uri' ? 'Resource not found' : 'Task not found'
    const answer = isKnown ? { result: {} } : { error: { code: member === 'uri' ? -32002 : -32602, message: text } }
    events.send({ jsonrpc: '2.0', id: asked.id, ...answer }, '2')
    events.end()
    return true
  }
  return false
}

const DENIED = [
  'mcp.tool.name == "push"',
  'mcp.prompt.name == "draft"',
  'mcp.resource.name in ["demo://notes/one", "demo://made/{id}"]',
  'mcp.task.name == "hidden"',
]
const completion = (ref: JsonObject): JsonObject => ({ ref, argument: { name: 'word', value: '' } })

for (const targets of [['docs'], ['docs', 'more']]) {
  const prefix = targets.length > 1 ? ['docs_', 'docs+'] : ['', '']
  test(`a denied item answers as an unknown one, header by header: ${targets.length} targets`, async (t) => {
    const policies = { backend: { mcp: { authorization: { rules: DENIED.map((deny) => ({ deny })) } } } }
    const frontend = { requestId: {} }
    const plain = await useMcpServer(t, { setUp: offer })
    const streaming = await useTarget(t, marking)
    const cases: [string, { port: number }, (name: string) => [string, JsonObject], string, string][] = [
      ['tool', plain, (name) => ['tools/call', { name: prefix[0] + name }], 'push', 'pusk'],
      ['prompt', plain, (name) => ['prompts/get', { name: prefix[0] + name }], 'draft', 'drabt'],
      [
        'resource',
        plain,
        (uri) => ['resources/read', { uri: prefix[1] + uri }],
        'demo://notes/one',
        'demo://notes/two',
      ],
      [
        'subscription',
        plain,
        (uri) => ['resources/subscribe', { uri: prefix[1] + uri }],
        'demo://notes/one',
        'demo://notes/two',
      ],
      [
        'completion of a prompt',
        plain,
        (name) => ['completion/complete', completion({ type: 'ref/prompt', name: prefix[0] + name })],
        'draft',
        'drabt',
      ],
      [
        'completion of a template',
        plain,
        (uri) => ['completion/complete', completion({ type: 'ref/resource', uri: prefix[1] + uri })],
        'demo://made/{id}',
        'demo://make/{id}',
      ],
      [
        'resource of a stream',
        streaming,
        (uri) => ['resources/read', { uri: prefix[1] + uri }],
        'demo://notes/one',
        'demo://notes/two',
      ],
      ['task', streaming, (taskId) => ['tasks/get', { taskId: prefix[1] + taskId }], 'hidden', 'hiddem'],
    ]
    for (const [what, server, paramsOf, hidden, unknown] of cases) {
      const named = Object.fromEntries(targets.map((name) => [name, name === 'docs' ? server : plain]))
      const config = { ...mcpConfig(named, { policies }), frontend }
      const gateway = await useGateway(t, config)
      const session = await begin(gateway)
      const probe = async (name: string) => {
        const [method, params] = paramsOf(name)
        const { status, headers, text } = await request(gateway.port(), {
          method: 'POST',
          path: '/mcp',
          headers: {
            host: 'localhost',
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            'mcp-session-id': session,
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        })
        const { date: _, ...rest } = headers
        return { status, rest, text: text.replaceAll(name, '?') }
      }
      const denied = await probe(hidden)
      assert.match(denied.text, /"code":-32602,"message":"Unknown (tool|prompt|resource|task): /, what)
      assert.deepEqual(await probe(unknown), denied, what)
      assert.ok(!('x-portico-decision' in denied.rest), what)
    }
  })
}
