import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { until, useGateway, useTcpServer } from '../../../testing/scene.ts'
import { UdpClient, useUdpServer } from '../../../testing/udp.ts'

const onlyFirst = 'source.address == "127.0.0.1"'
const rules = (...list: (string | object)[]) => ({ authorization: { rules: list } })

const tcp = (host: string, policies: object, more: object = {}) => ({
  ...more,
  binds: [{ port: 0, listeners: [{ protocol: 'TCP', routes: [{ name: 'db', policies, backends: [{ host }] }] }] }],
})

/** A policy for the whole gateway. */
const forAll = (traffic: object) => ({
  policies: [{ name: 'all', targetRefs: [{ kind: 'Gateway', name: 'default' }], traffic }],
})

/** Returns the bytes that a client with this address receives until the connection ends. */
async function received(port: number, from: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  let text = ''
  socket.on('error', () => {})
  socket.on('data', (bytes) => (text += bytes.toString()))
  await once(socket, 'close')
  return text
}

test('rules of a TCP route decide which clients its backend gets', async (t) => {
  const backend = await useTcpServer(t, (socket) => socket.end('welcome'))
  const gateway = await useGateway(t, tcp(backend.host, rules(onlyFirst)))
  assert.equal(await received(gateway.port(), '127.0.0.2'), '')
  assert.equal(backend.sockets.length, 0)
  await gateway.finished(1)
  assert.match(gateway.lines[0] ?? '', /route=db .*error="authorization failed" reason=Authorization/)
  assert.equal(await received(gateway.port(), '127.0.0.1'), 'welcome')
})

test('rules of the gateway are combined with those of a TCP route', async (t) => {
  const backend = await useTcpServer(t, (socket) => socket.end('welcome'))
  const deny = rules({ deny: 'source.address == "127.0.0.3" && proxy.route.name == "db"' })
  const gateway = await useGateway(t, tcp(backend.host, rules('source.address != "127.0.0.2"'), forAll(deny)))
  const answers = await Promise.all(
    ['127.0.0.1', '127.0.0.2', '127.0.0.3'].map((from) => received(gateway.port(), from)),
  )
  assert.deepEqual(answers, ['welcome', '', ''])
})

test('each phase must allow a connection', async (t) => {
  const backend = await useTcpServer(t, (socket) => socket.end('welcome'))
  const early = forAll({ phase: 'PreRouting', ...rules('source.address != "127.0.0.2"') })
  const gateway = await useGateway(t, tcp(backend.host, rules('source.address != "127.0.0.3"'), early))
  const answers = await Promise.all(
    ['127.0.0.1', '127.0.0.2', '127.0.0.3'].map((from) => received(gateway.port(), from)),
  )
  assert.deepEqual(answers, ['welcome', '', ''])
})

test('a rule about a request fails for a connection without one: it allows nothing, or denies', async (t) => {
  const backend = await useTcpServer(t, (socket) => socket.end('welcome'))
  const allows = async (...list: (string | object)[]) => {
    const gateway = await useGateway(t, tcp(backend.host, {}, forAll(rules(...list))))
    return (await received(gateway.port(), '127.0.0.1')) === 'welcome'
  }
  assert.equal(await allows('request.path == "/"'), false)
  assert.equal(await allows({ deny: 'request.path == "/"' }), false)
  assert.equal(await allows({ require: 'jwt.sub == "a"' }), false)
  assert.equal(await allows('request.path == "/"', onlyFirst), true, 'another rule may allow the connection')
})

test('other policies of the gateway do not apply to connections without HTTP', async (t) => {
  const backend = await useTcpServer(t, (socket) => socket.end('welcome'))
  const gateway = await useGateway(t, tcp(backend.host, {}, forAll({ csrf: {} })))
  assert.equal(await received(gateway.port(), '127.0.0.1'), 'welcome')
})

test('rules of a UDP route hold for new sessions, and end open ones after a reload', async (t) => {
  const echo = await useUdpServer(t)
  const udp = (policies: object) => ({
    binds: [{ port: 0, listeners: [{ protocol: 'UDP', routes: [{ policies, backends: [{ host: echo.host }] }] }] }],
  })
  const gateway = await useGateway(t, udp(rules({ deny: 'source.address == "127.0.0.2"' })))
  const denied = await UdpClient.open(t, gateway.port(), '127.0.0.2')
  denied.send('no')
  await gateway.finished(1)
  assert.match(gateway.lines[0] ?? '', /error="authorization failed" reason=Authorization/)
  const client = await UdpClient.open(t, gateway.port())
  assert.equal(await client.ask('yes'), 'yes')
  await gateway.reload(JSON.stringify(udp(rules({ deny: 'true' }))))
  client.send('no')
  await until(() => gateway.records.length >= 3)
  assert.deepEqual(echo.received, ['yes'])
})
