import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import {
  connect as connectHttp2,
  createSecureServer,
  type ClientHttp2Session,
  type ServerHttp2Session,
} from 'node:http2'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { useGateway, useOrigin } from '../../../testing/scene.ts'
import { requestTls } from '../../../testing/tls-client.ts'
import { useTlsFiles } from '../../../testing/tls-files.ts'

/** A backend that serves both versions over TLS and says which one it was asked in. */
async function useSecureOrigin(t: TestContext, dir: string, allowHTTP1: boolean) {
  const read = (file: string) => readFileSync(join(dir, file), 'utf8')
  const server = createSecureServer({ cert: read('a.test.crt'), key: read('a.test.key'), allowHTTP1 })
  const sessions: ServerHttp2Session[] = []
  server.on('session', (session) => sessions.push(session))
  server.on('request', (message, response) => response.end(`backend ${message.httpVersion}`))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function setUp(t: TestContext, backend: (dir: string) => Promise<{ host: string; policies: object }>) {
  const { dir, authority } = useTlsFiles(t, ['a.test'])
  const listener = {
    protocol: 'HTTPS',
    tls: { cert: 'a.test.crt', key: 'a.test.key' },
    routes: [{ backends: [await backend(dir)] }],
  }
  const gateway = await useGateway(t, { binds: [{ port: 0, listeners: [listener] }] }, { dir })
  return { port: gateway.port(), tls: { ca: authority.cert, servername: 'a.test' } }
}

async function getOverHttp2(t: TestContext, port: number, tls: { ca: string; servername: string }): Promise<string> {
  const session: ClientHttp2Session = connectHttp2(`https://127.0.0.1:${port}`, tls)
  t.after(() => session.destroy())
  const stream = session.request({ ':path': '/', ':authority': 'a.test' })
  let body = ''
  for await (const chunk of stream) body += String(chunk)
  return body
}

test('HTTP/2 over TLS goes to the backend as HTTP/1.1', async (t) => {
  const origin = await useOrigin(t, (seen, response) =>
    response.end(`proto ${seen.headers['x-forwarded-proto'] as string}`),
  )
  const { port, tls } = await setUp(t, async () => ({ host: origin.host, policies: {} }))
  assert.equal(await getOverHttp2(t, port, tls), 'proto https')
})

test('a TLS backend is asked in HTTP/1.1 unless the policy says HTTP2', async (t) => {
  const secure = { insecureSkipVerify: 'All' }
  for (const [http, expected] of [
    [{}, 'backend 1.1'],
    [{ version: 'HTTP2' }, 'backend 2.0'],
  ] as const) {
    const { port, tls } = await setUp(t, async (dir) => ({
      host: await useSecureOrigin(t, dir, true),
      policies: { tls: secure, http },
    }))
    assert.equal((await requestTls(port, tls)).body, expected)
    assert.equal(await getOverHttp2(t, port, tls), expected)
  }
})

test('HTTP2 to a TLS backend that knows only HTTP/1.1 falls back', async (t) => {
  const { port, tls } = await setUp(t, async (dir) => {
    const read = (file: string) => readFileSync(join(dir, file), 'utf8')
    const server = createServer({ cert: read('a.test.crt'), key: read('a.test.key') }, (message, response) =>
      response.end(`backend ${message.httpVersion}`),
    ).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => {
      server.close()
      server.closeAllConnections()
    })
    const { port: backendPort } = server.address() as AddressInfo
    return {
      host: `127.0.0.1:${backendPort}`,
      policies: { tls: { insecureSkipVerify: 'All' }, http: { version: 'HTTP2' } },
    }
  })
  assert.equal((await requestTls(port, tls)).body, 'backend 1.1')
})
