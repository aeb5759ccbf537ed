import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import type { ConnectionInfo } from '@portico/http'
import { loadConfig } from '../../../sources/file.ts'
import { printProblem } from '../../../sources/print-problems.ts'
import { exchangeRaw, request } from '../../../testing/client.ts'
import { KeepAliveClient } from '../../../testing/keep-alive-client.ts'
import { eventually, metric, useConfigFile, useProgram } from '../../../testing/process.ts'
import { httpConfig, until, useGateway, useTcpServer } from '../../../testing/scene.ts'
import { requestTls } from '../../../testing/tls-client.ts'
import { useTlsFiles } from '../../../testing/tls-files.ts'
import { networkAuthorization } from './admit.ts'
import type { NetworkAuthorizationConfig } from './schema.ts'

const hello = { policies: { directResponse: { status: 200, body: 'hello' } } }
const GET = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
const onlyFirst = 'cidr("127.0.0.1/32").containsIP(source.address)'

const rules = (...list: (string | object)[]) => ({ networkAuthorization: { rules: list } })

test('an allow rule lets its range in, and everybody else gets no byte', async (t) => {
  const gateway = await useGateway(t, httpConfig([hello], { frontend: rules(onlyFirst) }))
  assert.equal((await request(gateway.port())).body, 'hello')
  assert.equal(await received(gateway.port(), { from: '127.0.0.2', bytes: GET }), '')
  assert.equal(await received(gateway.port(), { from: '127.0.0.2' }), '', 'closed without having asked for anything')
  assert.deepEqual(gateway.refusals, ['network_authorization', 'network_authorization'])
  assert.equal(gateway.records.length, 1, 'a connection that was not let in is no request')
  await until(() => gateway.connectionCount() === 0)
})

test('a deny rule keeps its range out', async (t) => {
  const frontend = rules({ deny: 'cidr("127.0.0.2/31").containsIP(source.address)' })
  const gateway = await useGateway(t, httpConfig([hello], { frontend }))
  for (const from of ['127.0.0.2', '127.0.0.3']) assert.equal(await received(gateway.port(), { from, bytes: GET }), '')
  for (const from of ['127.0.0.1', '127.0.0.4']) {
    assert.match(await received(gateway.port(), { from, bytes: GET }), /^HTTP\/1\.1 200 /)
  }
})

test('require rules must all hold, in the form of the custom resource too', async (t) => {
  const policy = { matchExpressions: ['source.port > 0', 'source.address.startsWith("127.0.0.1")'] }
  const frontend = { networkAuthorization: { action: 'Require', policy } }
  const gateway = await useGateway(t, httpConfig([hello], { frontend }))
  assert.equal((await request(gateway.port())).status, 200)
  assert.equal(await received(gateway.port(), { from: '127.0.0.2', bytes: GET }), '')
})

test('a deny rule that fails denies, an allow rule that fails does not allow', async (t) => {
  const failing = 'source.port / (source.port - source.port) == 0'
  for (const rule of [{ deny: failing }, failing, { require: failing }]) {
    const gateway = await useGateway(t, httpConfig([hello], { frontend: rules(rule) }))
    assert.equal(await received(gateway.port(), { bytes: GET }), '')
  }
})

test('behind a PROXY header the address is the one it brings, and the raw one is the peer', async (t) => {
  const frontend = {
    proxyProtocol: { version: 'V1', mode: 'Optional' },
    ...rules(
      { require: 'cidr("127.0.0.0/8").containsIP(source.rawAddress) && source.rawPort != 4321' },
      'cidr("203.0.113.0/28").containsIP(source.address) && source.port == 4321',
    ),
  }
  const gateway = await useGateway(t, httpConfig([hello], { frontend }))
  const from = (address: string, port: number) => `PROXY TCP4 ${address} 203.0.113.99 ${port} 80\r\n${GET}`
  const answer = (bytes: string) => received(gateway.port(), { bytes })
  assert.match(await answer(from('203.0.113.7', 4321)), /^HTTP\/1\.1 200 /)
  assert.equal(await answer(from('203.0.113.77', 4321)), '')
  assert.equal(await answer(from('203.0.113.7', 4322)), '')
  assert.equal(await answer(GET), '', 'without a header the address is the peer')
  assert.deepEqual(new Set(gateway.refusals), new Set(['network_authorization']))
})

test('on TLS nothing is said, not even a ServerHello or an alert', async (t) => {
  const { dir, authority } = useTlsFiles(t, ['a.test'])
  const listener = { protocol: 'HTTPS', tls: { cert: 'a.test.crt', key: 'a.test.key' }, routes: [hello] }
  const config = { frontend: rules(onlyFirst), binds: [{ port: 0, listeners: [listener] }] }
  const gateway = await useGateway(t, config, { dir })
  assert.equal((await requestTls(gateway.port(), { ca: authority.cert, servername: 'a.test' })).body, 'hello')
  const socket = await open(gateway.port(), '127.0.0.2')
  const secure = connectTls({ socket, ca: authority.cert, servername: 'a.test' })
  secure.on('error', () => {})
  await closed(socket)
  assert.equal(socket.bytesRead, 0)
  assert.deepEqual(gateway.refusals, ['network_authorization'])
})

for (const protocol of ['TCP', 'TLS']) {
  test(`the backend of a ${protocol} listener is not dialled for whoever is kept out`, async (t) => {
    const { authority } = useTlsFiles(t, [])
    const backend = await useTcpServer(t, (socket) => socket.end('welcome'))
    const listener = { protocol, routes: [{ backends: [{ host: backend.host }] }] }
    const gateway = await useGateway(t, { frontend: rules(onlyFirst), binds: [{ port: 0, listeners: [listener] }] })
    const socket = await open(gateway.port(), '127.0.0.2')
    if (protocol === 'TLS') connectTls({ socket, ca: authority.cert, servername: 'a.test' }).on('error', () => {})
    else socket.write('hello')
    await closed(socket)
    assert.equal(backend.sockets.length, 0)
    assert.equal(gateway.records.length, 0)
    if (protocol === 'TCP') assert.equal(await exchangeRaw(gateway.port(), 'x', () => false), 'welcome')
  })
}

