import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTcp, createServer, type AddressInfo, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { createAuthority } from '../../../../gateway/src/testing/certificates.ts'
import { acceptTls } from './accept-tls.ts'
import { Deadlines } from '../../runtime/deadlines.ts'
import { createServerTls, type ServerTls, type ServerTlsPolicy } from './tls.ts'

const authority = createAuthority()
const strangers = createAuthority('Another CA')
const certificate = authority.issue({ names: ['*.gw.test'] })
const rsaCertificate = authority.issue({ names: ['*.gw.test'], keyType: 'rsa' })
const clientCertificate = authority.issue({ commonName: 'client' })
const ticketSecret = randomBytes(32)

const listeners: Record<string, ServerTls | null> = {
  'plain.gw.test': tlsOf({ alpnProtocols: ['h2', 'http/1.1'] }),
  'modern.gw.test': tlsOf({ minProtocolVersion: '1.3' }),
  'old.gw.test': tlsOf({ maxProtocolVersion: '1.2' }),
  'mutual.gw.test': tlsOf({}, { root: authority.cert }),
  'mutual-modern.gw.test': tlsOf({ minProtocolVersion: '1.3' }, { root: authority.cert }),
  'chacha.gw.test': tlsOf({
    cipherSuites: ['TLS13_CHACHA20_POLY1305_SHA256', 'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256'],
  }),
  'suites12.gw.test': tlsOf({ cipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'] }),
  'rsa.gw.test': tlsOf({ maxProtocolVersion: '1.2' }, rsaCertificate),
  'p384.gw.test': tlsOf({ keyExchangeGroups: ['P-384', 'X25519'] }),
  'quantum.gw.test': tlsOf({ keyExchangeGroups: ['X25519_MLKEM768'] }),
  'http1.gw.test': tlsOf({ alpnProtocols: ['http/1.1', 'h2'] }),
  'through.gw.test': null,
}

const deadlines = new Deadlines()
let port = 0
let timeout = 10_000
const outcomes: string[] = []
const waiting: (() => void)[] = []
const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
  acceptTls<string>(socket, {
    deadlines,
    timeout,
    choose: ({ sni }) => (sni !== null && sni in listeners ? { tls: listeners[sni]!, listener: sni } : null),
    onSecure(tlsSocket, listener, hello) {
      note(`secure ${listener} ${hello.sni}`)
      tlsSocket.on('error', () => {})
      tlsSocket.end(`${listener} ${tlsSocket.authorized}`)
    },
    onPassthrough(raw, listener) {
      note(`passthrough ${listener}`)
      raw.on('error', () => {})
      raw.once('data', (bytes: Buffer) => raw.end(bytes))
    },
    onRefused: (reason) => note(`refused ${reason}`),
  })
})

before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
after(() => {
  server.close()
  deadlines.close()
})

