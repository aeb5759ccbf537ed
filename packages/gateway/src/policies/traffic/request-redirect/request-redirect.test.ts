import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import { httpConfig, pathPrefix, useGateway } from '../../../testing/scene.ts'

async function redirect(t: TestContext, requestRedirect: object, host = 'a.test', path = '/old/x?q=1') {
  const gateway = await useGateway(t, httpConfig([{ policies: { requestRedirect }, ...pathPrefix('/old') }]))
  const { status, headers, body } = await request(gateway.port(), { path, headers: { host } })
  assert.equal(body, '')
  return `${status} ${headers.location}`
}

test('nothing configured gives the same address, absolute', async (t) => {
  assert.equal(await redirect(t, {}), '302 http://a.test/old/x?q=1')
  assert.equal(await redirect(t, {}, 'a.test:8080'), '302 http://a.test:8080/old/x?q=1')
})

test('a new scheme takes its own port', async (t) => {
  assert.equal(await redirect(t, { scheme: 'https' }), '302 https://a.test/old/x?q=1')
  assert.equal(await redirect(t, { scheme: 'https', status: 301 }, 'a.test:8080'), '301 https://a.test/old/x?q=1')
})

test('a new host keeps the port of the client unless the scheme is given', async (t) => {
  assert.equal(await redirect(t, { authority: { host: 'b.test' } }, 'a.test:8080'), '302 http://b.test:8080/old/x?q=1')
  assert.equal(
    await redirect(t, { scheme: 'https', authority: { host: 'b.test' } }, 'a.test:8080'),
    '302 https://b.test/old/x?q=1',
  )
})

test('a new port keeps the host, and a default port is left out', async (t) => {
  assert.equal(await redirect(t, { authority: { port: 81 } }), '302 http://a.test:81/old/x?q=1')
  assert.equal(await redirect(t, { authority: { port: 80 } }, 'a.test:8080'), '302 http://a.test/old/x?q=1')
  assert.equal(await redirect(t, { scheme: 'https', authority: { port: 443 } }), '302 https://a.test/old/x?q=1')
  assert.equal(await redirect(t, { scheme: 'https', authority: { port: 80 } }), '302 https://a.test:80/old/x?q=1')
  assert.equal(await redirect(t, { authority: { port: 81 } }, '[::1]'), '302 http://[::1]:81/old/x?q=1')
})

test('a whole authority is taken as it is', async (t) => {
  assert.equal(
    await redirect(t, { authority: { full: 'b.test:8443' }, scheme: 'https' }),
    '302 https://b.test:8443/old/x?q=1',
  )
  assert.equal(await redirect(t, { authority: { full: 'b.test:80' } }), '302 http://b.test/old/x?q=1')
})

test('the path is replaced whole or by prefix, and the query stays', async (t) => {
  assert.equal(await redirect(t, { path: { full: '/new' } }), '302 http://a.test/new?q=1')
  assert.equal(await redirect(t, { path: { prefix: '/new' }, status: 308 }), '308 http://a.test/new/x?q=1')
  assert.equal(await redirect(t, { path: { prefix: '/' } }, 'a.test', '/old'), '302 http://a.test/')
})

test('every redirect status can be chosen', async (t) => {
  for (const status of [301, 302, 303, 307, 308]) {
    assert.equal(await redirect(t, { status }), `${status} http://a.test/old/x?q=1`)
  }
})

test('a credential in the query does not travel on', async (t) => {
  const gateway = await useGateway(
    t,
    httpConfig([
      {
        policies: {
          apiKeyAuthentication: {
            secretRef: { data: { alice: 'alice-key-0123456789' } },
            location: { queryParameter: { name: 'key' } },
          },
          requestRedirect: { scheme: 'https' },
        },
      },
    ]),
  )
  const { status, headers } = await request(gateway.port(), { path: '/a?x=1&key=alice-key-0123456789&y=2' })
  assert.equal(status, 302)
  assert.equal(headers['location'], 'https://test.example/a?x=1&y=2')
})
