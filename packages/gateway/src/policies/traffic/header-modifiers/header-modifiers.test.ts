import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../../testing/client.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

test('request headers are added, then set, then removed', async (t) => {
  const origin = await useOrigin(t)
  const headerModifiers = {
    request: {
      remove: ['x-gone', 'x-set-and-gone'],
      set: [
        { name: 'x-set', value: 'new' },
        { name: 'x-set-and-gone', value: '1' },
      ],
      add: [
        { name: 'x-add', value: 'two' },
        { name: 'x-set', value: 'lost' },
      ],
    },
  }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { headerModifiers })]))
  await request(gateway.port(), { headers: { 'X-Gone': '1', 'X-Set': 'old', 'x-add': 'one' } })
  const { headers } = origin.seen[0]!
  assert.equal(headers['x-add'], 'one, two')
  assert.equal(headers['x-set'], 'new')
  assert.equal(headers['x-gone'], undefined)
  assert.equal(headers['x-set-and-gone'], undefined)
})

test('setting host on a request names the authority that the backend sees', async (t) => {
  const origin = await useOrigin(t)
  const headerModifiers = { request: { set: [{ name: 'Host', value: 'inside.test:81' }] } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { headerModifiers })]))
  await request(gateway.port())
  const hosts = origin.seen[0]!.rawHeaders.filter(
    (_text, i, all) => i % 2 === 1 && all[i - 1]!.toLowerCase() === 'host',
  )
  assert.deepEqual(hosts, ['inside.test:81'])
})

test('host cannot be removed or doubled', async (t) => {
  const origin = await useOrigin(t)
  const headerModifiers = { request: { add: [{ name: 'host', value: 'second.test' }], remove: ['host'] } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { headerModifiers })]))
  await request(gateway.port())
  assert.equal(origin.seen[0]!.headers.host, 'test.example')
})

test('response headers of the backend are changed', async (t) => {
  const origin = await useOrigin(t, (_request, response) =>
    response.writeHead(200, { server: 'secret/1.0', 'x-set': 'old', 'x-add': 'one' }).end(),
  )
  const headerModifiers = {
    response: {
      add: [{ name: 'x-add', value: 'two' }],
      set: [{ name: 'x-set', value: 'new' }],
      remove: ['server'],
    },
  }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { headerModifiers })]))
  const { headers } = await request(gateway.port())
  assert.equal(headers['x-add'], 'one, two')
  assert.equal(headers['x-set'], 'new')
  assert.equal(headers.server, undefined)
})

test('responses that the gateway makes itself are changed too', async (t) => {
  const headerModifiers = { response: { set: [{ name: 'x-set', value: 'new' }] } }
  const gateway = await useGateway(t, httpConfig([{ policies: { headerModifiers }, backends: [] }]))
  const { status, headers } = await request(gateway.port())
  assert.equal(status, 500)
  assert.equal(headers['x-set'], 'new')
})

test('values outside ASCII leave as UTF-8', async (t) => {
  const origin = await useOrigin(t)
  const field = { name: 'x-city', value: 'Zürich' }
  const headerModifiers = { request: { set: [field] }, response: { set: [field] } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { headerModifiers })]))
  const { headers } = await request(gateway.port())
  assert.equal(Buffer.from(headers['x-city']!, 'latin1').toString(), 'Zürich')
  assert.equal(Buffer.from(String(origin.seen[0]!.headers['x-city']), 'latin1').toString(), 'Zürich')
})

test('headers that frame a message are refused when the config is loaded', async (t) => {
  const headerModifiers = { response: { set: [{ name: 'Content-Length', value: '3' }] } }
  await assert.rejects(useGateway(t, httpConfig([{ policies: { headerModifiers } }])), /frame a message/)
})
