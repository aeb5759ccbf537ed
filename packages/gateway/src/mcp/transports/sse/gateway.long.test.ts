import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test, type TestContext } from 'node:test'
import { begin, call, urlOf } from '../../../testing/mcp/mcp-post.ts'
import { eventually, useProgram } from '../../../testing/process.ts'
import { useSdkServer } from './test-server.ts'

/** The program as people run it, with two workers. */

describe('old servers behind a gateway with two workers', () => {
  test('have one session for each of the clients, whichever worker those come to', async (t) => {
    const server = await useSdkServer(t)
    const program = await useSseGateway(t, server.port)
    const sessions = await Promise.all(Array.from({ length: 10 }, () => begin(program)))
    assert.equal(server.opened(), 10)
    await Promise.all(
      sessions.flatMap((session, at) =>
        Array.from({ length: 10 }, async (_, turn) => {
          const text = `${at}.${turn}`
          const { content } = await call(program, session, 'tools/call', { name: 'echo', arguments: { text } })
          assert.deepEqual(content, [{ type: 'text', text }])
        }),
      ),
    )
    assert.equal(server.opened(), 10)
  })

  test('that were restarted are begun with anew, and clients do not notice', async (t) => {
    const server = await useSdkServer(t)
    const program = await useSseGateway(t, server.port)
    const session = await begin(program)
    await eventually('open', () => server.open() === 1)
    server.forget()
    for (const text of ['a', 'b', 'c']) {
      const { content } = await call(program, session, 'tools/call', { name: 'echo', arguments: { text } })
      assert.deepEqual(content, [{ type: 'text', text }])
    }
    assert.ok(server.opened() >= 2)
  })

  test('are left when the client ends its session', async (t) => {
    const server = await useSdkServer(t)
    const program = await useSseGateway(t, server.port)
    const session = await begin(program)
    assert.equal(server.open(), 1)
    await fetch(urlOf(program), { method: 'DELETE', headers: { 'mcp-session-id': session } })
    await eventually('left', () => server.open() === 0)
  })
})

function useSseGateway(t: TestContext, port: number) {
  const target = { name: 'old', static: { host: '127.0.0.1', port, protocol: 'SSE' } }
  const routes = [{ matches: [{ path: { pathPrefix: '/mcp' } }], backends: [{ mcp: { targets: [target] } }] }]
  const config = {
    config: { workers: 2, connectionMinTerminationDeadline: '0s' },
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes }] }],
  }
  return useProgram(t, {
    args: ['-f', '-'],
    stdin: JSON.stringify(config),
    env: { SESSION_KEY: randomBytes(32).toString('hex') },
  })
}
