import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { request, sendRaw } from '../../../testing/client.ts'
import type { TestGateway, TestGatewayOptions } from '../../../testing/gateway.ts'
import { lookupIn } from '../../../testing/lookup.ts'
import { useReplicas } from '../../../testing/workers/replicas.ts'
import { closedPort, httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'

interface Scene {
  policy?: object
  weights?: number[]
  more?: object
  options?: TestGatewayOptions
}

/** A route to several backends; which one answered is in the body. */
async function useShops(t: TestContext, scene: Scene = {}) {
  const { weights = [1, 1, 1], options = {} } = scene
  const origins = await Promise.all(
    weights.map((_, index) => useOrigin(t, (_seen, response) => response.end(String(index)))),
  )
  const routeWith = (own: readonly number[], { policy = {}, more = {} }: Scene = scene) => ({
    policies: { sessionPersistence: policy, ...more },
    backends: origins.map(({ host }, index) => ({ host, weight: own[index] ?? 1 })),
  })
  const gateway = await useGateway(t, httpConfig([routeWith(weights)]), options)
  const reload = (own: readonly number[], changes?: Scene): Promise<unknown> =>
    gateway.reload(JSON.stringify(httpConfig([routeWith(own, changes)])))
  return { gateway, origins, reload }
}

async function ask(gateway: TestGateway, headers: Record<string, string> = {}) {
  const answer = await request(gateway.port(), { headers })
  const line = answer.headers['set-cookie'] ?? ''
  return { status: answer.status, body: answer.body, line, cookie: line.split(';')[0] ?? '', headers: answer.headers }
}

/** All draws fall to the first backend. */
const FIRST: TestGatewayOptions = { random: () => 0 }

describe('a cookie', () => {
  test('brings every request of a client to the backend of the first one', async (t) => {
    const { gateway } = await useShops(t)
    const first = await ask(gateway)
    assert.match(first.line, /^portico-[0-9a-f]{12}=[\w-]+; Path=\/; HttpOnly; SameSite=Lax$/)
    for (let turn = 0; turn < 20; turn++) {
      const again = await ask(gateway, { cookie: `other=1; ${first.cookie}; last="2"` })
      assert.deepEqual([again.body, again.line], [first.body, ''], 'no new cookie where nothing changed')
    }
    const bodies = new Set<string>()
    for (let turn = 0; turn < 60 && bodies.size < 3; turn++) bodies.add((await ask(gateway)).body)
    assert.equal(bodies.size, 3, 'others are spread')
  })

  test('outlives a reload, and a gateway with the same key goes by it', async (t) => {
    const sessionKey = '22'.repeat(32)
    let random = 0.9
    const { gateway, reload } = await useShops(t, { options: { sessionKey, random: () => random } })
    const first = await ask(gateway)
    assert.equal(first.body, '2')
    random = 0
    await reload([5, 1, 1])
    assert.equal((await ask(gateway, { cookie: first.cookie })).body, '2')
  })

  test('is replaced when its backend has no weight, or is gone', async (t) => {
    let random = 0.9
    const { gateway, reload } = await useShops(t, { options: { random: () => random } })
    const first = await ask(gateway)
    random = 0
    await reload([1, 1, 0])
    const moved = await ask(gateway, { cookie: first.cookie })
    assert.equal(moved.body, '0')
    assert.notEqual(moved.cookie, '')
    random = 0.9
    assert.equal((await ask(gateway, { cookie: moved.cookie })).body, '0')
  })

  test('that nobody sealed, or that is of another route, counts for nothing', async (t) => {
    const { gateway } = await useShops(t, { policy: { sessionName: 's' }, options: FIRST })
    const foreign = await useShops(t, { policy: { sessionName: 's' } })
    const { cookie } = await ask(foreign.gateway)
    for (const text of [cookie, 's=', 's=AAAA', `s=${'A'.repeat(9000)}`, 's=a; s=b; s=c; s=d; s=e; s=f']) {
      const { body, line } = await ask(gateway, { cookie: text })
      assert.equal(body, '0')
      assert.match(line, /^s=/)
    }
  })

  test('ends with its time', async (t) => {
    const time = { now: 1_700_000_000_000 }
    const policy = { absoluteTimeout: '60s', lifetimeType: 'Permanent' }
    const { gateway } = await useShops(t, { policy, options: { clock: () => time.now, ...FIRST } })
    const { cookie, line } = await ask(gateway)
    assert.match(line, /; Max-Age=60; /)
    time.now += 59_999
    assert.equal((await ask(gateway, { cookie })).line, '')
    time.now += 1
    assert.notEqual((await ask(gateway, { cookie })).cookie, '')
  })

  test('with a timeout of hours ends at the exact second', async (t) => {
    for (const policy of [{ absoluteTimeout: '3h' }, { idleTimeout: '3h' }]) {
      const time = { now: 1_700_000_000_000 }
      let random = 0.9
      const { gateway } = await useShops(t, { policy, options: { clock: () => time.now, random: () => random } })
      const { body, cookie } = await ask(gateway)
      assert.equal(body, '2')
      random = 0
      time.now += 3 * 3_600_000 - 1_000
      assert.equal((await ask(gateway, { cookie })).body, '2')
      time.now += 1_000
      assert.equal((await ask(gateway, { cookie })).body, '0')
    }
  })

  test('that is used lives on, one that is not used ends', async (t) => {
    const time = { now: 1_700_000_000_000 }
    const { gateway } = await useShops(t, { policy: { idleTimeout: '60s' }, options: { clock: () => time.now } })
    const first = await ask(gateway)
    let { cookie } = first
    for (let turn = 0; turn < 5; turn++) {
      time.now += 50_000
      const again = await ask(gateway, { cookie })
      assert.equal(again.body, first.body)
      assert.notEqual(again.cookie, '')
      cookie = again.cookie
    }
    const bodies = new Set<string>()
    time.now += 60_000
    for (let turn = 0; turn < 60 && bodies.size < 2; turn++) bodies.add((await ask(gateway, { cookie })).body)
    assert.equal(bodies.size, 2)
  })

  test('that is used ends with its time all the same, and says how much of it is left', async (t) => {
    const time = { now: 1_700_000_000_000 }
    const policy = { absoluteTimeout: '60s', idleTimeout: '30s', lifetimeType: 'Permanent' }
    const { gateway } = await useShops(t, { policy, options: { clock: () => time.now, ...FIRST } })
    let { cookie, line } = await ask(gateway)
    const left: (string | undefined)[] = []
    for (let turn = 0; turn < 4; turn++) {
      left.push(/; Max-Age=(-?\d+); /.exec(line)?.[1])
      time.now += 20_000
      ;({ cookie, line } = await ask(gateway, { cookie }))
    }
    assert.deepEqual(left, ['60', '40', '20', '60'])
  })

  test('is found in any line of the header, as HTTP/2 clients send one for each cookie', async (t) => {
    let random = 0.9
    const { gateway } = await useShops(t, { policy: { sessionName: 's' }, options: { random: () => random } })
    const { body, cookie } = await ask(gateway)
    assert.equal(body, '2')
    random = 0
    const head = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncookie: other=1\r\n'
    assert.equal((await sendRaw(gateway.port(), `${head}cookie: ${cookie}\r\n\r\n`)).body, '2')
    assert.equal((await sendRaw(gateway.port(), `${head}\r\n`)).body, '0')
  })

  test('is not given with answers of the gateway itself', async (t) => {
    const route = { policies: { sessionPersistence: {} }, backends: [{ host: `127.0.0.1:${await closedPort()}` }] }
    const gateway = await useGateway(t, httpConfig([route]))
    const { status, line } = await ask(gateway)
    assert.deepEqual([status, line], [503, ''])
  })

  test('leads to one of several addresses, and to another when that is of no use', async (t) => {
    const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
    const isBad = new Set<string>()
    const replicas = await useReplicas(t, addresses, (address, response) => {
      response.writeHead(isBad.has(address) ? 503 : 200).end(address)
    })
    const policies = { sessionPersistence: {}, retry: { attempts: 1, codes: [503] } }
    const route = { policies, backends: [{ host: `shop.test:${replicas.port}` }] }
    const gateway = await useGateway(t, httpConfig([route]), { lookup: lookupIn({ 'shop.test': addresses }) })
    const first = await ask(gateway)
    for (let turn = 0; turn < 20; turn++) assert.equal((await ask(gateway, { cookie: first.cookie })).body, first.body)
    isBad.add(first.body)
    const moved = await ask(gateway, { cookie: first.cookie })
    assert.equal(moved.status, 200)
    assert.notEqual(moved.body, first.body)
    isBad.clear()
    for (let turn = 0; turn < 20; turn++) assert.equal((await ask(gateway, { cookie: moved.cookie })).body, moved.body)
  })
})

describe('a header', () => {
  test('does the same for clients without cookies', async (t) => {
    const { gateway } = await useShops(t, { policy: { type: 'Header', sessionName: 'X-Shop' } })
    const first = await ask(gateway)
    const token = first.headers['x-shop'] ?? ''
    assert.match(token, /^[\w-]+$/)
    assert.equal(first.line, '')
    for (let turn = 0; turn < 20; turn++) {
      const again = await ask(gateway, { 'x-shop': token })
      assert.deepEqual([again.body, again.headers['x-shop']], [first.body, undefined])
    }
  })
})

test('a header that says how a message is framed cannot carry it', async (t) => {
  for (const sessionName of ['Content-Length', 'transfer-encoding', 'Connection']) {
    const config = httpConfig([{ policies: { sessionPersistence: { type: 'Header', sessionName } } }])
    await assert.rejects(useGateway(t, config), /sessionName/)
  }
  const { gateway } = await useShops(t, { policy: { sessionName: 'connection' } })
  assert.match((await ask(gateway)).line, /^connection=/)
})

test('a watcher of the request is told where it belongs', async (t) => {
  const { gateway } = await useShops(t, { policy: { sessionName: 's' } })
  const { cookie } = await ask(gateway)
  const watching = gateway.trace()
  await ask(gateway, { cookie })
  assert.match(JSON.stringify(await watching), /sessionPersistence.*"endpoint":"127\.0\.0\.1:\d+"/)
})

test('the cookie has the path of the policy, which cannot add attributes', async (t) => {
  const { gateway } = await useShops(t, { policy: { sessionName: 's', path: '/shop' } })
  assert.match((await ask(gateway)).line, /; Path=\/shop; HttpOnly/)
  for (const path of ['shop', '/a; Domain=example.com', '/a b', '/a\r\nx: y']) {
    const config = httpConfig([{ policies: { sessionPersistence: { path } } }])
    await assert.rejects(useGateway(t, config), /path/)
  }
})
