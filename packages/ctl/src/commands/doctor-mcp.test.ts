import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, test, type TestContext } from 'node:test'
import { httpConfig, useGateway } from '../../../gateway/src/testing/scene.ts'
import { createSigningKey, keySetOf } from '../../../gateway/src/testing/services/issuer.ts'
import { useServer } from '../testing/fake-gateway.ts'
import { runCommand } from '../testing/program.ts'

interface Verdict {
  readonly client: string
  readonly verdict: string
  readonly note: string
  readonly failed: {
    readonly step: string
    readonly sent: string
    readonly came: string
    readonly change: string
  } | null
}

type Answers = Readonly<Record<string, { status?: number; challenge?: string; json?: object; text?: string }>>

/** Starts a server with the given responses by method and path; any other request gets 404. */
async function useMcp(t: TestContext, answersAt: (origin: string) => Answers): Promise<string> {
  let answers: Answers = {}
  const port = await useServer(t, (request: IncomingMessage, response) => {
    const { status = 200, challenge, json, text } = answers[`${request.method} ${request.url}`] ?? { status: 404 }
    const type = json === undefined ? 'text/plain' : 'application/json'
    response.writeHead(status, { 'content-type': type, ...(challenge && { 'www-authenticate': challenge }) })
    response.end(json === undefined ? text : JSON.stringify(json))
  })
  const origin = `http://127.0.0.1:${port}`
  answers = answersAt(origin)
  return origin
}

async function examine(url: string): Promise<{ code: number | null; clients: Verdict[] }> {
  const { code, stdout } = await runCommand(['doctor', 'mcp', url, '-o', 'json', '--timeout', '5'])
  return { code, clients: (JSON.parse(stdout) as { clients: Verdict[] }).clients }
}

const endpoints = (origin: string) => ({
  authorization_endpoint: `${origin}/authorize`,
  token_endpoint: `${origin}/token`,
  code_challenge_methods_supported: ['S256'],
})

/** Returns a server's responses with all discovery documents, at every path that clients try. */
function complete(origin: string): Answers {
  const prm = `${origin}/.well-known/oauth-protected-resource/mcp`
  return {
    'POST /mcp': { status: 401, challenge: `Bearer resource_metadata="${prm}"` },
    'GET /.well-known/oauth-protected-resource/mcp': {
      json: { resource: `${origin}/mcp`, authorization_servers: [`${origin}/tenant`] },
    },
    'GET /.well-known/oauth-authorization-server/tenant': {
      json: { issuer: `${origin}/tenant`, registration_endpoint: `${origin}/register`, ...endpoints(origin) },
    },
  }
}

