import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { RequestListener } from 'node:http'
import { Deadlines, HeaderBlock, Hops } from '@portico/http'
import { startOrigin } from '../../testing/origin.ts'
import { Pool } from '../../../../http/src/client/pool/pool.ts'
import { fetchText } from './fetch-text.ts'
import type { BackendClient } from '../context/step.ts'

async function useClient(t: TestContext, answer: RequestListener) {
  const origin = await startOrigin((_seen, response, message) => answer(message, response))
  const deadlines = new Deadlines()
  const pool = new Pool(
    {
      address: { host: '127.0.0.1', port: origin.port },
      tls: null,
      tunnel: null,
      connectTimeoutMs: 5_000,
      keepalive: { retries: 9, timeMs: 180_000, intervalMs: 180_000 },
      version: 'HTTP1',
      idleTimeoutMs: 5_000,
      maxIdle: 10,
    },
    {
      deadlines,
      hops: new Hops('test'),
      observer: { opened() {}, closed() {}, connectFailed() {}, fellSilent() {} },
    },
  )
  t.after(async () => {
    pool.close()
    deadlines.close()
    await origin.close()
  })
  const client: BackendClient = {
    hostname: null,
    send: (request, context, handler) => pool.request(request, handler, context),
  }
  const fetch = (more: Partial<Parameters<typeof fetchText>[1]> = {}) =>
    fetchText(client, { authority: 'idp.test', target: '/keys', maxBytes: 100_000, timeoutMs: 30_000, ...more })
  return { origin, fetch }
}

test('a document is fetched whole, with its headers', async (t) => {
  const text = 'ä'.repeat(40_000)
  const { origin, fetch } = await useClient(t, (_request, response) => {
    response.setHeader('cache-control', 'max-age=60')
    for (let at = 0; at < text.length; at += 9_999) response.write(text.slice(at, at + 9_999))
    response.end()
  })
  const fetched = await fetch()
  assert.equal(fetched.text, text)
  assert.equal(fetched.headers.get('cache-control'), 'max-age=60')
  assert.equal(origin.seen[0]!.url, '/keys')
  assert.equal(origin.seen[0]!.headers.host, 'idp.test')
})

test('redirects are not followed, and other answers are not taken', async (t) => {
  const { origin, fetch } = await useClient(t, (request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: '/keys' }).end()
    else if (request.url === '/zipped') response.writeHead(200, { 'content-encoding': 'gzip' }).end('x')
    else response.writeHead(500).end()
  })
  await assert.rejects(fetch({ target: '/moved' }), /status 302/)
  await assert.rejects(fetch({ target: '/zipped' }), /compressed or too long/)
  await assert.rejects(fetch({ target: '/keys' }), /status 500/)
  assert.deepEqual(
    origin.seen.map(({ url }) => url),
    ['/moved', '/zipped', '/keys'],
  )
})

test('an answer that is too long is cut off, told or not', async (t) => {
  const { fetch } = await useClient(t, (request, response) => {
    if (request.url === '/told') response.setHeader('content-length', 100_001)
    response.flushHeaders()
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(1_000)));
    }
    response.on('drain', more)
    more()
  })
  await assert.rejects(fetch({ target: '/told' }), /too long/)
  await assert.rejects(fetch({ target: '/endless' }), /too long/)
})

test('an answer that takes too long is given up', async (t) => {
  const { fetch } = await useClient(t, (request, response) => {
    if (request.url === '/half') response.write('{')
  })
  await assert.rejects(fetch({ target: '/silent', timeoutMs: 50 }), /no complete response in time/)
  await assert.rejects(fetch({ target: '/half', timeoutMs: 50 }), /no complete response in time/)
})

test('a connection that breaks rejects', async (t) => {
  const { fetch } = await useClient(t, (request, response) => {
    if (request.url === '/half') response.write('{', () => response.destroy())
    else response.destroy()
  })
  await assert.rejects(fetch({ target: '/gone' }))
  await assert.rejects(fetch({ target: '/half' }))
})

test('a document is asked for by POST when something is to be sent', async (t) => {
  const { origin, fetch } = await useClient(t, (request, response) => {
    response.writeHead(request.url === '/made' ? 201 : 302, { location: '/keys' }).end('made')
  })
  const post = { headers: HeaderBlock.of([['content-type', 'application/json']]), body: Buffer.from('{"a":1}') }
  assert.equal((await fetch({ target: '/made', post })).text, 'made')
  assert.equal(origin.seen[0]!.method, 'POST')
  assert.equal(origin.seen[0]!.body, '{"a":1}')
  assert.equal(origin.seen[0]!.headers['content-type'], 'application/json')
  assert.equal(origin.seen[0]!.headers['content-length'], '7')
  await assert.rejects(fetch({ target: '/moved', post }), /status 302/)
  await assert.rejects(fetch({ target: '/made' }), /status 201/)
})
