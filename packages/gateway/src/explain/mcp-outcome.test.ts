import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../sources/file.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import { request } from '../testing/client.ts'
import { httpConfig, until, useGateway, useOrigin } from '../testing/scene.ts'
import { explain } from './explain.ts'

test('an MCP call that failed is explained by its error, not by the status of HTTP', async (t) => {
  const server = await useOrigin(t, (seen, response) => {
    const { id = null, method } = JSON.parse(seen.body || '{}') as { id?: unknown; method?: string }
    response.setHeader('content-type', 'application/json')
    if (method === 'tools/call')
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message: 'no such city' } }))
    const result = {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'w', version: '1' },
    }
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  const mcp = { targets: [{ name: 'weather', static: { host: '127.0.0.1', port: server.port } }] }
  const config = httpConfig([{ backends: [{ mcp }] }])
  const gateway = await useGateway(t, config)
  const send = (message: object, headers: Record<string, string> = {}) =>
    request(gateway.port(), {
      method: 'POST',
      headers: {
        host: '127.0.0.1',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
  const clientInfo = { name: 'c', version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  const begun = await send({ id: 1, method: 'initialize', params })
  const session = begun.headers['mcp-session-id'] ?? ''
  await send(
    { id: 2, method: 'tools/call', params: { name: 'forecast', arguments: {} } },
    { 'mcp-session-id': session },
  )
  let record: RequestRecord | undefined
  await until(() => (record = gateway.recorded().find((each) => each.mcp?.outcome === 'error')) !== undefined)
  const loaded = loadConfig(JSON.stringify(config), { file: 'g.yaml', dir: '.', env: {} })
  assert.ok(record !== undefined && loaded.ok)
  const found = explain(record, { isKnown: true, isEarlier: false, live: 1, ir: loaded.ir, locate: () => null })
  assert.equal(record.status, 200)
  assert.match(
    found.headline,
    /^MCP server weather \(127\.0\.0\.1:\d+\) answered tools\/call forecast with error -32602: no such city$/,
  )
  assert.equal(found.code, 'mcp_error')
})
