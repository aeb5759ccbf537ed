import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { McpRecord } from '../../records/mcp-record.ts'
import { mcpMessage, toolCall } from '../../testing/mcp/mcp-message.ts'
import { mcpJson, mcpText } from './access-log.ts'

test('a call of a tool shows method, target, tool, session and outcome', () => {
  assert.equal(
    mcpText(toolCall()),
    ' mcp.method.name=tools/call mcp.target=git mcp.resource.type=tool gen_ai.tool.name=commit mcp.session.id=f3a9' +
      ' mcp.protocol.version=2025-11-25 mcp.outcome=ok mcp.target.duration=20ms',
  )
})

test('an error shows its code as a number, a resource its URI', () => {
  const facts = toolCall({
    method: 'resources/read',
    item: { kind: 'resource', name: 'file:///a', target: 'files' },
    target: '',
    answeredAt: -1,
  })
  facts.fail('error', -32002, 'not found')
  assert.deepEqual(JSON.parse(`{${mcpJson(facts).slice(1)}}`), {
    'mcp.method.name': 'resources/read',
    'mcp.target': 'files',
    'mcp.resource.type': 'resource',
    'mcp.resource.uri': 'file:///a',
    'mcp.session.id': 'f3a9',
    'mcp.protocol.version': '2025-11-25',
    'mcp.outcome': 'error',
    'mcp.error.code': -32002,
    'mcp.error.message': 'not found',
  })
})

test('unknown fields are left out', () => {
  assert.equal(mcpText(new McpRecord()), '')
  assert.equal(mcpJson(new McpRecord()), '')
})

test('names can neither forge a field nor make a line long', () => {
  fc.assert(
    fc.property(mcpMessage, (facts) => {
      const text = mcpText(facts)
      // oxlint-disable-next-line no-control-regex
      assert.doesNotMatch(text, /[\0-\x1f\x7f-\x9f\u2028\u2029\u202e]/)
      const fields = JSON.parse(`{${mcpJson(facts).slice(1)}}`) as Record<string, unknown>
      const names = [...text.matchAll(/ ([^ =]+)=(?:"(?:[^"\\]|\\.)*"|[^ "]*)/g)].map((pair) => pair[1])
      assert.deepEqual(names, Object.keys(fields))
    }),
    { seed: 13, numRuns: 300 },
  )
  const item = { kind: 'tool', name: '"'.repeat(1e6), target: 'a' } as const
  assert.ok(mcpText(toolCall({ item, method: 'x'.repeat(1e6), errorMessage: 'y'.repeat(1e6) })).length < 2000)
})
