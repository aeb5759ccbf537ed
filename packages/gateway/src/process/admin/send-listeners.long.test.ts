import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { useConfigFile, useProgram } from '../../testing/process.ts'
import { pathPrefix, routeTo, useOrigin } from '../../testing/scene.ts'
import { endOf, listenersOf, post, send, statusOf, joinTexts } from '../../testing/admin/sent.ts'
import { useTlsFiles } from '../../testing/tls-files.ts'

/** Listeners that need more than a plain connection, reached by requests that the admin server sends. */

const ASK = { method: 'GET', path: '/' } as const

describe('requests from the admin server to listeners that ask for more than a request', () => {
  for (const version of ['V1', 'V2', 'All'] as const) {
    test(`the PROXY protocol, ${version}: the connection says that it is the gateway's own`, async (t) => {
      const { program, listeners } = await scene(t, { proxyProtocol: { version } })
      for (const listener of listeners.slice(0, 2)) {
        const events = await send(program, { ...listener, ...ASK, trace: true })
        const { error, record } = endOf(events)
        assert.deepEqual([statusOf(events), error], [200, null], listener.listener)
        // Nobody stands before it, so the client is who has sent it: that is how its record and its trace are found.
        assert.match(record?.source ?? '', /^127\.0\.0\.1:\d+$/)
        assert.ok(events.some(({ type }) => type === 'trace'))
      }
    })
  }

  test('HTTP/2 alone: it is spoken, with every header, the body and the trace', async (t) => {
    const { program, listeners } = await scene(t, { tls: { alpnProtocols: ['h2'] } })
    const headers = [
      ['X-One', 'a'],
      ['x-one', 'b'],
      ['constructor', 'c'],
      ['content-type', 'text/plain'],
    ] as const
    const events = await send(program, {
      ...listeners[1]!,
      ...{ method: 'POST', path: '/echo?a=1', headers, body: 'größe', trace: true },
    })
    const { error, record, bytes } = endOf(events)
    assert.deepEqual([statusOf(events), error, joinTexts(events)], [200, null, 'a,b größe'])
    assert.deepEqual([record?.path, record?.outcome, bytes], ['/echo?a=1', 'passed', 11])
    assert.ok(events.some(({ type }) => type === 'trace'))
    const head = events.find(({ type }) => type === 'head')
    assert.ok(head?.type === 'head' && head.headers.every(([name]) => !name.startsWith(':')))
    // The plain listener of the same gateway goes on with HTTP/1.
    assert.equal(statusOf(await send(program, { ...listeners[0]!, ...ASK })), 200)
  })

  test('names: each listener of a port is asked for by its own, and any name will do for a wildcard', async (t) => {
    const { program, listeners } = await scene(t, {})
    const [, shop, , any] = listeners
    assert.equal(joinTexts(await send(program, { ...shop!, ...ASK })), 'shop')
    assert.equal(joinTexts(await send(program, { ...any!, ...ASK })), 'wild')
    assert.equal(joinTexts(await send(program, { ...any!, ...ASK, host: 'one.example.org' })), 'wild')
    for (const [host, why] of [
      ['elsewhere.example', /no listener on this port has the name elsewhere\.example/],
      ['127.0.0.1', /no listener on this port has the name .*an address/],
    ] as const) {
      const events = await send(program, { ...shop!, ...ASK, host, trace: true })
      const { error, record } = endOf(events)
      assert.match(error ?? '', why)
      assert.deepEqual([record?.method, record?.outcome, record?.reason?.code], [null, 'denied', 'tls_refused'])
    }
  })

  test('certificates of clients: there is none to show, and that is said at once', async (t) => {
    const { program, listeners } = await scene(t, {})
    const answer = await post(program, { ...listeners[2]!, ...ASK })
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /mutual requires a client certificate/)
    // By the name of that listener through another one of the port.
    const { error, record } = endOf(await send(program, { ...listeners[1]!, ...ASK, host: 'mutual.example.com' }))
    assert.match(error ?? '', /certificate required/)
    assert.equal(record?.reason?.code, 'tls_refused')
  })

  test('addresses that are kept out: the record says so', async (t) => {
    const rules = [{ deny: 'source.address == "127.0.0.1"' }]
    const { program, listeners } = await scene(t, { networkAuthorization: { rules } })
    for (const listener of listeners.slice(0, 2)) {
      const { error, record } = endOf(await send(program, { ...listener, ...ASK }))
      assert.match(error ?? '', /closed the connection/)
      assert.equal(record?.reason?.code, 'network_authorization')
    }
  })
})

/** A plain listener; then, on one port, one of a name, one that asks for certificates and one of many names. */
async function scene(t: TestContext, frontend: object) {
  const { dir } = useTlsFiles(t, ['shop.example.com', 'mutual.example.com', '*.example.org'])
  const tls = (name: string): object => ({ cert: join(dir, `${name}.crt`), key: join(dir, `${name}.key`) })
  const page = (body: string): object => ({ policies: { directResponse: { status: 200, body } } })
  const origin = await useOrigin(t, ({ body, rawHeaders }, response) => {
    const named = rawHeaders.filter((_, at) => /^x-one$/i.test(rawHeaders[at - 1] ?? ''))
    response.end(`${named.join()} ${body}`)
  })
  const { file } = useConfigFile(t, {
    config: { workers: 1 },
    frontend,
    binds: [
      { port: 0, address: '127.0.0.1', listeners: [{ name: 'web', routes: [page('page')] }] },
      {
        port: 0,
        address: '127.0.0.1',
        listeners: [
          {
            name: 'shop',
            hostname: 'shop.example.com',
            protocol: 'HTTPS',
            tls: tls('shop.example.com'),
            routes: [routeTo(origin, {}, pathPrefix('/echo')), page('shop')],
          },
          {
            name: 'mutual',
            hostname: 'mutual.example.com',
            protocol: 'HTTPS',
            tls: { ...tls('mutual.example.com'), root: join(dir, 'ca.crt') },
            routes: [page('mutual')],
          },
          {
            name: 'wild',
            hostname: '*.example.org',
            protocol: 'HTTPS',
            tls: tls('*.example.org'),
            routes: [page('wild')],
          },
        ],
      },
    ],
  })
  const program = await useProgram(t, { args: ['-f', file] })
  return { program, listeners: await listenersOf(program) }
}
