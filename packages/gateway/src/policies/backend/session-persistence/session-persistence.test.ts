import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import type { TestGateway } from '../../../testing/gateway.ts'
import { lookupIn } from '../../../testing/lookup.ts'
import { httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'
import { useReplicas } from '../../../testing/workers/replicas.ts'

async function ask(gateway: TestGateway, { path = '/', ...headers }: Record<string, string> = {}) {
  const { status, body, headers: got } = await request(gateway.port(), { path, headers })
  const line = got['set-cookie'] ?? ''
  return { status, body, line, cookie: line.split(';')[0] ?? '', headers: got }
}

/** A route to a backend with sessions and one without. */
async function useShops(t: TestContext, random: () => number, policies: object = {}) {
  const origins = await Promise.all(
    ['with', 'without'].map((name) => useOrigin(t, (_seen, response) => response.end(name))),
  )
  const [first, second] = origins.map(({ host }) => host)
  const backends = [{ name: 'shop', static: address(first), policies: { sessionPersistence: {} } }]
  const configWith = (weight: number) => ({
    ...httpConfig([{ policies, backends: [{ backend: 'shop', weight }, { host: second }] }]),
    backends,
  })
  const gateway = await useGateway(t, configWith(1), { random })
  return { gateway, reload: (weight: number) => gateway.reload(JSON.stringify(configWith(weight))) }
}

function address(host = ''): object {
  const [name, port] = host.split(':')
  return { host: name, port: Number(port) }
}

test('a session stays at the address of its first request, in all routes to the backend', async (t) => {
  const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
  const replicas = await useReplicas(t, addresses, (at, response) => response.end(at))
  const backends = [
    { name: 'shop', static: { host: 'shop.test', port: replicas.port }, policies: { sessionPersistence: {} } },
  ]
  const routes = ['/a', '/b'].map((pathPrefix) => ({
    matches: [{ path: { pathPrefix } }],
    backends: [{ backend: 'shop' }],
  }))
  const lookup = lookupIn({ 'shop.test': addresses })
  const gateway = await useGateway(t, { ...httpConfig(routes), backends }, { lookup })
  const first = await ask(gateway, { path: '/a' })
  assert.match(first.line, /^portico-[0-9a-f]{12}=[\w-]+; Path=\/; HttpOnly; SameSite=Lax$/)
  for (let turn = 0; turn < 20; turn++) {
    const path = turn % 2 === 0 ? '/a' : '/b'
    const again = await ask(gateway, { path, cookie: first.cookie })
    assert.deepEqual([again.body, again.line], [first.body, ''])
  }
  const bodies = new Set<string>()
  for (let turn = 0; turn < 60 && bodies.size < 3; turn++) bodies.add((await ask(gateway, { path: '/a' })).body)
  assert.equal(bodies.size, 3, 'requests without a session are spread')
})

test('a session chooses its backend before the weights do, and other backends start none', async (t) => {
  let random = 0.9
  const { gateway } = await useShops(t, () => random)
  const other = await ask(gateway)
  assert.deepEqual([other.body, other.line], ['without', ''])
  random = 0
  const first = await ask(gateway)
  assert.equal(first.body, 'with')
  random = 0.9
  assert.equal((await ask(gateway, { cookie: first.cookie })).body, 'with')
})

test('a session ends when its backend has weight 0', async (t) => {
  const { gateway, reload } = await useShops(t, () => 0)
  const first = await ask(gateway)
  assert.equal(first.body, 'with')
  await reload(0)
  assert.equal((await ask(gateway, { cookie: first.cookie })).body, 'without')
})

test('sessions of the route win', async (t) => {
  const { gateway } = await useShops(t, () => 0, { sessionPersistence: { type: 'Header', sessionName: 'x-route' } })
  const first = await ask(gateway)
  assert.deepEqual([first.line, typeof first.headers['x-route']], ['', 'string'])
})

test('the session of another backend is not accepted', async (t) => {
  const sessionPersistence = { type: 'Header', sessionName: 'x-shop' }
  const origins = await Promise.all(['a', 'b'].map((name) => useOrigin(t, (_seen, response) => response.end(name))))
  const names = ['a', 'b']
  const backends = origins.map(({ host }, index) => ({
    name: names[index],
    static: address(host),
    policies: { sessionPersistence },
  }))
  const routes = names.map((name) => ({
    matches: [{ path: { pathPrefix: `/${name}` } }],
    backends: [{ backend: name }],
  }))
  const gateway = await useGateway(t, { ...httpConfig(routes), backends })
  const token = (await ask(gateway, { path: '/a' })).headers['x-shop'] ?? ''
  const other = await ask(gateway, { path: '/b', 'x-shop': token })
  assert.equal(other.body, 'b')
  assert.match(other.headers['x-shop'] ?? '', /^[\w-]+$/)
  assert.notEqual(other.headers['x-shop'], token)
})
