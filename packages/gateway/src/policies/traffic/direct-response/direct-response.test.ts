import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../../testing/client.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

test('the gateway answers by itself and calls no backend', async (t) => {
  const origin = await useOrigin(t)
  const directResponse = { status: 503, body: 'back at noon', headers: [{ name: 'retry-after', value: '3600' }] }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { directResponse })]))
  const { status, headers, body } = await request(gateway.port())
  assert.equal(status, 503)
  assert.equal(body, 'back at noon')
  assert.equal(headers['retry-after'], '3600')
  assert.equal(headers['content-length'], '12')
  assert.equal(headers['content-type'], undefined)
  assert.equal(origin.seen.length, 0)
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.reason, 'DirectResponse')
})

test('without a body the answer is empty, and each request gets its own headers', async (t) => {
  const policies = {
    directResponse: { status: 200, headers: [{ name: 'x-a', value: '1' }] },
    headerModifiers: { response: { add: [{ name: 'x-b', value: '2' }] } },
  }
  const gateway = await useGateway(t, httpConfig([{ policies }]))
  for (let i = 0; i < 3; i++) {
    const { headers, body } = await request(gateway.port())
    assert.equal(body, '')
    assert.equal(headers['x-b'], '2')
    assert.equal(headers['x-a'], '1')
  }
})

test('HEAD gets no body', async (t) => {
  const gateway = await useGateway(t, httpConfig([{ policies: { directResponse: { status: 200, body: 'hello' } } }]))
  const { status, body } = await request(gateway.port(), { method: 'HEAD' })
  assert.equal(status, 200)
  assert.equal(body, '')
})

test('an answer needs no reading of the request body', async (t) => {
  const gateway = await useGateway(t, httpConfig([{ policies: { directResponse: { status: 200, body: 'hello' } } }]))
  const { status, headers } = await request(gateway.port(), { method: 'POST', body: 'x'.repeat(100_000) })
  assert.equal(status, 200)
  assert.equal(headers.connection, 'close')
})
