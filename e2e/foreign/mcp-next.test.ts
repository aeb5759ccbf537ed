import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { useAuth0 } from '../../packages/gateway/src/testing/services/identity-providers.ts'
import { closedPort, httpConfig, pathPrefix } from '../../packages/gateway/src/testing/scene.ts'
import { useTarget } from '../../packages/gateway/src/testing/mcp/mcp-target.ts'
import { useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { useMcpGateway } from '../mcp/gateway.ts'
import { programTarget } from '../mcp/stdio-targets.ts'
import { runNextPython, withoutNextPython as skip } from './python.ts'

/** A member that every result of a revision without sessions has. */
const COMPLETE = { resultType: 'complete' }

interface ClientOutput {
  tools: string[]
  text: string
  isError: boolean
}

describe('the Python SDK, second major line, pinned to 2026-07-28', { skip }, () => {
  const mode = '2026-07-28'
  const everything = programTarget('everything', 'server-everything/dist/index.js')

  it('calls a program that nobody has asked who it is', async (t) => {
    const gateway = await useMcpGateway(t, { one: { mcp: { targets: [everything] } } })
    const input = { url: gateway.url('one'), mode, tool: 'echo', arguments: { message: 'hi' } }
    const seen = await runNextPython<ClientOutput>('mcp_next_client.py', input)
    assert.ok(seen.tools.includes('echo'), seen.tools.join())
    assert.deepEqual([seen.text, seen.isError], ['Echo: hi', false])
  })

  it('and two of them', async (t) => {
    const other = { ...everything, name: 'other' }
    const gateway = await useMcpGateway(t, { two: { mcp: { targets: [everything, other] } } })
    const input = { url: gateway.url('two'), mode, tool: 'other_echo', arguments: { message: 'hi' } }
    const seen = await runNextPython<ClientOutput>('mcp_next_client.py', input)
    for (const name of ['everything_echo', 'other_echo']) assert.ok(seen.tools.includes(name), seen.tools.join())
    assert.deepEqual([seen.text, seen.isError], ['Echo: hi', false])
  })
})

describe('the Python SDK, second major line, signs in at Auth0', { skip }, () => {
  const audience = 'https://mcp.example.com'
  for (const mode of ['legacy', 'auto', '2026-07-28']) {
    it(`mode ${mode}`, async (t) => {
      const idp = await useAuth0(t)
      const token = await idp.token({ aud: audience, exp: Math.floor(Date.now() / 1000) + 600 })
      idp.answers.set('/oidc/register', (response, { body }) => {
        const client = { ...(JSON.parse(body) as object), client_id: 'made-by-auth0' }
        response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(client))
      })
      idp.answers.set('/oauth/token', (response) => {
        const given = { access_token: token, token_type: 'Bearer', expires_in: 600 }
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(given))
      })
      const target = await useTarget(t, (request) => {
        const { method } = request
        const tools = [{ name: 'hello', inputSchema: { type: 'object' } }]
        if (method === 'tools/list') request.result({ ...COMPLETE, ttlMs: 0, cacheScope: 'private', tools })
        else if (method === 'tools/call') request.result({ ...COMPLETE, content: [{ type: 'text', text: 'hello' }] })
        else return false
        return true
      })
      const mcpAuthentication = { issuer: idp.issuer, audiences: [audience], provider: 'Auth0' }
      const targets = [{ name: 'one', static: { host: '127.0.0.1', port: target.port } }]
      const route = { ...pathPrefix('/mcp'), policies: { mcpAuthentication }, backends: [{ mcp: { targets } }] }
      const { binds, ...others } = httpConfig([route]) as { binds: object[] }
      const port = await closedPort()
      const file = useConfigFile(t, { ...others, binds: binds.map((bind) => ({ ...bind, port })) })
      await useProgram(t, { args: ['-f', file.file] })
      const input = { url: `http://127.0.0.1:${port}/mcp`, mode, signsIn: true, tool: 'hello', arguments: {} }
      const seen = await runNextPython<ClientOutput & { opened: string; sentTo: string }>('mcp_next_client.py', input)
      assert.deepEqual([seen.tools, seen.text], [['hello'], 'hello'])
      for (const url of [seen.opened, seen.sentTo]) assert.equal(url.split('?').length, 2, url)
      const asked = new URL(seen.sentTo)
      assert.equal(`${asked.origin}/`, idp.issuer)
      assert.deepEqual(
        [asked.searchParams.get('audience'), asked.searchParams.get('client_id')],
        [audience, 'made-by-auth0'],
      )
    })
  }
})
