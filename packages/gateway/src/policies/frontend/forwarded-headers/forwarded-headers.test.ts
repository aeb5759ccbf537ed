import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { test, type TestContext } from 'node:test'
import { sendRaw } from '../../../testing/client.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

/** The forwarding headers that a backend sees, as `name: value`. */
async function seen(t: TestContext, forwardedHeaders: object | null, lines: string): Promise<string[]> {
  const origin = await useOrigin(t)
  const frontend = forwardedHeaders === null ? {} : { forwardedHeaders }
  const gateway = await useGateway(t, httpConfig([routeTo(origin)], { frontend }))
  const { status } = await sendRaw(gateway.port(), `GET / HTTP/1.1\r\nhost: a.test:8080\r\n${lines}\r\n`)
  assert.equal(status, 200)
  const raw = origin.seen[0]!.rawHeaders
  const fields = raw.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${raw[i + 1]}`] : []))
  return fields.filter((field) => /^(x.forwarded|x.real|forwarded)/i.test(field))
}

const OURS = ['x-forwarded-for: 127.0.0.1', 'x-forwarded-proto: http', 'x-forwarded-host: a.test:8080']

test('by default backends see what the gateway saw', async (t) => {
  assert.deepEqual(await seen(t, null, ''), OURS)
})

test('forwarded headers of an untrusted client are dropped, in every spelling', async (t) => {
  const lies = [
    'X-Forwarded-For: 1.2.3.4',
    'x-forwarded-for: 5.6.7.8',
    'X_Forwarded_For: 1.2.3.4',
    'x.forwarded.for: 1.2.3.4',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Host: bank.test',
    'X-Forwarded-Port: 443',
    'X-Forwarded-Prefix: /admin',
    'X-Real-IP: 1.2.3.4',
    'x_real_ip: 1.2.3.4',
    'Forwarded: for=1.2.3.4',
  ]
  assert.deepEqual(await seen(t, null, lies.map((line) => `${line}\r\n`).join('')), OURS)
})

test('a client cannot have our headers stripped by naming them in Connection', async (t) => {
  const line = 'Connection: x-forwarded-for, X-Forwarded-Proto, x-forwarded-host\r\n'
  assert.deepEqual(await seen(t, null, line), OURS)
})

test('a trusted peer is believed and extended', async (t) => {
  const lines = 'X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-For: 5.6.7.8\r\nX-Forwarded-Proto: https\r\n'
  assert.deepEqual(await seen(t, { trustedProxies: ['127.0.0.0/8'] }, lines), [
    'X-Forwarded-Proto: https',
    'x-forwarded-for: 1.2.3.4, 5.6.7.8, 127.0.0.1',
    'x-forwarded-host: a.test:8080',
  ])
})

test('a peer outside the trusted ranges is not believed', async (t) => {
  const lines = 'X-Forwarded-For: 1.2.3.4\r\n'
  assert.deepEqual(await seen(t, { trustedProxies: ['10.0.0.0/8', 'fd00::/8', '127.0.0.2'] }, lines), OURS)
})

test('Append extends what any peer says', async (t) => {
  assert.deepEqual(await seen(t, { mode: 'Append' }, 'X-Forwarded-For: 1.2.3.4\r\n'), [
    'x-forwarded-for: 1.2.3.4, 127.0.0.1',
    'x-forwarded-proto: http',
    'x-forwarded-host: a.test:8080',
  ])
  assert.deepEqual(await seen(t, { mode: 'Append' }, ''), OURS)
})

test('Preserve leaves everything as it came', async (t) => {
  assert.deepEqual(await seen(t, { mode: 'Preserve' }, ''), [])
  assert.deepEqual(await seen(t, { mode: 'Preserve' }, 'X-Forwarded-For: 1.2.3.4\r\n'), ['X-Forwarded-For: 1.2.3.4'])
})

test('HTTP/2 clients are believed no more than others', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { backend: { http: { version: 'HTTP1' } } })]))
  const session = connect(`http://127.0.0.1:${gateway.port()}`)
  t.after(() => session.destroy())
  const lies = {
    'x-forwarded-for': '1.2.3.4',
    x_forwarded_for: '1.2.3.4',
    'x.real.ip': '1.2.3.4',
    forwarded: 'for=1.2.3.4',
  }
  const stream = session.request({ ':path': '/', ':authority': 'a.test', ...lies })
  await once(stream.resume(), 'end')
  const { headers } = origin.seen[0]!
  assert.equal(headers['x-forwarded-for'], '127.0.0.1')
  assert.equal(headers['x-forwarded-host'], 'a.test')
  assert.deepEqual(
    [headers['x_forwarded_for'], headers['x.real.ip'], headers.forwarded],
    [undefined, undefined, undefined],
  )
})
