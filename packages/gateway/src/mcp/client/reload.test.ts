import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { randomBytes } from 'node:crypto'
import { eventReader, McpCaller } from '../../testing/mcp/mcp-caller.ts'
import { mcpConfig, useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { type Script, useTarget } from '../../testing/mcp/mcp-target.ts'
import { useConfigFile, useProgram } from '../../testing/process.ts'
import { closedPort } from '../../testing/scene.ts'

const CHANGED = ['tools', 'prompts', 'resources'].map((list) => `notifications/${list}/list_changed`)
const yaml = (...args: Parameters<typeof mcpConfig>): string => JSON.stringify(mcpConfig(...args))
const rules = (expression: string) => ({ backend: { mcp: { authorization: { rules: [{ deny: expression }] } } } })

/** A target whose streams stay open, and say nothing. */
const streaming: Script = (request) => {
  if (request.verb !== 'GET' && request.method !== 'subscriptions/listen') return false
  const events = request.events()
  if (request.verb === 'GET') return true
  const params = {
    notifications: request.params['notifications'],
    _meta: { 'io.modelcontextprotocol/subscriptionId': request.id },
  }
  events.send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params })
  return true
}

interface Notice {
  method: string
  params?: { _meta?: Record<string, unknown> }
}

const noticesFrom = (next: ReturnType<typeof eventReader>, count: number) =>
  Array.fromAsync({ length: count }, async () => JSON.parse((await next())!.data) as Notice)

describe('a reload that changes what a client is offered is told', () => {
  for (const [what, hasStreams] of [
    ['', true],
    [', also where no target has a stream', false],
  ] as const) {
    it(`on the stream of a session, once for each change${what}`, async (t) => {
      const script = hasStreams ? streaming : () => {}
      const [one, two, three] = [await useTarget(t, script), await useTarget(t, script), await useTarget(t, script)]
      const { caller, gateway } = await useMcpScene(t, { one, two })
      const leaving = new AbortController()
      const session = await caller.begin()
      const next = eventReader(await session.listen({}, leaving.signal))
      // The same config, then another target, then other rules.
      await gateway.reload(yaml({ one, two }))
      await gateway.reload(yaml({ one, two, three }))
      assert.deepEqual(
        (await noticesFrom(next, 3)).map(({ method }) => method),
        CHANGED,
      )
      await gateway.reload(yaml({ one, two, three }, { policies: rules('mcp.tool.name == "x"') }))
      assert.deepEqual(
        (await noticesFrom(next, 3)).map(({ method }) => method),
        CHANGED,
      )
      leaving.abort()
    })
  }

  for (const [what, isMerged] of [
    ['one target', false],
    ['several targets', true],
  ] as const) {
    it(`to a subscription, as far as it asked for it (${what})`, async (t) => {
      const one = await useTarget(t, streaming)
      const targets: Record<string, { port: number }> = isMerged ? { one, two: await useTarget(t, streaming) } : { one }
      const { caller, gateway } = await useMcpScene(t, targets)
      const leaving = new AbortController()
      const response = await caller.openModern(
        'subscriptions/listen',
        { notifications: { toolsListChanged: true } },
        leaving.signal,
      )
      const next = eventReader(response)
      const [acknowledged] = await noticesFrom(next, 1)
      assert.equal(acknowledged!.method, 'notifications/subscriptions/acknowledged')
      await gateway.reload(yaml(targets, { policies: rules('mcp.tool.name == "x"') }))
      const [notice] = await noticesFrom(next, 1)
      assert.equal(notice!.method, 'notifications/tools/list_changed')
      assert.deepEqual(notice!.params!._meta, acknowledged!.params!._meta)
      leaving.abort()
    })
  }

  it('in every worker, once all of them have the new config', async (t) => {
    const [one, two, three] = [
      await useTarget(t, streaming),
      await useTarget(t, streaming),
      await useTarget(t, streaming),
    ]
    const port = await closedPort()
    const configOf = (targets: Record<string, { port: number }>) => {
      const mcp = {
        targets: Object.entries(targets).map(([name, at]) => ({ name, static: { host: '127.0.0.1', port: at.port } })),
      }
      return { config: { workers: 2 }, binds: [{ port, listeners: [{ routes: [{ backends: [{ mcp }] }] }] }] }
    }
    const file = useConfigFile(t, configOf({ one, two }))
    await useProgram(t, { args: ['-f', file.file], env: { SESSION_KEY: randomBytes(32).toString('hex') } })
    const leaving = new AbortController()
    const readers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const session = await new McpCaller(port).begin()
        return eventReader(await session.listen({}, leaving.signal))
      }),
    )
    file.replace(configOf({ one, two, three }))
    for (const next of readers) {
      assert.deepEqual(
        (await noticesFrom(next, 3)).map(({ method }) => method),
        CHANGED,
      )
    }
    leaving.abort()
  })

  it('and several servers together say that their lists can change', async (t) => {
    const { caller } = await useMcpScene(t, { one: await useTarget(t), two: await useTarget(t) })
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
    const { capabilities } = (await caller.ask('initialize', params)).messages[0]!.result!
    assert.deepEqual(capabilities, { tools: { listChanged: true } })
  })
})
