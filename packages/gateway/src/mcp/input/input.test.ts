import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { addAsking } from '../../testing/mcp/asking-server.ts'
import { useFleet } from '../../testing/workers/fleet.ts'
import { mcpConfig, useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { useMcpServer } from '../../testing/mcp/mcp-server.ts'
import { httpConfig, useGateway } from '../../testing/scene.ts'
import { useSdkServer } from '../transports/sse/test-server.ts'

async function useModernClient(t: TestContext, port: number, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client(
    { name: 'modern', version: '1' },
    {
      capabilities: { roots: {}, sampling: {}, elicitation: {} },
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    },
  )
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///home' }] }))
  client.setRequestHandler('elicitation/create', ({ params }) => ({
    action: 'accept',
    content: { name: `answer to ${params.message}` },
  }))
  client.setRequestHandler('sampling/createMessage', () => ({
    role: 'assistant',
    content: { type: 'text', text: 'Paris' },
    model: 'test',
  }))
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
  t.after(() => client.close())
  return client
}

const said = (result: { content: unknown }): unknown =>
  JSON.parse((result.content as { text: string }[])[0]!.text) as unknown

describe('a server with sessions asks a client without', () => {
  for (const names of [['one'], ['one', 'two']]) {
    it(`with ${names.length} targets: elicitation, sampling, roots, in tools, prompts and resources`, async (t) => {
      const servers = await Promise.all(names.map(() => useMcpServer(t, { setUp: addAsking })))
      const { gateway } = await useMcpScene(t, Object.fromEntries(names.map((name, at) => [name, servers[at]!])))
      const client = await useModernClient(t, gateway.port())
      const prefix = names.length === 1 ? '' : 'two_'
      const call = async (name: string, args = {}) =>
        said(await client.callTool({ name: `${prefix}${name}`, arguments: args }))
      assert.deepEqual(await call('elicit', { message: 'who?' }), {
        action: 'accept',
        content: { name: 'answer to who?' },
      })
      for (let round = 0; round < 2; round += 1) {
        assert.deepEqual(await call('elicit_aside'), { action: 'accept', content: { name: 'answer to aside' } })
      }
      assert.deepEqual(await call('sample'), { type: 'text', text: 'Paris' })
      assert.deepEqual(await call('roots'), [{ uri: 'file:///home' }])
      assert.deepEqual(await call('both'), ['answer to one', 'answer to two', 'answer to three'])
      const { messages } = await client.getPrompt({ name: `${prefix}greet` })
      assert.deepEqual(messages[0]?.content, { type: 'text', text: 'file:///home' })
      const uri = names.length === 1 ? 'file:///note' : 'two+file:///note'
      assert.deepEqual((await client.readResource({ uri })).contents, [{ uri, text: 'file:///home' }])
      assert.deepEqual(gateway.bugs, [])
    })
  }

  const program = new URL('../../testing/mcp/asking-program.ts', import.meta.url).pathname
  for (const transport of ['stdio', 'SSE']) {
    it(`by ${transport}, where everything is said on one stream`, async (t) => {
      const target =
        transport === 'stdio'
          ? { stdio: { cmd: process.execPath, args: [program] } }
          : { static: { host: '127.0.0.1', port: (await useSdkServer(t, addAsking)).port, protocol: 'SSE' } }
      const gateway = await useGateway(
        t,
        httpConfig([{ backends: [{ mcp: { targets: [{ name: 'one', ...target }] } }] }]),
      )
      const client = await useModernClient(t, gateway.port())
      const call = async (name: string) => said(await client.callTool({ name, arguments: { message: 'who?' } }))
      assert.deepEqual(await call('elicit'), { action: 'accept', content: { name: 'answer to who?' } })
      assert.deepEqual(await call('elicit_aside'), { action: 'accept', content: { name: 'answer to aside' } })
      assert.deepEqual(await call('both'), ['answer to one', 'answer to two', 'answer to three'])
      assert.deepEqual(gateway.bugs, [])
    })
  }

  it('whichever worker gets the answers', async (t) => {
    const server = await useMcpServer(t, { setUp: addAsking })
    const fleet = await useFleet(t, { workers: 2 })
    await fleet.apply(mcpConfig({ one: server }))
    // Each request has a connection of its own, and a worker that takes it.
    const client = await useModernClient(t, fleet.port(), { connection: 'close' })
    for (let round = 0; round < 8; round += 1) {
      const [name, expected] = round % 2 === 0 ? (['elicit_aside', 'aside'] as const) : (['elicit', 'who?'] as const)
      const result = said(await client.callTool({ name, arguments: { message: 'who?' } }))
      assert.deepEqual(result, { action: 'accept', content: { name: `answer to ${expected}` } })
    }
    assert.equal(server.sessions(), 1)
    assert.equal(fleet.logged(), '')
  })
})