describe('TLS listener chosen by name', () => {
  it('hears of a connection that this side closes before the handshake', async (t) => {
    const refused = Promise.withResolvers<string>()
    const closing = createServer((socket) => {
      acceptTls<string>(socket, {
        ...{ deadlines, timeout: 3_600_000, choose: () => null, onSecure() {}, onPassthrough() {} },
        onRefused: (reason) => refused.resolve(reason),
      })
      socket.destroy()
    })
    closing.listen(0, '127.0.0.1')
    await once(closing, 'listening')
    const client = connectTcp((closing.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
    t.after(() => {
      client.destroy()
      closing.close()
    })
    assert.equal(await refused.promise, 'closed during the TLS handshake')
  })

  it('answers with its own options', async () => {
    assert.equal((await talk('plain.gw.test')).text, 'plain.gw.test false')
    assert.equal((await talk('PLAIN.gw.test')).text, 'plain.gw.test false')
  })

  it('tells clients that speak HTTP without TLS, and nobody else', async () => {
    for (const [first, isTold] of [
      ['A', true],
      ['GET / HTTP/1.1\r\n\r\n', true],
      ['Z', true],
      ['@', false],
      ['[', false],
      ['\0\0\0\0\0\0', false],
    ] as const) {
      const socket = connectTcp(port, '127.0.0.1')
      let text = ''
      socket.on('data', (bytes: Buffer) => (text += bytes.toString()))
      socket.on('error', () => {})
      socket.write(first)
      await once(socket, 'close')
      assert.equal(/^HTTP\/1\.1 400 .*this port speaks TLS only$/s.test(text), isTold, JSON.stringify(first))
      if (!isTold) assert.equal(text, '')
    }
  })

  it('keeps its versions, whatever its neighbours allow', async () => {
    assert.equal((await talk('plain.gw.test', { maxVersion: 'TLSv1.2' })).protocol, 'TLSv1.2')
    assert.equal((await talk('plain.gw.test')).protocol, 'TLSv1.3')
    assert.equal((await talk('old.gw.test')).protocol, 'TLSv1.2')
    assert.equal((await talk('modern.gw.test')).protocol, 'TLSv1.3')
    await assert.rejects(talk('modern.gw.test', { maxVersion: 'TLSv1.2' }), /protocol version/)
    await assert.rejects(talk('old.gw.test', { minVersion: 'TLSv1.3' }), /protocol version/)
  })

  it('lets no TLS 1.2 client without certificate in where a certificate and TLS 1.3 are asked for', async () => {
    await assert.rejects(talk('mutual-modern.gw.test', { maxVersion: 'TLSv1.2' }))
    await assert.rejects(talk('mutual.gw.test', { maxVersion: 'TLSv1.2' }))
    assert.ok(outcomes.every((outcome) => !outcome.startsWith('secure mutual')))
  })

  it('asks for client certificates of its own authority', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const versions = { minVersion: version, maxVersion: version }
      assert.equal((await talk('mutual.gw.test', { ...clientCertificate, ...versions })).text, 'mutual.gw.test true')
      await assertNotServed('mutual.gw.test', versions)
      assert.equal(outcomes.at(-1), 'refused peer did not return a certificate')
      await assertNotServed('mutual.gw.test', { ...strangers.issue({ commonName: 'client' }), ...versions })
      assert.equal(outcomes.at(-1), 'refused client certificate: UNABLE_TO_VERIFY_LEAF_SIGNATURE')
      await assertNotServed('mutual.gw.test', { ...authority.issue({ validToDays: -0.5 }), ...versions })
      assert.equal(outcomes.at(-1), 'refused client certificate: CERT_HAS_EXPIRED')
    }
  })

  it('sends an alert that says what is wrong with a client certificate, over TLS 1.3', async () => {
    const cases = [
      [strangers.issue({ commonName: 'client' }), /unknown ca/],
      [authority.issue({ validToDays: -0.5 }), /certificate expired/],
      [{}, /certificate required/],
    ] as const
    const suites = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']
    for (const ciphers of suites) {
      for (const [certificate, alert] of cases) {
        await assert.rejects(talk('mutual.gw.test', { ...certificate, minVersion: 'TLSv1.3', ciphers }), alert)
      }
      const served = await talk('mutual.gw.test', { ...clientCertificate, minVersion: 'TLSv1.3', ciphers })
      assert.equal(served.text, 'mutual.gw.test true')
    }
  })

  it('closes connections that name no server or an unknown one', async () => {
    const alert = /unrecognized name/
    await assert.rejects(talk('unknown.gw.test'), alert)
    await assert.rejects(talk(''), alert)
  })

  it('passes the whole hello on when it does not terminate TLS', async () => {
    const client = connectTcp(port, '127.0.0.1')
    const hello = await helloFor('through.gw.test')
    client.write(hello)
    const outcome = nextOutcome()
    const echoed = await readAll(client)
    assert.equal(await outcome, 'passthrough through.gw.test')
    assert.deepEqual(echoed, hello)
  })
})

describe('TLS listener parameters', () => {
  it('limits cipher suites in both versions', async () => {
    assert.equal((await talk('chacha.gw.test')).cipher, 'TLS_CHACHA20_POLY1305_SHA256')
    assert.equal((await talk('chacha.gw.test', { maxVersion: 'TLSv1.2' })).cipher, 'ECDHE-ECDSA-CHACHA20-POLY1305')
    await assert.rejects(talk('chacha.gw.test', { ciphers: 'TLS_AES_128_GCM_SHA256' }))
    await assert.rejects(talk('chacha.gw.test', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }))
  })

  it('serves TLS 1.2 alone when only its suites are listed', async () => {
    const { protocol, cipher } = await talk('suites12.gw.test')
    assert.deepEqual([protocol, cipher], ['TLSv1.2', 'ECDHE-ECDSA-AES128-GCM-SHA256'])
  })

  it('serves RSA certificates and no CBC suite by default', async () => {
    assert.equal((await talk('rsa.gw.test')).cipher, 'ECDHE-RSA-AES256-GCM-SHA384')
    await assert.rejects(talk('rsa.gw.test', { ciphers: 'ECDHE-RSA-AES256-SHA384' }))
  })

  it('chooses key exchange groups by its own order', async () => {
    assert.equal((await talk('p384.gw.test', { ecdhCurve: 'X25519:P-384' })).group, 'secp384r1')
    assert.equal((await talk('p384.gw.test', { ecdhCurve: 'X25519' })).group, 'X25519')
    await assert.rejects(talk('p384.gw.test', { ecdhCurve: 'P-256', minVersion: 'TLSv1.3' }))
  })

  it('exchanges keys with X25519MLKEM768', async () => {
    // The runtime's description of a hybrid group is empty; the proof is that no other group could have worked.
    assert.equal((await talk('quantum.gw.test', { ecdhCurve: 'X25519MLKEM768' })).text, 'quantum.gw.test false')
    assert.equal((await talk('plain.gw.test', { ecdhCurve: 'X25519MLKEM768' })).text, 'plain.gw.test false')
    await assert.rejects(talk('quantum.gw.test', { ecdhCurve: 'X25519' }))
  })

  it('chooses the protocol by its own order', async () => {
    const offer = { ALPNProtocols: ['http/1.1', 'h2'] }
    assert.equal((await talk('plain.gw.test', offer)).alpn, 'h2')
    assert.equal((await talk('http1.gw.test', offer)).alpn, 'http/1.1')
    assert.equal((await talk('plain.gw.test', { ALPNProtocols: ['http/1.1'] })).alpn, 'http/1.1')
    assert.equal((await talk('plain.gw.test')).alpn, false)
    await assert.rejects(talk('plain.gw.test', { ALPNProtocols: ['spdy/3'] }), /no application protocol/)
  })
})

