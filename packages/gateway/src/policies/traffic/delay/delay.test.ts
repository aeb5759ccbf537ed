import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { loadConfig } from '../../../sources/file.ts'
import { request } from '../../../testing/client.ts'
import { FakeTime } from '../../../testing/fake-time.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'

test('a request waits before the backend gets it, and log, record and metric show the delay', async (t) => {
  const origin = await useOrigin(t)
  const delay = { time: '40ms', jitter: '20ms' }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { delay })]))
  const startedAt = performance.now()
  assert.equal((await request(gateway.port())).status, 200)
  assert.ok(performance.now() - startedAt >= 39)
  await gateway.finished(1)
  const [what = ''] = gateway.recorded()[0]?.rehearsal ?? []
  const milliseconds = Number(/^delay ([0-9]+)ms$/.exec(what)?.[1])
  assert.ok(milliseconds >= 40 && milliseconds <= 60, what)
  assert.deepEqual(gateway.records[0]?.rehearsal, [what])
  assert.match(gateway.metrics(), /portico_rehearsals_total\{policy="[^"]+",kind="delay"\} 1/)
})

test('the percentage chooses the requests that wait', async (t) => {
  const origin = await useOrigin(t)
  let number = 0.299
  const delay = { time: '1ms', percentage: 30 }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { delay })]), { random: () => number })
  await request(gateway.port())
  number = 0.3
  await request(gateway.port())
  await gateway.finished(2)
  assert.deepEqual(
    gateway.records.map(({ rehearsal }) => rehearsal),
    [['delay 1ms'], null],
  )
})

test('a condition chooses the requests that wait', async (t) => {
  const origin = await useOrigin(t)
  const delay = { conditional: [{ condition: 'request.path == "/slow"', policy: { time: '1ms' } }] }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { delay })]))
  await request(gateway.port(), { path: '/fast' })
  await request(gateway.port(), { path: '/slow' })
  await gateway.finished(2)
  assert.deepEqual(
    gateway.records.map(({ rehearsal }) => rehearsal),
    [null, ['delay 1ms']],
  )
})

test('the wait ends when the client leaves, and the backend is not called', async (t) => {
  const origin = await useOrigin(t)
  const time = new FakeTime()
  const config = httpConfig([routeTo(origin, { delay: { time: '1m' } })])
  const gateway = await useGateway(t, config, { deadlines: time.deadlines })
  const client = connect(gateway.port(), '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await until(() => gateway.metrics().includes('kind="delay"} 1'))
  client.resetAndDestroy()
  await gateway.finished(1)
  assert.equal(gateway.records[0]?.reason, 'ClientGone')
  await time.advance(70_000)
  assert.deepEqual([origin.seen.length, gateway.records.length, gateway.bugs], [0, 1, []])
})

test('a time beyond the limits does not load', () => {
  for (const delay of [{ time: '61s' }, { time: '0s' }, { jitter: '1s' }, { time: '1s', percentage: 101 }]) {
    const config = httpConfig([{ policies: { delay } }])
    assert.equal(
      loadConfig(JSON.stringify(config), { file: 'test', dir: '.', env: {} }).ok,
      false,
      JSON.stringify(delay),
    )
  }
})
