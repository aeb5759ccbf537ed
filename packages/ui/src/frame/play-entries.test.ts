import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestSummary } from '@portico/gateway/admin-api'
import type { PlayTarget } from '../play/targets.ts'
import { toolsKey } from '../play/tools-key.ts'
import { findTool } from '../tools/find-tool.ts'
import { modelEntries, toolEntries } from './play-entries.ts'

const target = (name: string): PlayTarget => {
  const entry = { policies: [{ name: 'ai', configs: [{ modelAliases: { fast: 'x', 'gpt-*': 'y' } }] }] }
  return { route: { key: `k/${name}`, name, matches: [] }, entry } as unknown as PlayTarget
}
const model = (requestModel: string, route: string) => ({ llm: { requestModel }, mcp: null, route }) as RequestSummary
const tool = (name: string, route: string) =>
  ({ llm: null, mcp: { kind: 'tool', name }, route }) as unknown as RequestSummary

test('models are those that the config or requests name, by route', () => {
  const found = modelEntries([target('chat'), target('other')], [model('large', 'chat'), model('large', 'chat')])
  assert.deepEqual(
    found.map(({ action }) => action),
    [
      { kind: 'model', route: 'k/chat', model: 'fast' },
      { kind: 'model', route: 'k/chat', model: 'large' },
      { kind: 'model', route: 'k/other', model: 'fast' },
    ],
  )
})

test('tools are those that were listed or called, each once', () => {
  const lists = [
    [toolsKey('k/tools', '/mcp', ''), { tools: [{ name: 'files_read' }, { name: 'ping' }], hidden: [] }],
    [toolsKey('k/tools', '/mcp', 'x: y'), undefined],
    [toolsKey('k/gone', '/mcp', ''), { tools: [{ name: 'old' }], hidden: [] }],
  ] as const
  const calls = [tool('read', 'tools'), tool('ping', 'tools'), tool('write', 'tools'), tool('other', 'elsewhere')]
  assert.deepEqual(
    toolEntries([target('tools')], calls, lists).map(({ name }) => name),
    ['files_read', 'ping', 'write'],
  )
})

test('a tool is found by the name that clients or its server have for it, and another is not opened instead', () => {
  const tools = [{ name: 'files_read' }, { name: 'read_all' }, { name: 'ping' }]
  assert.deepEqual(
    [undefined, 'ping', 'read', 'gone'].map((name) => findTool(tools, name)?.name),
    ['files_read', 'ping', 'files_read', undefined],
  )
})
