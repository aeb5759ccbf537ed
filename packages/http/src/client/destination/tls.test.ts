import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp, type AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { connect, createServer, type Server, type TlsOptions } from 'node:tls'
import { createAuthority, type CertificateRequest } from '../../../../gateway/src/testing/certificates.ts'
import { createClientTls, type BackendTlsConfig } from './tls.ts'

const authority = createAuthority()
const strangers = createAuthority('Another CA')
const base = { caCertificateRefs: authority.cert }
let server: Server | null = null
after(() => server?.close())

describe('TLS to a backend', () => {
  it('sends and verifies the name of the destination', async () => {
    await serve({ names: ['api.example.com'] })
    assert.equal((await dial(base, 'api.example.com')).sni, 'api.example.com')
    await assert.rejects(dial(base, 'other.example.com'), /not for other\.example\.com/)
  })

  it('sends no name to an address, and verifies the address', async () => {
    await serve({ names: ['127.0.0.1'] })
    assert.equal((await dial(base, '127.0.0.1')).sni, false)
    await assert.rejects(dial(base, '127.0.0.2'), /not for 127\.0\.0\.2/)
    await serve({ names: ['::1'] })
    assert.equal((await dial(base, '::1')).sni, false)
  })

  it('verifies the same over a socket that is already there', async () => {
    await serve({ names: ['127.0.0.1'] })
    const over = async (host: string) => {
      const plain = connectTcp((server!.address() as AddressInfo).port, '127.0.0.1')
      const socket = connect({ ...made(base, host).connectOptions, socket: plain })
      await once(socket, 'secureConnect').finally(() => socket.destroy())
    }
    await over('127.0.0.1')
    await assert.rejects(over('127.0.0.2'), /not for 127\.0\.0\.2/)
    await assert.rejects(over('localhost'), /not for localhost/)
  })

  it('does not take the common name for a name', async () => {
    await serve({ commonName: 'api.example.com' })
    await assert.rejects(dial(base, 'api.example.com'), /not for/)
  })

  it('sends and verifies another name when sni is set', async () => {
    await serve({ names: ['inner.example.com'] })
    assert.equal((await dial({ ...base, sni: 'inner.example.com' }, '127.0.0.1')).sni, 'inner.example.com')
  })

  it('trusts the system alone unless certificates are given', async () => {
    await serve({ names: ['api.example.com'] })
    await assert.rejects(dial({}, 'api.example.com'))
    await assert.rejects(dial({ caCertificateRefs: strangers.cert }, 'api.example.com'))
    await dial({ caCertificateRefs: strangers.cert + authority.cert }, 'api.example.com')
  })

  it('refuses an expired certificate', async () => {
    await serve({ names: ['api.example.com'], validFromDays: -3, validToDays: -1 })
    await assert.rejects(dial(base, 'api.example.com'), /expired/)
  })

  it('skips all verification, or that of the name alone', async () => {
    await serve({ names: ['other.example.com'] })
    await dial({ ...base, insecureSkipVerify: 'Hostname' }, 'api.example.com')
    await assert.rejects(dial({ caCertificateRefs: strangers.cert, insecureSkipVerify: 'Hostname' }, 'api.example.com'))
    await dial({ caCertificateRefs: strangers.cert, insecureSkipVerify: 'All' }, 'api.example.com')
  })

  it('takes any of the listed alternative names instead of the destination', async () => {
    await serve({ names: ['*.example.com', '10.0.0.1', 'spiffe://cluster/ns/a', 'spiffe://x/, URI:spiffe://evil'] })
    const verify = (...names: string[]) => dial({ ...base, verifySubjectAltNames: names }, 'destination.test')
    assert.equal((await verify('no.test', 'a.example.com')).sni, 'destination.test')
    await verify('10.0.0.1')
    await verify('spiffe://cluster/ns/a')
    await assert.rejects(verify('spiffe://cluster/ns/b', 'example.com', '10.0.0.2'), /not for/)
    await assert.rejects(verify('spiffe://evil'), /not for/)
    await assert.rejects(verify('spiffe://cluster/ns'), /not for/)
  })

  it('shows its own certificate, and trusts the authority that came with it', async () => {
    await serve({ names: ['api.example.com'] }, { requestCert: true, rejectUnauthorized: true, ca: authority.cert })
    const own = authority.issue({ commonName: 'gateway' })
    assert.equal((await dial({ ...base, mtlsCertificateRef: own }, 'api.example.com')).client, true)
    const withAuthority = { mtlsCertificateRef: { ...own, ca: authority.cert } }
    assert.equal((await dial(withAuthority, 'api.example.com')).client, true)
    await assert.rejects(dial({ ...withAuthority, caCertificateRefs: strangers.cert }, 'api.example.com'))
    assert.equal(await dial(base, 'api.example.com').catch(() => null), null)
  })

  it('offers the configured protocols, else those of the caller', async () => {
    await serve({ names: ['a.test'] }, { ALPNProtocols: ['h2', 'http/1.1', 'custom'] })
    assert.equal((await dial(base, 'a.test')).alpn, 'h2')
    assert.equal((await dial(base, 'a.test', ['http/1.1'])).alpn, 'http/1.1')
    assert.equal((await dial({ ...base, alpnProtocols: ['custom'] }, 'a.test', ['http/1.1'])).alpn, 'custom')
  })

  it('offers the configured key exchange groups alone', async () => {
    await serve({ names: ['a.test'] }, { ecdhCurve: 'X25519MLKEM768' })
    await dial({ ...base, keyExchangeGroups: ['X25519_MLKEM768', 'P-256'] }, 'a.test')
    await dial(base, 'a.test')
    await assert.rejects(dial({ ...base, keyExchangeGroups: ['X25519', 'P-256', 'P-384'] }, 'a.test'))
    await serve({ names: ['a.test'] }, { ecdhCurve: 'P-384' })
    await dial({ ...base, keyExchangeGroups: ['X25519_MLKEM768', 'X25519', 'P-384'] }, 'a.test')
  })
})

