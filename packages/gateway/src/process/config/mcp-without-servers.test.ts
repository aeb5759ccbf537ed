import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { McpCaller } from '../../testing/mcp/mcp-caller.ts'
import { useTarget } from '../../testing/mcp/mcp-target.ts'
import { eventually, useProgram } from '../../testing/process.ts'
import { closedPort } from '../../testing/scene.ts'

const page = readFileSync(new URL('../../../../../docs/cluster.md', import.meta.url), 'utf8')
const [, example = assert.fail('docs/cluster.md has no example with a selector')] =
  /tools of every MCP server[^]*?```yaml\n([^]*?)```/.exec(page) ?? []

const gateway = (port: number): string => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: web, namespace: shop }
spec:
  gatewayClassName: portico
  listeners:
  - { name: http, port: ${port}, protocol: HTTP }
---
`

const endpoints = (port: number): string => `
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { namespace: shop, name: search-1, labels: { kubernetes.io/service-name: search } }
addressType: IPv4
ports: [{ name: mcp, port: ${port} }]
endpoints: [{ addresses: [127.0.0.1], conditions: { ready: true } }]
`

/** The example of the page without its Service, as if the Service were deleted. */
const withoutService = example
  .split('---\n')
  .filter((part) => !/^kind: Service$/m.test(part))
  .join('---\n')

async function start(t: TestContext, manifests: (port: number) => string) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const port = await closedPort()
  const write = (text: string): void => writeFileSync(join(folder, 'tools.yaml'), text)
  write(manifests(port))
  const program = await useProgram(t, { args: ['-f', folder] })
  return { program, write, port, caller: new McpCaller(program.port()) }
}

const METHODS = ['initialize', 'tools/list', 'tools/call', 'ping', 'subscriptions/listen', 'x/unknown']

describe('an MCP backend whose selector matches no Service', () => {
  test('answers 503 to every request, and no worker dies', async (t) => {
    const { program, caller } = await start(t, (port) => gateway(port) + withoutService)
    for (const method of METHODS) {
      const answers = [await caller.ask(method, { name: 'a' }), await caller.askModern(method, { name: 'a' })]
      for (const { status, text } of answers) {
        assert.equal(status, 503, method)
        assert.match(
          text,
          /^\{"jsonrpc":"2\.0","id":null,"error":\{"code":-32603,"message":"backend has no MCP servers/,
        )
      }
    }
    for (const headers of [{ accept: 'text/event-stream' }, { accept: 'text/event-stream', 'mcp-session-id': 'x' }]) {
      for (const path of ['/mcp', '/mcp/sse']) {
        const response = await fetch(`http://127.0.0.1:${program.port()}${path}`, { headers })
        assert.equal(response.status, 503)
        await response.arrayBuffer()
      }
    }
    await program.logged(/http\.status=503.*reason=NoHealthyBackend/)
    const metrics = await (await fetch(`${program.stats}/metrics`)).text()
    assert.match(metrics, /^portico_worker_restarts_total 0$/m)
    await program.logged(/GwBackend shop\/tools .*the selector matches no Service in namespace shop/)
  })

  test('serves the example of the page once a Service matches', async (t) => {
    const target = await useTarget(t, (request) => {
      if (request.method !== 'tools/list') return false
      request.result({ tools: [{ name: 'find', inputSchema: { type: 'object' } }] })
      return true
    })
    const { caller, write, port } = await start(t, (at) => gateway(at) + withoutService)
    assert.equal((await caller.ask('initialize')).status, 503)
    write(gateway(port) + example + endpoints(target.port))
    await eventually('the Service is used', async () => (await caller.ask('initialize', {})).status !== 503)
    const client = await caller.begin()
    assert.match((await client.ask('tools/list')).text, /"find"/)
  })
})
