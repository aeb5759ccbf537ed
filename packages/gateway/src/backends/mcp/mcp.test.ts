import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { TestGateway, TestGatewayOptions } from '../../testing/gateway.ts'
import { addEcho, useMcpServer } from '../../testing/mcp/mcp-server.ts'
import { httpConfig, useGateway } from '../../testing/scene.ts'

interface TargetPort {
  port: number
}

function useMcpGateway(
  t: TestContext,
  targets: Readonly<Record<string, TargetPort>>,
  { options, ...more }: { options?: TestGatewayOptions; [key: string]: unknown } = {},
): Promise<TestGateway> {
  const list = Object.entries(targets).map(([name, { port }]) => ({ name, static: { host: '127.0.0.1', port } }))
  const routes = [
    { name: 'tools', matches: [{ path: { pathPrefix: '/mcp' } }], backends: [{ mcp: { targets: list, ...more } }] },
  ]
  return useGateway(t, httpConfig(routes), options)
}

async function useClient(t: TestContext, gateway: TestGateway): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { capabilities: { sampling: {}, elicitation: {}, roots: {} } },
  )
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${gateway.port()}/mcp`)))
  t.after(() => client.close())
  return client
}

describe('one target', () => {
  it('is used as if there were no gateway', async (t) => {
    const server = await useMcpServer(t)
    const gateway = await useMcpGateway(t, { one: server })
    const client = await useClient(t, gateway)
    assert.equal(client.getServerVersion()?.name, 'test')
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['echo'],
    )
    const result = await client.callTool({ name: 'echo', arguments: { text: 'hello' } })
    assert.deepEqual(result.content, [{ type: 'text', text: 'hello' }])
    assert.deepEqual(gateway.bugs, [])
  })

  it('that lost its sessions is begun with anew, and the client does not notice', async (t) => {
    const server = await useMcpServer(t)
    const gateway = await useMcpGateway(t, { one: server })
    const client = await useClient(t, gateway)
    server.forget()
    const result = await client.callTool({ name: 'echo', arguments: { text: 'again' } })
    assert.deepEqual(result.content, [{ type: 'text', text: 'again' }])
  })
})

describe('two targets', () => {
  it('are one server whose tools carry their names', async (t) => {
    const [first, second] = await Promise.all([useMcpServer(t), useMcpServer(t, { jsonAnswers: true, setUp: addEcho })])
    const gateway = await useMcpGateway(t, { first, second })
    const client = await useClient(t, gateway)
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['first_echo', 'second_echo'],
    )
    for (const name of ['first_echo', 'second_echo']) {
      const result = await client.callTool({ name, arguments: { text: name } })
      assert.deepEqual(result.content, [{ type: 'text', text: name }])
    }
    assert.deepEqual(gateway.bugs, [])
  })
})