describe('porticoctl doctor mcp', () => {
  test('all clients can sign in where all documents are', async (t) => {
    const origin = await useMcp(t, complete)
    const { code, clients } = await examine(`${origin}/mcp`)
    assert.equal(code, 0)
    assert.deepEqual(
      clients.map(({ client, verdict }) => [client, verdict]),
      ['claude', 'cursor', 'vscode', 'copilot', 'sdk'].map((client) => [client, 'ok']),
    )
  })

  test('an open server needs no sign-in, and a page is no MCP server', async (t) => {
    const result = { jsonrpc: '2.0', id: 1, result: { protocolVersion: '2025-06-18' } }
    const origin = await useMcp(t, () => ({ 'POST /mcp': { json: result }, 'POST /page': { text: 'hello' } }))
    assert.ok((await examine(`${origin}/mcp`)).clients.every(({ verdict }) => verdict === 'open'))
    const page = await examine(`${origin}/page`)
    assert.equal(page.code, 1)
    assert.ok(page.clients.every(({ failed }) => failed?.step === 'initialize'))
    const [missing] = (await examine(`${origin}/nowhere`)).clients
    assert.match(missing?.failed?.change ?? '', /No MCP server is at this path/)
  })

  test('clients differ: a header that names the wrong document hurts those that read it', async (t) => {
    const origin = await useMcp(t, (at) => ({
      ...complete(at),
      'POST /mcp': { status: 401, challenge: `Bearer resource_metadata="${at}/gone"` },
    }))
    const { clients } = await examine(`${origin}/mcp`)
    assert.deepEqual(
      clients.filter(({ verdict }) => verdict === 'fails').map(({ client }) => client),
      ['cursor', 'vscode', 'copilot', 'sdk'],
    )
    const failed = clients.find(({ client }) => client === 'sdk')?.failed
    assert.deepEqual([failed?.step, failed?.sent], ['protected resource', `GET ${origin}/gone`])
    assert.match(failed?.came ?? '', /^404/)
  })

  test('names the first step that fails, and what to change', async (t) => {
    const cases: [name: string, change: (origin: string) => Answers, step: string, says: RegExp][] = [
      [
        'a resource of another host, as behind a proxy',
        (at) => ({
          'GET /.well-known/oauth-protected-resource/mcp': {
            json: { resource: 'http://internal/mcp', authorization_servers: [at] },
          },
        }),
        'protected resource',
        /resourceMetadata\.resource/,
      ],
      [
        'no authorization server',
        (at) => ({ 'GET /.well-known/oauth-protected-resource/mcp': { json: { resource: `${at}/mcp` } } }),
        'protected resource',
        /`issuer` of `mcpAuthentication`/,
      ],
      [
        'an issuer with a path that has no metadata',
        () => ({ 'GET /.well-known/oauth-authorization-server/tenant': { status: 404 } }),
        'authorization server',
        /issuers with a path/,
      ],
      [
        'another issuer',
        (at) => ({
          'GET /.well-known/oauth-authorization-server/tenant': { json: { issuer: at, ...endpoints(at) } },
        }),
        'authorization server',
        /RFC 8414/,
      ],
      [
        'no PKCE',
        (at) => ({
          'GET /.well-known/oauth-authorization-server/tenant': {
            json: { ...endpoints(at), issuer: `${at}/tenant`, code_challenge_methods_supported: ['plain'] },
          },
        }),
        'authorization server',
        /PKCE/,
      ],
    ]
    for (const [name, change, step, says] of cases) {
      const origin = await useMcp(t, (at) => ({ ...complete(at), ...change(at) }))
      const { code, clients } = await examine(`${origin}/mcp`)
      assert.equal(code, 1, name)
      for (const { failed } of clients) {
        assert.equal(failed?.step, step, name)
        assert.match(failed?.change ?? '', says, name)
        assert.ok(failed?.sent !== '' && failed?.came !== '', name)
      }
    }
  })

  test('without registration, clients that take a client id can go on', async (t) => {
    const origin = await useMcp(t, (at) => ({
      ...complete(at),
      'GET /.well-known/oauth-authorization-server/tenant': { json: { issuer: `${at}/tenant`, ...endpoints(at) } },
    }))
    const { clients } = await examine(`${origin}/mcp`)
    const verdictOf = (name: string) => clients.find(({ client }) => client === name)
    assert.match(verdictOf('vscode')?.note ?? '', /client id/)
    assert.equal(verdictOf('cursor')?.failed?.step, 'registration')
  })

  test('a gateway with mcpAuthentication has what clients look for', async (t) => {
    const idp = await useMcp(t, (at) => ({
      'GET /.well-known/oauth-authorization-server': {
        json: { issuer: `${at}/`, registration_endpoint: `${at}/register`, ...endpoints(at) },
      },
    }))
    const mcpAuthentication = {
      ...{ mode: 'strict', issuer: `${idp}/`, audiences: ['tools'] },
      jwks: { inline: keySetOf(createSigningKey('a')) },
    }
    const backends = [{ mcp: { targets: [{ name: 'tools', static: { host: '127.0.0.1', port: 1 } }] } }]
    const routes = [{ matches: [{ path: { pathPrefix: '/mcp' } }], policies: { mcpAuthentication }, backends }]
    const gateway = await useGateway(t, httpConfig(routes))
    const { code, clients } = await examine(`http://127.0.0.1:${gateway.port()}/mcp`)
    assert.equal(code, 0, JSON.stringify(clients))
  })

  test('takes one URL', async () => {
    for (const args of [[], ['nowhere'], ['ftp://a/b'], ['http://a/', 'http://b/'], ['http://a/', '-f', 'x']]) {
      assert.equal((await runCommand(['doctor', 'mcp', ...args])).code, 2, args.join(' '))
    }
  })
})
