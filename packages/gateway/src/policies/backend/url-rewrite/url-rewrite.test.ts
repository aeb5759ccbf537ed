import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import { httpConfig, pathPrefix, useGateway, useOrigin } from '../../../testing/scene.ts'

/** Two backends of one route, chosen in turn; the first one has the rewrite. */
async function setUp(t: TestContext, urlRewrite: object, policies: object = {}) {
  const [a, b] = [await useOrigin(t), await useOrigin(t)]
  const backends = [{ host: `127.0.0.1:${a.port}`, policies: { urlRewrite } }, { host: `127.0.0.1:${b.port}` }]
  let number = 0
  const gateway = await useGateway(t, httpConfig([{ ...pathPrefix('/old'), policies, backends }]), {
    random: () => (number++ % 2) / 2,
  })
  return { a, b, port: gateway.port() }
}

test('changes the path and the host for its own backend only', async (t) => {
  const { a, b, port } = await setUp(t, { authority: { full: 'inner.test' }, path: { prefix: '/new' } })
  for (const path of ['/old/x?q=1', '/old/x?q=1', '/old', '/old']) await request(port, { path })
  assert.deepEqual(
    a.seen.map(({ url, headers }) => [url, headers.host]),
    [
      ['/new/x?q=1', 'inner.test'],
      ['/new', 'inner.test'],
    ],
  )
  assert.deepEqual(
    b.seen.map(({ url }) => url),
    ['/old/x?q=1', '/old'],
  )
})

test('replaces the path that the route has rewritten', async (t) => {
  const { a, b, port } = await setUp(t, { path: { full: '/a' } }, { urlRewrite: { path: { full: '/route' } } })
  for (const path of ['/old?q', '/old?q']) assert.equal((await request(port, { path })).status, 200)
  assert.deepEqual([a.seen[0]?.url, b.seen[0]?.url], ['/a?q', '/route?q'])
})