describe('TLS sessions', () => {
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const versions = { minVersion: version, maxVersion: version }

    it(`are resumed on the same listener over ${version}`, async () => {
      const { session } = await talk('plain.gw.test', versions)
      assert.equal((await talk('plain.gw.test', { ...versions, session })).isReused, true)
    })

    it(`keep the client's certificate when resumed over ${version}`, async () => {
      const { session } = await talk('mutual.gw.test', { ...clientCertificate, ...versions })
      const again = await talk('mutual.gw.test', { ...clientCertificate, ...versions, session })
      assert.deepEqual([again.isReused, again.text], [true, 'mutual.gw.test true'])
    })

    it(`do not open a listener that requires a client certificate over ${version}`, async () => {
      const { session } = await talk('plain.gw.test', versions)
      await assertNotServed('mutual.gw.test', { ...versions, session })
    })
  }

  it('are resumed on another worker that shares the secret', async () => {
    listeners['one.gw.test'] = tlsOf({}, { ticketSecret })
    const { session } = await talk('one.gw.test')
    listeners['one.gw.test'] = tlsOf({}, { ticketSecret })
    assert.equal((await talk('one.gw.test', { session })).isReused, true)
    listeners['one.gw.test'] = tlsOf({}, { ticketSecret, root: authority.cert })
    await assertNotServed('one.gw.test', { session })
    listeners['one.gw.test'] = tlsOf({}, { ticketSecret: randomBytes(32) })
    assert.equal((await talk('one.gw.test', { session })).isReused, false)
  })
})

describe('TLS handshake deadline', () => {
  it('closes a peer that stays silent', async () => {
    await withTimeout(50, async () => {
      const client = connectTcp(port, '127.0.0.1')
      const outcome = nextOutcome()
      await once(client.resume(), 'close')
      assert.equal(await outcome, 'refused the TLS handshake timed out')
    })
  })

  it('closes a peer that stops after its hello', async () => {
    const hello = await helloFor('plain.gw.test')
    await withTimeout(100, async () => {
      const client = connectTcp(port, '127.0.0.1')
      client.on('error', () => {})
      client.write(hello)
      const outcome = nextOutcome()
      await once(client.resume(), 'close')
      assert.equal(await outcome, 'refused the TLS handshake timed out')
    })
  })

  it('accepts a hello that comes byte by byte', async () => {
    const raw = connectTcp({ port, host: '127.0.0.1', noDelay: true })
    await once(raw, 'connect')
    const slow = createServer((socket) => {
      socket.once('data', async (hello: Buffer) => {
        socket.pause()
        for (const byte of hello) await new Promise((sent) => raw.write(Buffer.from([byte]), sent))
        socket.pipe(raw).pipe(socket)
      })
    }).listen(0, '127.0.0.1')
    await once(slow, 'listening')
    const result = await talk('plain.gw.test', { port: (slow.address() as AddressInfo).port })
    assert.equal(result.text, 'plain.gw.test false')
    slow.close()
  })

  it('reports once when the peer leaves before or within the handshake', async () => {
    const leaving = connectTcp(port, '127.0.0.1')
    const first = nextOutcome()
    leaving.end(Buffer.from([0x16, 3, 1]))
    assert.equal(await first, 'refused closed before the TLS handshake')
    const hello = await helloFor('plain.gw.test')
    const resetting = connectTcp(port, '127.0.0.1')
    const second = nextOutcome()
    resetting.write(hello)
    resetting.once('data', () => resetting.resetAndDestroy())
    assert.match((await second)!, /^refused /)
    const count = outcomes.length
    assert.equal((await talk('plain.gw.test')).text, 'plain.gw.test false')
    assert.equal(outcomes.length, count + 1)
  })

  it('refuses bytes that are no TLS', async () => {
    for (const noise of ['\0\0\0\0', '\x16\x02', 'ssh']) {
      const client = connectTcp(port, '127.0.0.1')
      const outcome = nextOutcome()
      client.write(noise, 'latin1')
      await once(client.on('error', () => {}).resume(), 'close')
      assert.equal(await outcome, 'refused not a TLS handshake')
    }
  })

  it('tells a client that speaks plain HTTP what the port speaks', async () => {
    for (const text of ['GET / HTTP/1.1\r\nhost: plain.gw.test\r\n\r\n', 'POST', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']) {
      const client = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true })
      const outcome = nextOutcome()
      client.write(text)
      // Bytes after the request must not destroy the response.
      client.write('x'.repeat(200_000))
      const answer = await collect(client)
      assert.match(answer, /^HTTP\/1\.1 400 [^]*connection: close\r\n\r\nthis port speaks TLS only$/)
      assert.equal(Number(/content-length: (\d+)/.exec(answer)?.[1]), answer.split('\r\n\r\n')[1]?.length)
      assert.equal(await outcome, 'refused not a TLS handshake')
      client.destroy()
    }
  })
})

