import { once } from 'node:events'
import { type AddressInfo, connect as connectPlain, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { connect, type ConnectionOptions } from 'node:tls'
import { httpConfig, routeTo } from '../../testing/scene.ts'
import { useTlsFiles } from '../../testing/tls-files.ts'
import { closedUdpPort, UdpClient, useUdpServer } from '../../testing/udp.ts'
import type { RefusalCase } from './refusal-case.ts'

/** A client whose connection ends before a request. */
function tried(options: ConnectionOptions): RefusalCase['send'] {
  return async ({ port }) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
    socket.on('error', () => {})
    // With TLS 1.3 a client learns of the refusal with its first read.
    socket.on('secureConnect', () => socket.resume())
    await new Promise((resolve) => socket.on('close', resolve))
  }
}

const sent =
  (bytes: string | Buffer): RefusalCase['send'] =>
  async ({ port }) => {
    const socket = connectPlain(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.resume()
    socket.write(bytes)
    await new Promise((resolve) => socket.on('close', resolve))
  }

/** The ClientHello of a client with TLS 1.2 at most. */
async function helloFor(servername: string): Promise<Buffer> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect({ port, host: '127.0.0.1', servername, maxVersion: 'TLSv1.2' }).on('error', () => {})
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [hello] = (await once(socket, 'data')) as [Buffer]
  client.destroy()
  socket.destroy()
  server.close()
  return hello
}

const datagrams = (host: string) => ({
  binds: [{ port: 0, listeners: [{ protocol: 'UDP', routes: [{ backends: [{ host }] }] }] }],
})

const datagram: RefusalCase['send'] = async ({ t, port }) => (await UdpClient.open(t, port)).send('x')

function secured(tls: (t: TestContext) => object = () => ({}), frontend: object = {}): RefusalCase['config'] {
  return ({ t, origin }) => {
    const { dir } = useTlsFiles(t, ['a.test'])
    const files = { cert: `${dir}/a.test.crt`, key: `${dir}/a.test.key`, ...tls(t) }
    const listener = { hostname: 'a.test', protocol: 'HTTPS', tls: files, routes: [routeTo(origin)] }
    return { frontend, binds: [{ port: 0, listeners: [listener] }] }
  }
}

export const connectionCases: RefusalCase[] = [
  {
    name: 'an address that may not connect',
    config: ({ origin }) =>
      httpConfig([routeTo(origin)], {
        frontend: { networkAuthorization: { rules: [{ deny: 'source.address == "127.0.0.1"' }] } },
      }),
    send: sent('GET / HTTP/1.1\r\nhost: a\r\n\r\n'),
    code: 'deny_rule_true',
    at: 'deny: source.address',
    passes: 'source.address is not "127.0.0.1" (it is "127.0.0.1").',
    alsoPass: ['the rule is changed.'],
    values: { 'source.address': '127.0.0.1' },
  },
  {
    name: 'a server name that no listener has',
    config: secured(),
    send: tried({ servername: 'b.test' }),
    code: 'tls_unknown_name',
    at: null,
    passes: 'the client connects with the server name (SNI) a.test.',
    alsoPass: ['a listener has the hostname b.test.'],
    values: { sni: 'b.test', listeners: ['a.test'] },
  },
  {
    name: 'a client without the certificate that is asked for',
    config: secured((t) => ({ root: `${useTlsFiles(t, []).dir}/ca.crt` })),
    send: tried({ servername: 'a.test' }),
    code: 'tls_client_certificate',
    at: 'tls:',
    passes: 'the client presents a certificate that a trusted CA of the listener signed.',
    alsoPass: ['`tls` of the listener requires no client certificate, or trusts its CA.'],
    values: { sni: 'a.test' },
  },
  {
    name: 'a client that knows only older versions of TLS',
    config: secured(undefined, { tls: { minProtocolVersion: '1.3' } }),
    send: tried({ servername: 'a.test', maxVersion: 'TLSv1.2' }),
    code: 'tls_no_agreement',
    at: 'tls:',
    passes: 'the client offers a TLS version and a cipher that the listener supports.',
    alsoPass: ['`tls` of the listener allows a TLS version and a cipher that the client offers.'],
  },
  {
    name: 'a client that does not trust the certificate of the listener',
    config: secured(),
    async send(scene) {
      const unknownAuthority = Buffer.from([0x15, 3, 3, 0, 2, 2, 48])
      await sent(Buffer.concat([await helloFor('a.test'), unknownAuthority]))(scene)
    },
    code: 'tls_client_refused',
    at: 'tls:',
    passes: 'the client trusts the certificate of the listener.',
    alsoPass: ['the listener presents a certificate that clients trust.'],
  },
  {
    name: 'HTTP where TLS is spoken',
    config: secured(),
    send: sent('GET / HTTP/1.1\r\nhost: a.test\r\n\r\n'),
    code: 'no_tls',
    at: null,
    passes: 'the client speaks TLS on this port (`https://`).',
  },
  {
    name: 'a handshake that never ends',
    config: secured(undefined, { tls: { handshakeTimeout: '100ms' } }),
    send: sent('\x16\x03\x01'),
    code: 'tls_timeout',
    at: null,
    passes: 'the client completes the handshake within `handshakeTimeout`.',
  },
  {
    name: 'no PROXY header where there must be one',
    config: ({ origin }) =>
      httpConfig([routeTo(origin)], { frontend: { proxyProtocol: { version: 'V1', mode: 'Strict' } } }),
    send: sent('GET / HTTP/1.1\r\nhost: a\r\n\r\n'),
    code: 'bad_proxy_header',
    at: 'proxyProtocol',
    passes: 'the proxy in front of the gateway sends a PROXY header.',
    alsoPass: ['`frontend.proxyProtocol` is not set, or its `mode` is Optional.'],
  },
  {
    name: 'a datagram of an address that may not send any',
    config: () => ({
      frontend: { networkAuthorization: { rules: [{ deny: 'source.address == "127.0.0.1"' }] } },
      ...datagrams('127.0.0.1:1'),
    }),
    send: datagram,
    code: 'deny_rule_true',
    at: 'deny: source.address',
    passes: 'source.address is not "127.0.0.1" (it is "127.0.0.1").',
    alsoPass: ['the rule is changed.'],
  },
  {
    name: 'a datagram that would open one session too many',
    config: async ({ t }) => ({
      frontend: { udp: { maxSessions: 1 } },
      ...datagrams((await useUdpServer(t)).host),
    }),
    async send(scene) {
      await (await UdpClient.open(scene.t, scene.port)).ask('first')
      await datagram(scene)
    },
    code: 'max_sessions',
    at: 'maxSessions: 1',
    passes: 'another session of that kind has ended, so that there is room for this one.',
    alsoPass: ['`frontend.udp.maxSessions` is higher, or `frontend.udp.idleTimeout` is shorter.'],
    values: { 'frontend.udp.maxSessions': 1 },
  },
  {
    name: 'a datagram that its backend refuses',
    config: async () => datagrams(`127.0.0.1:${await closedUdpPort()}`),
    send: datagram,
    code: 'upstream_failure',
    at: 'host: 127.0.0.1',
    passes: /^127\.0\.0\.1:\d+ answers\.$/,
    says: /refused the datagram/,
  },
]
