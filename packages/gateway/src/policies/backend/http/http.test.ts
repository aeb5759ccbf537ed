import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchangeRaw, request } from '../../../testing/client.ts'
import { FakeTime } from '../../../testing/fake-time.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'

test('a try whose response head is late gives 504', async (t) => {
  const origin = await useOrigin(t, () => {})
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { backend: { http: { requestTimeout: '60ms' } } })]))
  const { status, body } = await request(gateway.port())
  assert.equal(status, 504)
  assert.equal(body, 'upstream call timeout')
})

test('the body may take longer than the limit', async (t) => {
  let end = (): void => {}
  const origin = await useOrigin(t, (_request, response) => {
    end = () => void response.end('end')
    response.writeHead(200)
    response.write('begin')
  })
  const time = new FakeTime()
  const config = httpConfig([routeTo(origin, { backend: { http: { requestTimeout: '400ms' } } })])
  const gateway = await useGateway(t, config, { deadlines: time.deadlines })
  const text = await exchangeRaw(gateway.port(), 'GET / HTTP/1.1\r\nhost: a\r\n\r\n', (received) => {
    if (received.includes('begin')) void time.advance(1_000).then(end)
    return received.endsWith('0\r\n\r\n')
  })
  assert.match(text, /^HTTP\/1.1 200 [^]*begin[^]*end\r\n0\r\n\r\n$/)
})

test('each try has the limit for itself', async (t) => {
  let tries = 0
  const origin = await useOrigin(t, (_request, response) => {
    if (++tries === 3) response.end('third')
  })
  const policies = { retry: { attempts: 2 }, backend: { http: { requestTimeout: '300ms' } } }
  const time = new FakeTime()
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]), { deadlines: time.deadlines })
  const answer = request(gateway.port())
  for (const count of [1, 2]) {
    await until(() => tries === count)
    await time.advance(1_000)
  }
  const { status, body } = await answer
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
