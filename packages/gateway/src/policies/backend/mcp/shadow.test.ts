import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../../testing/client.ts'
import { httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'

const key = 'io.modelcontextprotocol'
const client = { [`${key}/clientInfo`]: { name: 'test', version: '1' }, [`${key}/clientCapabilities`]: {} }
const _meta = { [`${key}/protocolVersion`]: '2026-07-28', ...client }

for (const mcp of [
  { authorization: { mode: 'Shadow', rules: [{ deny: 'mcp.tool.name == "write"' }] } },
  { authorization: { rules: ['true'] }, shadow: { authorization: { rules: ['mcp.tool.name == "read"'] } } },
]) {
  test(`a shadow of MCP rules passes every call: ${Object.keys(mcp).join(', ')}`, async (t) => {
    const origin = await useOrigin(t, ({ body }, response) => {
      const { id, method } = JSON.parse(body) as { id: number; method: string }
      const listed = { tools: [{ name: 'read' }, { name: 'write' }], ttlMs: 9, cacheScope: 'public' }
      const result = method === 'tools/list' ? listed : { content: [{ type: 'text', text: 'done' }] }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } }))
    })
    const targets = [{ name: 'own', static: { host: '127.0.0.1', port: origin.port } }]
    const gateway = await useGateway(
      t,
      httpConfig([{ name: 'r', backends: [{ mcp: { targets }, policies: { mcp } }] }]),
    )
    const ask = async (method: string, params: { name?: string } = {}) => {
      const answer = await request(gateway.port(), {
        ...{ method: 'POST', path: '/mcp' },
        headers: {
          ...{ host: 'localhost', 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
          ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
          ...(params.name !== undefined && { 'mcp-name': params.name }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
      })
      return answer.body
    }
    assert.match(await ask('tools/list'), /"read".*"write"/)
    for (const name of ['read', 'write']) assert.match(await ask('tools/call', { name }), /"done"/)
    await gateway.finished(3)
    assert.deepEqual(
      gateway.records.map(
        ({ shadows }) => shadows?.outcomes.map(({ policy, outcome }) => `${policy}:${outcome}`) ?? [],
      ),
      [[], ['mcpAuthorization:allowed'], ['mcpAuthorization:denied']],
    )
    assert.match(gateway.metrics(), /portico_shadow_total\{policy="mcpAuthorization",route="r",outcome="denied"\} 1$/m)
  })
}