test('rules of several attachments count together', () => {
  const admits = (address: string, ...configs: NetworkAuthorizationConfig[]) =>
    networkAuthorization(configs)!.allows(client(address))
  const all: NetworkAuthorizationConfig[] = [
    { policy: { matchExpressions: ['cidr("10.0.0.0/8").containsIP(source.address)'] } },
    { rules: [{ mode: 'deny', expression: 'source.address == "10.0.0.9"' }] },
    { action: 'Require', policy: { matchExpressions: ['source.rawPort == 1'] } },
    { rules: [{ mode: 'allow', expression: 'source.address == "::1"' }] },
  ]
  assert.deepEqual(
    ['10.1.2.3', '::1', '10.0.0.9', '11.0.0.1'].map((address) => admits(address, ...all)),
    [true, true, false, false],
  )
  assert.equal(networkAuthorization([]), null, 'without rules there is nothing to ask')
})

test('a policy that targets the gateway adds its rules to those of the file', async (t) => {
  const targeted = (name: string, frontend: object) => ({
    name,
    targetRefs: [{ kind: 'Gateway', name: 'default' }],
    frontend,
  })
  const gateway = await useGateway(t, {
    policies: [
      targeted('blocked', rules({ deny: 'source.address == "127.0.0.2"' })),
      targeted('more', rules({ deny: 'source.address == "127.0.0.3"' })),
    ],
    ...httpConfig([hello], { frontend: rules('cidr("127.0.0.0/29").containsIP(source.address)') }),
  })
  for (const from of ['127.0.0.2', '127.0.0.3', '127.0.0.9']) {
    assert.equal(await received(gateway.port(), { from, bytes: GET }), '', from)
  }
  assert.match(await received(gateway.port(), { from: '127.0.0.4', bytes: GET }), /^HTTP\/1\.1 200 /)
})

test('a reload holds for new connections; those that are in stay', async (t) => {
  const config = (frontend: object) => ({ ...httpConfig([hello], { frontend }) })
  const gateway = await useGateway(t, config({}))
  const early = new KeepAliveClient(gateway.port())
  t.after(() => early.close())
  assert.equal((await early.get('/')).body, 'hello')
  await gateway.reload(JSON.stringify(config(rules({ deny: 'source.address == "127.0.0.1"' }))))
  assert.equal(await received(gateway.port(), { bytes: GET }), '')
  assert.equal((await early.get('/')).body, 'hello')
  await gateway.reload(JSON.stringify(config({})))
  assert.equal((await request(gateway.port())).body, 'hello')
})

test('a rule about facts that a connection does not have is rejected at load', () => {
  const problems = (rule: unknown): string[] => {
    const config = { frontend: { networkAuthorization: { rules: [rule] } } }
    const loaded = loadConfig(JSON.stringify(config), { file: 'a.yaml', dir: '.', env: {} })
    return loaded.ok ? [] : loaded.problems.map(printProblem)
  }
  assert.deepEqual(problems('source.address == "::1"'), [])
  assert.match(problems('request.path == "/"').join('\n'), /request/)
  assert.match(problems({ deny: 'source.adress == "::1"' }).join('\n'), /did you mean.*address/)
  assert.match(problems('cidr("10.0.0.0/99").containsIP(source.address)').join('\n'), /10\.0\.0\.0\/99|prefix|CIDR/)
})

test('workers count refused connections and tell of them at debug', async (t) => {
  const config = {
    frontend: rules({ deny: 'source.address == "127.0.0.2"' }),
    config: { workers: 2 },
    ...httpConfig([hello]),
  }
  const { file } = useConfigFile(t, config)
  const program = await useProgram(t, { args: ['-f', file], env: { LOG_LEVEL: 'info,worker=debug' } })
  assert.equal((await request(program.port())).body, 'hello')
  for (let i = 0; i < 4; i++) assert.equal(await received(program.port(), { from: '127.0.0.2', bytes: GET }), '')
  const name = 'portico_downstream_connections_refused_total'
  await eventually('all four are counted', async () => (await metric(program, name)) === 4)
  const text = await (await fetch(`${program.stats}/metrics`)).text()
  assert.match(text, /^portico_downstream_connections_refused_total\{.*,reason="network_authorization"\} /m)
  await program.logged(/\tdebug\tworker\trefused source=127\.0\.0\.2:\d+ status=0 code=network_authorization\n/)
})

async function open(port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** By an end or by a reset: which one depends on what had been sent. */
function closed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => (socket.destroyed ? resolve(null) : socket.once('close', resolve)))
}

/** Everything that comes until the gateway ends the connection. */
async function received(port: number, { from, bytes }: { from?: string; bytes?: string }): Promise<string> {
  const socket = await open(port, from)
  let text = ''
  socket.on('data', (chunk) => (text += String(chunk)))
  if (bytes !== undefined) socket.write(bytes)
  await closed(socket)
  return text
}

function client(address: string): ConnectionInfo {
  const ends = { destination: () => ({ address: '127.0.0.1', port: 2 }), principal: () => '' }
  return {
    address,
    port: 1,
    rawAddress: address,
    rawPort: 1,
    scheme: 'http',
    sni: '',
    handshake: '',
    source: `${address}:1`,
    ...ends,
  }
}
