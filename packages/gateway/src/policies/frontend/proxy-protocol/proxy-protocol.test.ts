import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { exchangeRaw } from '../../../testing/client.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'
import { requestTls } from '../../../testing/tls-client.ts'
import { useTlsFiles } from '../../../testing/tls-files.ts'

const ASK = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
const V1 = 'PROXY TCP4 203.0.113.7 203.0.113.9 4321 80\r\n'
const SIGNATURE = '\r\n\r\n\0\r\nQUIT\n'
/** PROXY, IPv4 over TCP, 12 bytes: source, destination, their ports. */
const V2 = `${SIGNATURE}\x21\x11\x00\x0c\xcb\x00\x71\x07\xcb\x00\x71\x09\x10\xe1\x00\x50`
/** LOCAL: a health check of the balancer itself. */
const V2_LOCAL = `${SIGNATURE}\x20\x00\x00\x00`

async function setUp(t: TestContext, proxyProtocol: object) {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin)], { frontend: { proxyProtocol } }))
  const send = (text: string) => exchangeRaw(gateway.port(), Buffer.from(text, 'latin1'), () => false)
  return { origin, gateway, send }
}

test('the address of the header is the client, in the access log and for the backend', async (t) => {
  for (const [version, header] of [
    ['V1', V1],
    ['V2', V2],
  ] as const) {
    const { origin, gateway, send } = await setUp(t, { version })
    assert.match(await send(header + ASK), /^HTTP\/1.1 200/)
    assert.equal(origin.seen[0]!.headers['x-forwarded-for'], '203.0.113.7')
    await gateway.finished(1)
    assert.equal(gateway.records[0]!.srcAddr, '203.0.113.7:4321')
  }
})

test('Strict closes a connection without a header, or with one of another version', async (t) => {
  const { origin, send } = await setUp(t, {})
  assert.equal(await send(ASK), '')
  assert.equal(await send(V1 + ASK), '')
  assert.equal(origin.seen.length, 0)
})

test('Optional serves both', async (t) => {
  const { origin, send } = await setUp(t, { version: 'All', mode: 'Optional' })
  for (const header of [V1, V2, '']) assert.match(await send(header + ASK), /^HTTP\/1.1 200/)
  assert.deepEqual(
    origin.seen.map((seen) => seen.headers['x-forwarded-for']),
    ['203.0.113.7', '203.0.113.7', '127.0.0.1'],
  )
})

test('a LOCAL connection keeps its own address', async (t) => {
  const { origin, send } = await setUp(t, {})
  assert.match(await send(V2_LOCAL + ASK), /^HTTP\/1.1 200/)
  assert.equal(origin.seen[0]!.headers['x-forwarded-for'], '127.0.0.1')
})

test('a header may come in pieces', async (t) => {
  const { gateway, origin } = await setUp(t, { version: 'V1' })
  const client = connect({ port: gateway.port(), host: '127.0.0.1', noDelay: true })
  for (const piece of (V1 + ASK).match(/[^]{1,7}/g)!) {
    client.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  let text = ''
  for await (const chunk of client) text += String(chunk)
  assert.match(text, /^HTTP\/1.1 200/)
  assert.equal(origin.seen[0]!.headers['x-forwarded-for'], '203.0.113.7')
})

test('a trusted proxy is judged by its own address, not by the one it brings', async (t) => {
  const origin = await useOrigin(t)
  const forwarded = async (trustedProxies: string[]) => {
    const frontend = { proxyProtocol: { version: 'V1' }, forwardedHeaders: { trustedProxies } }
    const gateway = await useGateway(t, httpConfig([routeTo(origin)], { frontend }))
    const lying = ASK.replace('\r\n\r\n', '\r\nx-forwarded-for: 1.2.3.4\r\n\r\n')
    await exchangeRaw(gateway.port(), V1 + lying, () => false)
    return origin.seen.at(-1)!.headers['x-forwarded-for']
  }
  assert.equal(await forwarded(['203.0.113.0/24']), '203.0.113.7')
  assert.equal(await forwarded(['127.0.0.1']), '1.2.3.4, 203.0.113.7')
})

test('the header comes before TLS', async (t) => {
  const { dir, authority } = useTlsFiles(t, ['a.test'])
  const origin = await useOrigin(t)
  const listener = {
    protocol: 'HTTPS',
    tls: { cert: 'a.test.crt', key: 'a.test.key' },
    routes: [routeTo(origin)],
  }
  const config = { frontend: { proxyProtocol: {} }, binds: [{ port: 0, listeners: [listener] }] }
  const gateway = await useGateway(t, config, { dir })
  const plain = connect(gateway.port(), '127.0.0.1')
  plain.write(Buffer.from(V2, 'latin1'))
  const { status } = await requestTls(gateway.port(), { socket: plain, ca: authority.cert, servername: 'a.test' })
  assert.equal(status, 200)
  assert.equal(origin.seen[0]!.headers['x-forwarded-for'], '203.0.113.7')
  assert.equal(origin.seen[0]!.headers['x-forwarded-proto'], 'https')
})
