import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import { closedPort, httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'

interface Scene {
  budget: object
  retry?: object
  host?: string
  isFailing?: () => boolean
}

/** A backend with a budget that two routes share; it answers 500 while it fails. */
async function useShop(t: TestContext, { budget, retry, host, isFailing = () => true }: Scene) {
  const time = { now: 1_000_000 }
  const origin = await useOrigin(t, (_seen, response) => response.writeHead(isFailing() ? 500 : 200).end('backend'))
  const policies = { retry: { attempts: 1, codes: [500], ...retry } }
  const routes = ['/a', '/b'].map((pathPrefix) => ({
    matches: [{ path: { pathPrefix } }],
    policies,
    backends: [{ backend: 'shop' }],
  }))
  const [name = '', port = ''] = (host ?? origin.host).split(':')
  const backends = [{ name: 'shop', static: { host: name, port: Number(port) }, policies: { retryBudget: budget } }]
  const config = { ...httpConfig(routes), backends }
  const gateway = await useGateway(t, config, { monotonic: () => time.now })
  const ask = (path = '/a') => request(gateway.port(), { path })
  return { gateway, origin, ask, time, config }
}

const NO_MINIMUM = { minRetryRate: { count: 0 } }

describe('the share of retries', () => {
  test('is never exceeded, over all routes to the backend', async (t) => {
    const { ask, origin } = await useShop(t, { budget: { percent: 20, ...NO_MINIMUM } })
    for (let turn = 0; turn < 40; turn++) await ask(turn % 2 === 0 ? '/a' : '/b')
    const retries = origin.seen.filter(({ headers }) => headers['x-retry-attempt'] !== undefined)
    assert.equal(origin.seen.length, 50)
    assert.equal(retries.length, 10)
  })

  test('allows no retry when it is zero and there is no minimum', async (t) => {
    const { ask, origin } = await useShop(t, { budget: { percent: 0, ...NO_MINIMUM } })
    for (let turn = 0; turn < 5; turn++) await ask()
    assert.equal(origin.seen.length, 5)
  })

  test('allows every retry when it is a hundred percent', async (t) => {
    const { ask, origin } = await useShop(t, { budget: { percent: 100, ...NO_MINIMUM }, retry: { attempts: 5 } })
    const { status, body } = await ask()
    assert.deepEqual([status, body, origin.seen.length], [500, 'backend', 6])
  })

  test('counts the requests of the last interval only', async (t) => {
    let isFailing = false
    const budget = { percent: 50, interval: '10s', ...NO_MINIMUM }
    const { ask, origin, time } = await useShop(t, { budget, isFailing: () => isFailing })
    for (let turn = 0; turn < 10; turn++) await ask()
    isFailing = true
    time.now += 20_000
    // One request and one retry are half and half; the second retry would be two of three.
    await ask()
    assert.equal(origin.seen.length, 12)
    time.now += 20_000
    isFailing = false
    for (let turn = 0; turn < 10; turn++) await ask()
    isFailing = true
    time.now += 5_000
    for (let turn = 0; turn < 4; turn++) await ask()
    assert.equal(origin.seen.length, 12 + 10 + 8, 'requests of five seconds ago count')
  })
})

describe('the minimum', () => {
  test('is allowed without regard to the share, and again in the next interval', async (t) => {
    const { ask, origin, time } = await useShop(t, {
      budget: { percent: 0, minRetryRate: { count: 2, interval: '1s' } },
    })
    for (let turn = 0; turn < 5; turn++) await ask()
    assert.equal(origin.seen.length, 7)
    time.now += 1_000
    for (let turn = 0; turn < 5; turn++) await ask()
    assert.equal(origin.seen.length, 14)
  })

  test('is ten retries per second by default', async (t) => {
    const { ask, origin } = await useShop(t, { budget: { percent: 0 } })
    for (let turn = 0; turn < 15; turn++) await ask()
    assert.equal(origin.seen.length, 25)
  })
})

describe('a retry beyond the budget', () => {
  test('is answered with 503, and the record has the reason', async (t) => {
    const { gateway, ask, origin } = await useShop(t, { budget: { percent: 0, ...NO_MINIMUM } })
    const { status, body } = await ask()
    assert.deepEqual([status, body], [503, 'upstream retry budget exhausted'])
    assert.equal(origin.seen.length, 1)
    await gateway.finished(1)
    assert.equal(gateway.records[0]?.reason, 'UpstreamFailure')
  })

  test('is answered with 503 after a refused connection too', async (t) => {
    const host = `127.0.0.1:${await closedPort()}`
    const { ask } = await useShop(t, { budget: { percent: 0, ...NO_MINIMUM }, host })
    const { status, body } = await ask()
    assert.deepEqual([status, body], [503, 'upstream retry budget exhausted'])
  })
})

test('a response that is not retried passes, whatever is left of the budget', async (t) => {
  const { ask } = await useShop(t, { budget: { percent: 0, ...NO_MINIMUM }, retry: { codes: [502] } })
  const { status, body } = await ask()
  assert.deepEqual([status, body], [500, 'backend'])
})

test('a config reload keeps what was spent', async (t) => {
  const budget = { percent: 0, minRetryRate: { count: 1, interval: '1h' } }
  const { gateway, ask, origin, config } = await useShop(t, { budget })
  await ask()
  assert.equal(origin.seen.length, 2)
  await gateway.reload(JSON.stringify({ ...config, config: { logging: { level: 'warn' } } }))
  await ask()
  assert.equal(origin.seen.length, 3)
})
