import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { httpConfig, useGateway } from '../../testing/scene.ts'

/** Takes requests and never answers. */
async function useSilentServer(t: TestContext): Promise<{ port: number; left: Promise<void> }> {
  const left = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    request.resume()
    response.on('close', () => left.resolve())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, left: left.promise }
}

async function ask(port: number, path: string, body: object): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

describe('requestTimeout of a backend that is made of several', () => {
  it('ends the wait for a provider of models', async (t) => {
    const { port, left } = await useSilentServer(t)
    const ai = { provider: { openai: {}, host: '127.0.0.1', port } }
    const policies = { http: { requestTimeout: '100ms' } }
    const gateway = await useGateway(t, httpConfig([{ backends: [{ ai, policies }] }]))
    const messages = [{ role: 'user', content: 'hello' }]
    const { status, text } = await ask(gateway.port(), '/v1/chat/completions', { model: 'm', messages })
    assert.equal(status, 504)
    assert.match(text, /timeout/)
    await left
  })

  it('ends the wait for an MCP target', async (t) => {
    const { port, left } = await useSilentServer(t)
    const target = { host: '127.0.0.1', port, policies: { http: { requestTimeout: '100ms' } } }
    const mcp = { targets: [{ name: 'slow', static: target }] }
    const gateway = await useGateway(t, httpConfig([{ backends: [{ mcp }] }]))
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    const { status, text } = await ask(gateway.port(), '/mcp', { jsonrpc: '2.0', id: 1, method: 'initialize', params })
    assert.equal(status, 200)
    assert.match(text, /target slow: no response in time/)
    await left
  })
})