describe('TLS settings of a backend', () => {
  it('have a key that changes with everything that matters', () => {
    const own = authority.issue()
    const keys = [
      keyOf({}, 'a.test'),
      keyOf({}, 'b.test'),
      keyOf({ sni: 'c.test' }, 'a.test'),
      keyOf(base, 'a.test'),
      keyOf({ ...base, mtlsCertificateRef: own }, 'a.test'),
      keyOf({ insecureSkipVerify: 'All' }, 'a.test'),
      keyOf({ verifySubjectAltNames: ['x.test'] }, 'a.test'),
      keyOf({ alpnProtocols: ['h2'] }, 'a.test'),
      keyOf({ keyExchangeGroups: ['X25519'] }, 'a.test'),
    ]
    assert.equal(new Set(keys).size, keys.length)
    assert.equal(keyOf({ ...base }, 'a.test'), keys[3])
  })

  it('share a secure context between hosts', () => {
    const contexts = ['a.test', 'b.test'].map((host) => made(base, host).connectOptions.secureContext)
    assert.equal(contexts[0], contexts[1])
  })

  it('are a problem when the key does not fit or a text is no PEM', () => {
    const { cert } = authority.issue()
    assert.ok('problem' in createClientTls({ mtlsCertificateRef: { cert, key: authority.key } }, 'a.test'))
    assert.ok('problem' in createClientTls({ mtlsCertificateRef: { cert: 'x', key: 'y' } }, 'a.test'))
    assert.ok('problem' in createClientTls({ caCertificateRefs: 'nonsense' }, 'a.test'))
  })
})

/** Replaces the backend by a backend with another certificate and other options. */
async function serve(request: CertificateRequest, options: TlsOptions = {}): Promise<void> {
  server?.close()
  server = createServer({ ALPNProtocols: ['h2', 'http/1.1'], ...authority.issue(request), ...options }, (socket) => {
    socket.on('error', () => {})
    socket.end(JSON.stringify({ sni: socket.servername, alpn: socket.alpnProtocol, client: socket.authorized }))
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
}

async function dial(config: BackendTlsConfig, host: string, offer?: string[]) {
  const { connectOptions } = made(config, host, offer)
  const socket = connect({ ...connectOptions, host: '127.0.0.1', port: (server!.address() as AddressInfo).port })
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  await once(socket, 'end')
  socket.destroy()
  return JSON.parse(text) as { sni: string | false; alpn: string | false; client: boolean }
}

function made(...args: Parameters<typeof createClientTls>) {
  const result = createClientTls(...args)
  assert.ok('tls' in result, JSON.stringify(result))
  return result.tls
}

function keyOf(config: BackendTlsConfig, host: string): string {
  return made(config, host).key
}
