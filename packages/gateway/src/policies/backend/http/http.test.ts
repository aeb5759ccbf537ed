import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../../testing/client.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

test('a try whose response head is late gives 504', async (t) => {
  const origin = await useOrigin(t, () => {})
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { backend: { http: { requestTimeout: '60ms' } } })]))
  const { status, body } = await request(gateway.port())
  assert.equal(status, 504)
  assert.equal(body, 'upstream call timeout')
})

test('the body may take longer than the limit', async (t) => {
  const origin = await useOrigin(t, (_request, response) => {
    response.writeHead(200)
    response.write('begin ')
    setTimeout(() => response.end('end'), 450)
  })
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { backend: { http: { requestTimeout: '400ms' } } })]))
  assert.equal((await request(gateway.port())).body, 'begin end')
})

test('each try has the limit for itself', async (t) => {
  let tries = 0
  const origin = await useOrigin(t, (_request, response) => {
    if (++tries === 3) response.end('third')
  })
  const policies = { retry: { attempts: 2 }, backend: { http: { requestTimeout: '300ms' } } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  const { status, body } = await request(gateway.port())
  assert.equal(status, 200)
  assert.equal(body, 'third')
})

test('the limit of the backend itself beats the one of the route', async (t) => {
  const origin = await useOrigin(t, () => {})
  const http = (requestTimeout: string) => ({ http: { requestTimeout } })
  const route = { policies: { backend: http('1h') }, backends: [{ host: origin.host, policies: http('50ms') }] }
  const gateway = await useGateway(t, httpConfig([route]))
  assert.equal((await request(gateway.port())).status, 504)
})
