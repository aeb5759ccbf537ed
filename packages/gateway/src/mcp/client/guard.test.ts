import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { request } from '../../testing/client.ts'
import { mcpConfig } from '../../testing/mcp/mcp-scene.ts'
import { useTarget } from '../../testing/mcp/mcp-target.ts'
import { useGateway } from '../../testing/scene.ts'
import { createGuard, type GuardConfig } from './check-request.ts'

interface GuardedRequest {
  host: string
  origin?: string
  /** The address of the client. */
  from?: string
  scheme?: string
  /** The hostname of the listener. */
  hostname?: string
}

const bare: GuardConfig = {
  allowedHosts: undefined,
  allowedOrigins: undefined,
  hasHostnames: false,
  corsAllows: () => false,
}

function isLetIn(
  config: Partial<GuardConfig>,
  { host, origin, from = '127.0.0.1', scheme = 'http', hostname = '' }: GuardedRequest,
): boolean {
  const rx = {
    authority: host,
    host: host
      .replace(/:\d+$/, '')
      .replace(/^\[|\]$/g, '')
      .toLowerCase(),
    scheme,
    listener: { hostname },
    connection: { rawAddress: from },
    headers: { get: (name: string) => (name === 'origin' ? (origin ?? null) : null) },
  }
  return createGuard({ ...bare, ...config })(rx as never) === null
}

const REMOTE = '192.0.2.7'

describe('the guard lets in', () => {
  for (const [why, config, asked, expected] of [
    ['a program on this machine', {}, { host: '127.0.0.1:3000' }, true],
    ['by name', {}, { host: 'localhost:3000' }, true],
    ['by an older address', {}, { host: '[::1]:3000', from: '::1' }, true],
    ['a name below localhost', {}, { host: 'mcp.localhost' }, true],
    ['a page under a name of its own that leads here', {}, { host: 'evil.example:3000' }, false],
    ['the same by the mapped address', {}, { host: 'evil.example', from: '::ffff:127.0.0.1' }, false],
    ['a name that only ends like localhost', {}, { host: 'evillocalhost' }, false],
    ['a name that begins like loopback', {}, { host: '127.0.0.1.evil.example' }, false],
    ['somebody far away, by any name', {}, { host: 'mcp.example', from: REMOTE }, true],
    ['a local client of a route with a name', { hasHostnames: true }, { host: 'mcp.example' }, true],
    ['a local client of a listener with a name', {}, { host: 'mcp.example', hostname: 'mcp.example' }, true],
    ['a host that is allowed', { allowedHosts: ['MCP.example'] }, { host: 'mcp.example:3000' }, true],
    [
      'a host that is allowed with its port',
      { allowedHosts: ['mcp.example:3000'] },
      { host: 'mcp.example:3000' },
      true,
    ],
    ['the same with another port', { allowedHosts: ['mcp.example:3000'] }, { host: 'mcp.example:4000' }, false],
    ['a host that is not', { allowedHosts: ['mcp.example'] }, { host: 'other.example', from: REMOTE }, false],
    ['any host', { allowedHosts: ['*'] }, { host: 'other.example' }, true],
    ['loopback where only others are allowed', { allowedHosts: ['mcp.example'] }, { host: 'localhost' }, false],

    ['a page of this machine', {}, { host: 'localhost:3000', origin: 'http://localhost:5173' }, true],
    ['a page of this machine, with TLS', {}, { host: '127.0.0.1', origin: 'https://[::1]:8443' }, true],
    ['a page from elsewhere', {}, { host: 'localhost:3000', origin: 'https://evil.example' }, false],
    ['a page without an origin', {}, { host: 'localhost:3000', origin: 'null' }, false],
    ['an origin that is none', {}, { host: 'localhost:3000', origin: 'localhost' }, false],
    [
      'a page that only begins like loopback',
      {},
      { host: 'localhost', origin: 'http://127.0.0.1.evil.example' },
      false,
    ],
    ['a page that leads here and calls itself', {}, { host: 'evil.example', origin: 'http://evil.example' }, false],
    ['the same from far away', {}, { host: 'evil.example', origin: 'http://evil.example', from: REMOTE }, false],
    ['a local page that calls a name', {}, { host: 'mcp.example', origin: 'http://localhost:1', from: REMOTE }, false],
    [
      'a page of the same host, which has a name',
      { hasHostnames: true },
      { host: 'mcp.example', origin: 'http://MCP.example', from: REMOTE },
      true,
    ],
    [
      'the same by https, which a hop before may have ended',
      { hasHostnames: true },
      { host: 'mcp.example', origin: 'https://mcp.example', from: REMOTE },
      true,
    ],
    [
      'the same by another scheme',
      { hasHostnames: true },
      { host: 'mcp.example', origin: 'ftp://mcp.example', from: REMOTE },
      false,
    ],
    [
      'the same by another port',
      { hasHostnames: true },
      { host: 'mcp.example', origin: 'http://mcp.example:81', from: REMOTE },
      false,
    ],
    [
      'an origin that is allowed',
      { allowedOrigins: ['https://app.example/'] },
      { host: 'localhost', origin: 'https://App.example' },
      true,
    ],
    [
      'one that is not',
      { allowedOrigins: ['https://app.example'] },
      { host: 'localhost', origin: 'https://app.example.evil' },
      false,
    ],
    ['any origin', { allowedOrigins: ['*'] }, { host: 'localhost', origin: 'null' }, true],
    [
      'an origin of the CORS policy',
      { corsAllows: (origin: string) => origin === 'https://app.example' },
      { host: 'localhost', origin: 'https://app.example' },
      true,
    ],
  ] as const) {
    it(`${expected ? 'in ' : 'out'}: ${why}`, () => assert.equal(isLetIn(config, asked), expected))
  }
})

describe('over the wire', () => {
  const strangers: Record<string, string>[] = [
    { host: 'evil.example' },
    { host: 'localhost', origin: 'https://evil.example' },
  ]
  for (const headers of strangers) {
    for (const [method, path] of [
      ['POST', '/mcp'],
      ['GET', '/mcp'],
      ['DELETE', '/mcp'],
      ['GET', '/mcp/sse'],
    ] as const) {
      it(`${method} ${path} of ${JSON.stringify(headers)}: 403, and no target hears of it`, async (t) => {
        const target = await useTarget(t)
        const gateway = await useGateway(t, mcpConfig({ one: target }))
        const answer = await request(gateway.port(), { method, path, headers })
        assert.equal(answer.status, 403)
        assert.equal(target.requests.length, 0)
        await gateway.finished(1)
        assert.equal(gateway.records[0]?.reason, 'Authorization')
      })
    }
  }
})