async function collect(client: Socket): Promise<string> {
  let text = ''
  client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  await once(client, 'end')
  return text
}

interface Talk {
  text: string
  protocol: string | null
  cipher: string
  group: string | undefined
  alpn: string | false | null
  isReused: boolean
  session: Buffer | undefined
}

async function talk(servername: string, options: ConnectionOptions = {}): Promise<Talk> {
  const client = connect({ host: '127.0.0.1', port, ca: authority.cert, servername, ...options })
  // Every connection has one outcome; waiting for it keeps one test's connection out of the next test.
  const outcome = nextOutcome()
  let session: Buffer | undefined
  client.on('session', (ticket: Buffer) => (session = ticket))
  try {
    await once(client, 'secureConnect')
    const details = describeSocket(client)
    const text = (await readAll(client)).toString()
    return { ...details, text, session }
  } finally {
    client.destroy()
    await outcome
  }
}

function describeSocket(client: TLSSocket): Omit<Talk, 'text' | 'session'> {
  const ephemeral = client.getEphemeralKeyInfo()
  return {
    protocol: client.getProtocol(),
    cipher: client.getCipher().name,
    group: ephemeral !== null && 'name' in ephemeral ? ephemeral.name : undefined,
    alpn: client.alpnProtocol,
    isReused: client.isSessionReused(),
  }
}

/** A TLS 1.3 client learns only after its own handshake that its certificate was rejected. */
async function assertNotServed(servername: string, options: ConnectionOptions): Promise<void> {
  const text = await talk(servername, options).then(
    (result) => result.text,
    () => '',
  )
  assert.equal(text, '')
  assert.match(outcomes.at(-1)!, /^refused /)
}

async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

async function helloFor(servername: string): Promise<Buffer> {
  const catcher = createServer().listen(0, '127.0.0.1')
  await once(catcher, 'listening')
  const client = connect({ host: '127.0.0.1', port: (catcher.address() as AddressInfo).port, servername })
  client.on('error', () => {})
  const [socket] = (await once(catcher, 'connection')) as [Socket]
  const [hello] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  client.destroy()
  catcher.close()
  return hello
}

function tlsOf(
  policy: ServerTlsPolicy,
  listener: { cert?: string; key?: string; root?: string; ticketSecret?: Buffer } = {},
) {
  const { ticketSecret, ...pems } = listener
  const result = createServerTls({ ...certificate, root: null, ...pems }, policy, ticketSecret)
  assert.ok('tls' in result, JSON.stringify(result))
  return result.tls
}

function note(outcome: string): void {
  outcomes.push(outcome)
  for (const wake of waiting.splice(0)) wake()
}

async function nextOutcome(): Promise<string | undefined> {
  await new Promise<void>((resolve) => waiting.push(resolve))
  return outcomes.at(-1)
}

async function withTimeout(milliseconds: number, run: () => Promise<void>): Promise<void> {
  timeout = milliseconds
  await run()
  timeout = 10_000
}
