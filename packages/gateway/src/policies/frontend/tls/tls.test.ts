import assert from 'node:assert/strict'
import { cpSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { ConnectionOptions } from 'node:tls'
import { useGateway } from '../../../testing/scene.ts'
import { openTls, requestTls } from '../../../testing/tls-client.ts'
import { useTlsFiles } from '../../../testing/tls-files.ts'

function listener(name: string, more: { tls?: object; hostname?: string } = {}) {
  return {
    name,
    protocol: 'HTTPS',
    hostname: more.hostname ?? name,
    tls: { cert: `${name}.crt`, key: `${name}.key`, ...more.tls },
    routes: [{ policies: { directResponse: { status: 200, body: name } } }],
  }
}

async function setUp(t: TestContext, listeners: object[], names: string[], frontend: object = {}) {
  const { dir, authority } = useTlsFiles(t, names)
  const gateway = await useGateway(t, { frontend, binds: [{ port: 0, listeners }] }, { dir })
  const client = (name: string) => ({
    cert: readFileSync(join(dir, `${name}.crt`), 'utf8'),
    key: readFileSync(join(dir, `${name}.key`), 'utf8'),
  })
  return { port: gateway.port(), gateway, ca: authority.cert, client, dir }
}

test('the server name chooses the listener and its certificate', async (t) => {
  const { port, ca } = await setUp(t, [listener('a.test'), listener('b.test')], ['a.test', 'b.test'])
  for (const servername of ['a.test', 'b.test']) {
    const { status, body } = await requestTls(port, { ca, servername })
    assert.equal(status, 200)
    assert.equal(body, servername)
  }
})

test('a server name that no listener has is refused in the handshake', async (t) => {
  const { port, ca } = await setUp(t, [listener('a.test'), listener('b.test')], ['a.test', 'b.test'])
  await assert.rejects(openTls(port, { ca, servername: 'c.test' }), /unrecognized name/i)
})

test('a server name that no listener has is closed without an alert where TLS is only passed on', async (t) => {
  const through = { name: 'a', protocol: 'TLS', hostname: 'a.test', routes: [{ backends: [{ host: '127.0.0.1:9' }] }] }
  const { port, ca } = await setUp(t, [through], [])
  await assert.rejects(openTls(port, { ca, servername: 'c.test' }), { code: 'ECONNRESET' })
  const mixed = await setUp(t, [through, listener('b.test')], ['b.test'])
  await assert.rejects(openTls(mixed.port, { ca: mixed.ca, servername: 'c.test' }), /unrecognized name/i)
})

test('a Host of another listener is misdirected', async (t) => {
  const { port, ca } = await setUp(t, [listener('a.test'), listener('b.test')], ['a.test', 'b.test'])
  const { status, body } = await requestTls(port, { ca, servername: 'a.test', headers: { host: 'b.test' } })
  assert.equal(status, 421)
  assert.equal(body, 'misdirected request')
})

test('a listener with client authorities admits only their certificates, whatever its neighbours do', async (t) => {
  const listeners = [listener('open.test'), listener('closed.test', { tls: { root: 'ca.crt' } })]
  const { port, ca, client } = await setUp(t, listeners, ['open.test', 'closed.test', 'client'])
  assert.equal((await requestTls(port, { ca, servername: 'open.test' })).status, 200)
  assert.equal((await requestTls(port, { ca, servername: 'closed.test', ...client('client') })).status, 200)
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    await assert.rejects(async () => {
      const { status } = await requestTls(port, { ca, servername: 'closed.test', maxVersion })
      assert.ok(Number.isNaN(status), 'an answer came')
      throw new Error('no answer')
    })
  }
})

/** Answers with who the client is, by its certificate. */
const NAMED = {
  directResponse: { status: 200, body: 'named' },
  transformation: {
    response: { set: [{ name: 'x-principal', value: 'default(source.certificate.principal, "nobody")' }] },
  },
}

function asking(name: string, mode?: string): object {
  const made = listener(name, { tls: { root: 'ca.crt', ...(mode !== undefined && { clientCertificates: mode }) } })
  return { ...made, routes: [{ policies: NAMED }] }
}

for (const [place, listeners, frontend] of [
  ['listener', [asking('a.test', 'Request')], {}],
  ['policy', [asking('a.test')], { tls: { clientCertificates: 'Request' } }],
] as const) {
  test(`client certificates are optional where the ${place} requests them`, async (t) => {
    const { port, ca, client } = await setUp(t, [...listeners], ['a.test', 'client'], frontend)
    const stranger = useTlsFiles(t, ['stranger'])
    const foreign = {
      cert: readFileSync(join(stranger.dir, 'stranger.crt'), 'utf8'),
      key: readFileSync(join(stranger.dir, 'stranger.key'), 'utf8'),
    }
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const options = { ca, servername: 'a.test', maxVersion }
      assert.equal((await requestTls(port, options)).headers['x-principal'], 'nobody')
      assert.equal((await requestTls(port, { ...options, ...client('client') })).headers['x-principal'], 'client')
      const refused = async (): Promise<void> => {
        const { status } = await requestTls(port, { ...options, ...foreign })
        assert.ok(Number.isNaN(status), 'an answer came')
        throw new Error('no answer')
      }
      // Both authorities have one name. Over TLS 1.2 the connection is closed without an alert.
      await assert.rejects(
        refused,
        maxVersion === 'TLSv1.3' ? /alert bad certificate/ : /no answer|ECONNRESET|socket hang up/,
      )
    }
  })
}

