import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { answer, failCall, useScriptedApi } from '../testing/scripted-api.ts'
import { KubeClient } from './kube-client.ts'
import { KubeError, retryAfterMs } from './kube-error.ts'

test('sends token, query and body, and returns the JSON', async (t) => {
  const api = await useScriptedApi(t, (_, response) => answer(response, 200, { ok: 1 }))
  const body = { spec: 'ü' }
  assert.deepEqual(
    await api.client.ask({ method: 'POST', path: '/api/v1/pods', query: { limit: 5, a: undefined }, body }),
    {
      ok: 1,
    },
  )
  const [asked] = api.asked
  assert.deepEqual(
    [asked?.method, asked?.path, String(asked?.query), asked?.body],
    ['POST', '/api/v1/pods', 'limit=5', body],
  )
  assert.equal(asked?.headers['authorization'], 'Bearer secret-token')
})

test('an error names the request, and nothing of its body', async (t) => {
  const api = await useScriptedApi(t, (_, response) =>
    failCall(response, 403, 'pods is forbidden: User "x" cannot list'),
  )
  const error = await failure(api.client.ask({ method: 'POST', path: '/api/v1/pods', body: { password: 'hidden' } }))
  assert.equal(error.message, 'POST /api/v1/pods: 403 pods is forbidden: User "x" cannot list')
  assert.deepEqual([error.status, error.reason], [403, 'Refused'])
  assert.doesNotMatch(JSON.stringify(error) + error.stack, /secret-token|hidden/)
})

test('an error contains the text of a proxy, shortened', async (t) => {
  const api = await useScriptedApi(t, (_, response) => response.writeHead(502).end(`bad gateway ${'x'.repeat(5000)}`))
  const error = await failure(api.client.ask({ path: '/api/v1/pods' }))
  assert.match(error.message, /^GET \/api\/v1\/pods: 502 bad gateway x+$/)
  assert.ok(error.message.length < 300)
})

test('429 is retried with Retry-After, and thrown without it', async (t) => {
  const api = await useScriptedApi(t, ({ path }, response) => {
    if (path === '/never') failCall(response, 429, 'too many')
    else if (api.asked.length < 3) failCall(response, 429, 'too many', { 'retry-after': '0' })
    else answer(response, 200, { ok: true })
  })
  assert.deepEqual(await api.client.ask({ method: 'POST', path: '/later', body: {} }), { ok: true })
  assert.equal(api.asked.length, 3)
  assert.equal((await failure(api.client.ask({ path: '/never' }))).status, 429)
  assert.equal(api.asked.length, 4)
})

test('a server that keeps answering 429 fails after a few tries', async (t) => {
  const api = await useScriptedApi(t, (_, response) => failCall(response, 429, 'too many', { 'retry-after': '0' }))
  assert.equal((await failure(api.client.ask({ path: '/x' }))).status, 429)
  assert.equal(api.asked.length, 5)
})

test('Retry-After is seconds or a date, and never long', () => {
  const at = (header: string | undefined): number | undefined =>
    retryAfterMs(header, Date.parse('2026-01-01T00:00:00Z'))
  assert.deepEqual(
    [
      at('3'),
      at('Thu, 01 Jan 2026 00:00:05 GMT'),
      at('Wed, 31 Dec 2025 00:00:00 GMT'),
      at('99999'),
      at('soon'),
      at(undefined),
    ],
    [3000, 5000, 0, 5000, undefined, undefined],
  )
})

test('after a 401 the credentials are read again, once', async (t) => {
  const asks: boolean[] = []
  const credentials = (fresh: boolean) => {
    asks.push(fresh)
    return Promise.resolve({ authorization: asks.includes(true) ? 'Bearer new' : 'Bearer old' })
  }
  const api = await useScriptedApi(
    t,
    ({ headers, path }, response) => {
      if (headers.authorization === 'Bearer new' && path === '/x') answer(response, 200, {})
      else failCall(response, 401, 'Unauthorized')
    },
    credentials,
  )
  await api.client.ask({ path: '/x' })
  assert.deepEqual(asks, [false, true])
  assert.equal((await failure(api.client.ask({ path: '/y' }))).status, 401)
})

test('a missing response is an error, an aborted request is not a KubeError', async (t) => {
  const api = await useScriptedApi(t, () => undefined)
  assert.equal((await failure(api.client.ask({ path: '/slow', limitMs: 30 }))).message, 'GET /slow: request timed out')
  const leaving = new AbortController()
  const asking = api.client.ask({ path: '/left', signal: leaving.signal })
  await api.received('/left')
  leaving.abort(new Error('enough'))
  await assert.rejects(asking, /^Error: enough$/)
})

test('the error for an unreachable server names the request', async (t) => {
  const api = await useScriptedApi(t, (_, response) => response.destroy())
  assert.match((await failure(api.client.ask({ path: '/x' }))).message, /^GET \/x: socket hang up$/)
})

test('a request that does not create is retried when the server closed the kept connection', async (t) => {
  const script = (asked: { path: string; method: string }, response: ServerResponse): void => {
    const isFirst = api.asked.filter(({ path, method }) => path === asked.path && method === asked.method).length === 1
    if (asked.path !== '/kept' && isFirst) response.destroy()
    else answer(response, 200, { ok: true })
  }
  const api = await useScriptedApi(t, script)
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'POST'] as const) {
    await api.client.ask({ path: '/kept' })
    const asking = api.client.ask({ method, path: '/ended', ...(method !== 'GET' && { body: {} }) })
    if (method === 'POST') assert.match((await failure(asking)).message, /^POST \/ended: socket hang up$/)
    else assert.deepEqual(await asking, { ok: true }, method)
    const times = api.asked.filter((asked) => asked.path === '/ended' && asked.method === method).length
    assert.equal(times, method === 'POST' ? 1 : 2, method)
  }
})

test('a response that is not JSON is an error', async (t) => {
  const api = await useScriptedApi(t, (_, response) => response.end('<html>'))
  assert.equal((await failure(api.client.ask({ path: '/x' }))).message, 'GET /x: response is not JSON')
})

test('a stream yields its lines, and closes when the reader leaves', async (t) => {
  let closed = (): void => undefined
  const left = new Promise<void>((resolve) => (closed = resolve))
  const api = await useScriptedApi(t, (_, response) => {
    response.on('close', closed)
    response.write('{"n":1}\n{"n"')
    response.write(':2}\n')
  })
  const seen: unknown[] = []
  for await (const line of api.client.stream({ path: '/watch' })) {
    seen.push(line)
    if (seen.length === 2) break
  }
  assert.deepEqual(seen, [{ n: 1 }, { n: 2 }])
  await left
})

test('an upgrade uses a new connection when the server closed the kept one', async (t) => {
  let connections = 0
  const server = createServer().on('upgrade', (_, socket) => {
    socket.on('error', () => {})
    connections += 1
    if (connections > 1)
      return socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
    socket.write('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
    // The next request on this connection gets no response.
    socket.once('data', () => socket.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const connection = { server: `http://127.0.0.1:${port}`, credentials: () => Promise.resolve({}) }
  const client = new KubeClient(connection)
  t.after(() => client.close())
  assert.equal((await failure(client.upgrade({ path: '/a', protocol: 'x', headers: {} }))).status, 403)
  const { socket } = await client.upgrade({ path: '/b', protocol: 'x', headers: {} })
  socket.destroy()
  assert.equal(connections, 2)
})

async function failure(promise: Promise<unknown>): Promise<KubeError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof KubeError, String(error))
  return error
}
