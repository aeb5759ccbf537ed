import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { test } from 'node:test'
import { exchangeRaw, request } from '../../../testing/client.ts'
import { FakeTime } from '../../../testing/fake-time.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'

const ASK = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

test('more header lines than allowed give 431', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin)], { frontend: { http: { http1MaxHeaders: 5 } } }))
  const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, '1']))
  assert.equal((await request(gateway.port(), { headers: headers(3) })).status, 200)
  assert.equal((await request(gateway.port(), { headers: headers(4) })).status, 431)
  assert.equal(origin.seen.length, 1)
})

test('a connection that stays silent is closed, before and between requests', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin)], { frontend: { http: { http1IdleTimeout: '1s' } } }))
  const began = performance.now()
  const texts = await Promise.all([
    exchangeRaw(gateway.port(), '', () => false),
    exchangeRaw(gateway.port(), ASK, () => false),
  ])
  assert.equal(texts[0], '')
  assert.match(texts[1], /^HTTP\/1.1 200/)
  assert.ok(performance.now() - began >= 950)
})

test('a connection at the end of its life finishes its request and says so', async (t) => {
  let answer = (): void => {}
  const origin = await useOrigin(t, (_request, response) => {
    answer = () => void response.end('done')
  })
  const time = new FakeTime()
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin)], { frontend: { http: { maxConnectionDuration: '1s' } } }),
    { deadlines: time.deadlines },
  )
  const client = connect(gateway.port(), '127.0.0.1')
  client.write(ASK)
  await until(() => origin.seen.length === 1)
  await time.advance(2_000)
  answer()
  let text = ''
  for await (const chunk of client) text += String(chunk)
  assert.match(text, /^HTTP\/1.1 200 [^]*connection: close\r\n[^]*done$/)
})

test('an idle connection ends when its time is over', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin)], { frontend: { http: { maxConnectionDuration: '1s' } } }),
  )
  const text = await exchangeRaw(gateway.port(), ASK, () => false)
  assert.match(text, /^HTTP\/1.1 200/)
})

test('HTTP/2 clients are told the limits of the config', async (t) => {
  const origin = await useOrigin(t)
  const http = { http2WindowSize: 100_000, http2FrameSize: 20_000, http2MaxHeaderSize: 10_000 }
  const gateway = await useGateway(t, httpConfig([routeTo(origin)], { frontend: { http } }))
  const session = connectHttp2(`http://127.0.0.1:${gateway.port()}`)
  t.after(() => session.destroy())
  const [settings] = (await once(session, 'remoteSettings')) as [Record<string, number>]
  assert.equal(settings.initialWindowSize, 100_000)
  assert.equal(settings.maxFrameSize, 20_000)
  assert.equal(settings.maxHeaderListSize, 10_000)
})