test('a listener that requires certificates does so whatever the policy says', async (t) => {
  const frontend = { tls: { clientCertificates: 'Request' } }
  const { port, ca } = await setUp(t, [asking('a.test', 'Require')], ['a.test'], frontend)
  await assert.rejects(async () => {
    const { status } = await requestTls(port, { ca, servername: 'a.test' })
    assert.ok(Number.isNaN(status), 'an answer came')
    throw new Error('no answer')
  })
})

test('expressions read the client certificate, and see that there is none', async (t) => {
  const rules = ['has(source.certificate) && source.certificate.subjectAltNames.exists(name, name == "DNS:client")']
  const made = { ...listener('a.test', { tls: { root: 'ca.crt', clientCertificates: 'Request' } }) }
  const policies = { authorization: { rules }, directResponse: { status: 200, body: 'in' } }
  const { port, ca, client } = await setUp(t, [{ ...made, routes: [{ policies }] }], ['a.test', 'client', 'other'])
  const ask = async (more: object) => (await requestTls(port, { ca, servername: 'a.test', ...more })).status
  assert.equal(await ask({}), 403)
  assert.equal(await ask(client('other')), 403)
  assert.equal(await ask(client('client')), 200)
})

test('versions outside the configured range are refused', async (t) => {
  const frontend = { tls: { minProtocolVersion: 1.3 } }
  const { port, ca } = await setUp(t, [listener('a.test')], ['a.test'], frontend)
  const socket = await openTls(port, { ca, servername: 'a.test' })
  assert.equal(socket.getProtocol(), 'TLSv1.3')
  socket.destroy()
  await assert.rejects(openTls(port, { ca, servername: 'a.test', maxVersion: 'TLSv1.2' }))
})

test('cipher suites and key exchange groups are those of the config', async (t) => {
  const frontend = {
    tls: {
      maxProtocolVersion: '1.2',
      cipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'],
      keyExchangeGroups: ['P-384'],
    },
  }
  const { port, ca } = await setUp(t, [listener('a.test')], ['a.test'], frontend)
  const socket = await openTls(port, { ca, servername: 'a.test' })
  assert.equal(socket.getCipher().standardName, 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256')
  assert.equal((socket.getEphemeralKeyInfo() as { name?: string }).name, 'secp384r1')
  socket.destroy()
  await assert.rejects(openTls(port, { ca, servername: 'a.test', ecdhCurve: 'X25519' }))
})

test('the protocol is negotiated among the offered ones', async (t) => {
  const { port, ca } = await setUp(t, [listener('a.test')], ['a.test'])
  const only1 = await setUp(t, [listener('a.test')], ['a.test'], { tls: { alpnProtocols: ['http/1.1'] } })
  const negotiated = async (port: number, ca: string, ALPNProtocols: string[]) => {
    const socket = await openTls(port, { ca, servername: 'a.test', ALPNProtocols })
    socket.destroy()
    return socket.alpnProtocol
  }
  assert.equal(await negotiated(port, ca, ['h2', 'http/1.1']), 'h2')
  assert.equal(await negotiated(port, ca, ['http/1.1']), 'http/1.1')
  assert.equal(await negotiated(only1.port, only1.ca, ['h2', 'http/1.1']), 'http/1.1')
})

test('a handshake that does not come in time is cut', async (t) => {
  const { port } = await setUp(t, [listener('a.test')], ['a.test'], { tls: { handshakeTimeout: '100ms' } })
  const socket = connect(port, '127.0.0.1')
  socket.write(Buffer.from([22, 3, 1, 2, 0]))
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
})

test('a changed certificate ends the connections of its listener and leaves the others', async (t) => {
  const { port, ca, gateway, dir } = await setUp(t, [listener('a.test'), listener('b.test')], ['a.test', 'b.test'])
  const a = await openTls(port, { ca, servername: 'a.test' })
  const b = await openTls(port, { ca, servername: 'b.test' })
  const other = useTlsFiles(t, ['a.test'])
  for (const file of ['a.test.crt', 'a.test.key']) cpSync(join(other.dir, file), join(dir, file))
  await gateway.reload(JSON.stringify({ binds: [{ port: 0, listeners: [listener('a.test'), listener('b.test')] }] }))
  a.resume()
  await new Promise((resolve) => a.once('end', resolve))
  assert.equal((await requestTls(port, { ca: other.authority.cert, servername: 'a.test' })).body, 'a.test')
  b.write('GET / HTTP/1.1\r\nhost: b.test\r\nconnection: close\r\n\r\n')
  let text = ''
  for await (const chunk of b) text += String(chunk)
  assert.match(text, /b\.test$/)
  a.destroy()
})

test('a client that leaves inside the handshake is let go at once', async (t) => {
  const { port, ca, gateway } = await setUp(t, [listener('a.test')], ['a.test'])
  let hello: Buffer = Buffer.alloc(0)
  const catcher = createServer((socket) =>
    socket.once('data', (chunk: Buffer) => {
      hello = chunk
      socket.destroy()
    }),
  ).listen(0, '127.0.0.1')
  await once(catcher, 'listening')
  t.after(() => void catcher.close())
  await assert.rejects(openTls((catcher.address() as AddressInfo).port, { ca, servername: 'a.test' }))
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  client.end(hello)
  client.resume()
  await once(client, 'end')
  client.destroy()
  assert.equal(gateway.connectionCount(), 0)
})

test('a client that ends its side still gets its answer', async (t) => {
  const { port, ca } = await setUp(t, [listener('a.test')], ['a.test'])
  const socket = await openTls(port, { ca, servername: 'a.test', allowHalfOpen: true } as ConnectionOptions)
  socket.end('GET / HTTP/1.1\r\nhost: a.test\r\n\r\n')
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  assert.match(text, /a\.test$/)
})
