import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { useTarget } from '../../testing/mcp/mcp-target.ts'

const resources = ['file:///open', 'file:///secret'].map((uri) => ({ uri, name: uri }))

for (const [count, prefix] of [
  ['one target', ''],
  ['two targets', 'one+'],
] as const) {
  test(`a resource that rules hide is not in its directory either: ${count}`, async (t) => {
    const target = await useTarget(t, (request) =>
      request.method === 'resources/directory/read' ? (request.result({ resources, more: 1.5 }), true) : false,
    )
    const backend = { mcp: { authorization: { rules: [{ deny: 'mcp.resource.name == "file:///secret"' }] } } }
    const targets = { one: target, ...(prefix !== '' && { two: await useTarget(t) }) }
    const { caller } = await useMcpScene(t, targets, { policies: { backend } })
    const answer = await (await caller.begin()).ask('resources/directory/read', { uri: `${prefix}file:///` })
    assert.deepEqual(answer.messages[0]?.result, {
      resources: [{ uri: `${prefix}file:///open`, name: 'file:///open' }],
      more: 1.5,
    })
  })
}
