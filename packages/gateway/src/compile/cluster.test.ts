import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { connect } from 'node:tls'
import type { AttachedPolicy, Ir, PolicyTarget, Route } from '../ir/resources.ts'
import { createAuthority } from '../testing/certificates.ts'
import { request } from '../testing/client.ts'
import { TestGateway } from '../testing/gateway.ts'
import { useOrigin } from '../testing/scene.ts'

/** Configs that only cluster resources can express; no config file has them. */

const LISTENER = 'bind/0/web'

function route(name: string, backends: [backend: string, weight: number][]): Route {
  const key = `${LISTENER}/${name}`
  return {
    key,
    listener: LISTENER,
    name,
    rule: '',
    labels: {},
    hostnames: [],
    matches: [{ path: { kind: 'pathPrefix', value: `/${name}` }, method: null, headers: [], query: [] }],
    backends: backends.map(([backend, weight], index) => ({ key: `${key}/backend/${index}`, backend, weight })),
  }
}

function config(parts: Partial<Ir>): Ir {
  return {
    binds: [{ key: 'bind/0', port: 0, address: '' }],
    listeners: [{ key: LISTENER, bind: 'bind/0', name: 'web', hostname: '', protocol: 'HTTP', tls: null }],
    routes: [],
    backends: [],
    policies: [],
    ...parts,
  }
}

async function useConfig(t: TestContext, ir: Ir, random?: () => number): Promise<TestGateway> {
  const gateway = new TestGateway(random === undefined ? {} : { random })
  t.after(() => gateway.close())
  await gateway.use(ir)
  return gateway
}

const service = (key: string, version: 'HTTP2' | null = null) => ({
  key,
  name: key.slice('backend/'.length),
  target: { kind: 'service' as const, host: 'web.shop.svc.cluster.local', port: 80, version },
})

const KEY = 'backend/service/shop/web/80'

describe('a backend that is not valid', () => {
  const invalid = {
    key: 'backend/gone',
    name: 'gone',
    target: { kind: 'invalid' as const, reason: 'Service shop/gone not found' },
  }

  test('answers its share with 500, and log and trace say why', async (t) => {
    const origin = await useOrigin(t)
    let next = 0
    const routes = [
      route('split', [
        [KEY, 1],
        [invalid.key, 1],
      ]),
    ]
    const gateway = await useConfig(t, config({ routes, backends: [service(KEY), invalid] }), () => next)
    gateway.setEndpoints({ put: [[KEY, [origin.host]]], drop: [] })
    assert.equal((await request(gateway.port(), { path: '/split' })).status, 200)
    next = 0.9
    const watching = gateway.trace()
    const { status, body } = await request(gateway.port(), { path: '/split' })
    assert.deepEqual([status, body], [500, 'no valid backends'])
    await gateway.finished(2)
    const { reason, error } = gateway.records[1] ?? assert.fail('no record')
    assert.deepEqual([reason, error], ['NoHealthyBackend', 'Service shop/gone not found'])
    assert.match(JSON.stringify(await watching), /Service shop\/gone not found/)
    assert.equal(origin.seen.length, 1)
  })

  test('is not asked again by retries', async (t) => {
    const policies: AttachedPolicy[] = [
      policyOn({ kind: 'gateway' }, { retry: { attempts: 3, codes: [500], backoff: undefined } }),
    ]
    const gateway = await useConfig(
      t,
      config({ routes: [route('gone', [[invalid.key, 1]])], backends: [invalid], policies }),
    )
    assert.equal((await request(gateway.port(), { path: '/gone' })).status, 500)
    await gateway.finished(1)
    assert.equal(gateway.records[0]?.retryAttempt, 0)
  })
})

describe('a Service', () => {
  test('is reached at the addresses that come beside the config, which are not compiled', async (t) => {
    const [one, other] = [await useOrigin(t), await useOrigin(t)]
    const gateway = await useConfig(t, config({ routes: [route('web', [[KEY, 1]])], backends: [service(KEY)] }))
    const ask = () => request(gateway.port(), { path: '/web', headers: { host: 'shop.example.com' } })
    const none = await ask()
    assert.deepEqual([none.status, none.body], [503, 'no healthy backends'])
    gateway.setEndpoints({ put: [[KEY, [one.host]]], drop: [] })
    assert.equal((await ask()).status, 200)
    assert.equal(one.seen[0]?.headers['host'], 'shop.example.com')
    gateway.setEndpoints({ put: [[KEY, [other.host]]], drop: [] })
    assert.equal((await ask()).status, 200)
    assert.deepEqual([one.seen.length, other.seen.length], [1, 1])
    gateway.setEndpoints({ put: [], drop: [KEY] })
    assert.equal((await ask()).status, 503)
    await gateway.finished(4)
    assert.equal(gateway.records[3]?.error, 'web.shop.svc.cluster.local has no ready endpoint')
  })

  test('with affinity keeps a client at one address as long as that is there', async (t) => {
    const origins = [await useOrigin(t), await useOrigin(t), await useOrigin(t)]
    const affine = service(KEY)
    const backend = { ...affine, target: { ...affine.target, affinity: 'ClientIP' as const } }
    const gateway = await useConfig(t, config({ routes: [route('web', [[KEY, 1]])], backends: [backend] }))
    const reach = (hosts: readonly string[]): void => gateway.setEndpoints({ put: [[KEY, hosts]], drop: [] })
    const hosts = origins.map(({ host }) => host)
    reach(hosts)
    for (let turn = 0; turn < 20; turn++) await request(gateway.port(), { path: '/web' })
    const own = origins.find(({ seen }) => seen.length > 0) ?? assert.fail('nobody was asked')
    assert.equal(own.seen.length, 20)
    reach(hosts.filter((host) => host !== own.host))
    for (let turn = 0; turn < 10; turn++) assert.equal((await request(gateway.port(), { path: '/web' })).status, 200)
    assert.deepEqual(
      origins.map(({ seen }) => seen.length).toSorted((one, other) => one - other),
      [0, 10, 20],
    )
  })

  test('with several addresses uses them all', async (t) => {
    const origins = [await useOrigin(t), await useOrigin(t), await useOrigin(t)]
    const gateway = await useConfig(t, config({ routes: [route('web', [[KEY, 1]])], backends: [service(KEY)] }))
    gateway.setEndpoints({ put: [[KEY, origins.map(({ host }) => host)]], drop: [] })
    for (let count = 0; count < 200; count++)
      assert.equal((await request(gateway.port(), { path: '/web' })).status, 200)
    for (const { seen } of origins) assert.ok(seen.length > 0)
  })
})

describe('a policy for a set of listeners', () => {
  test('beats that of the gateway, and is beaten by that of a listener', async (t) => {
    const ir = config({ routes: [route('web', [])] })
    const listeners = ir.listeners.map((listener) => ({ ...listener, set: 'listenerSet/shop/more' }))
    const say = (target: PolicyTarget, body: string) => policyOn(target, { directResponse: { status: 200, body } })
    const [all, set, one] = [
      say({ kind: 'gateway' }, 'gateway'),
      say({ kind: 'listenerSet', key: 'listenerSet/shop/more' }, 'set'),
      say({ kind: 'listener', key: LISTENER }, 'listener'),
    ]
    const gateway = await useConfig(t, { ...ir, listeners, policies: [all] })
    const ask = async () => (await request(gateway.port(), { path: '/web' })).body
    assert.equal(await ask(), 'gateway')
    await gateway.use({ ...ir, listeners, policies: [set, all] })
    assert.equal(await ask(), 'set')
    await gateway.use({ ...ir, listeners, policies: [set, one, all] })
    assert.equal(await ask(), 'listener')
    await gateway.use({ ...ir, listeners, policies: [say({ kind: 'listenerSet', key: 'other' }, 'other'), all] })
    assert.equal(await ask(), 'gateway')
  })
})

describe('a listener with several certificates', () => {
  test('shows the one that the client asks for, and the first to all others', async (t) => {
    const authority = createAuthority()
    const [first, ...others] = [
      ['one.example.com'],
      ['*.two.example.com'],
      ['one.example.com', 'three.example.com'],
    ].map((names, index) => authority.issue({ names, commonName: `certificate ${index}` }))
    if (first === undefined) return assert.fail('nothing issued')
    const tls = { cert: first.cert, key: first.key, root: null, others }
    const ir = config({})
    const listeners = ir.listeners.map((listener) => ({ ...listener, protocol: 'HTTPS' as const, tls }))
    const gateway = await useConfig(t, { ...ir, listeners })
    const shownTo = (servername: string) =>
      new Promise<unknown>((resolve, reject) => {
        const socket = connect({
          port: gateway.port(),
          host: '127.0.0.1',
          servername,
          ca: authority.cert,
          rejectUnauthorized: false,
        })
        socket.on('error', reject)
        socket.once('secureConnect', () => {
          resolve(socket.getPeerCertificate().subject.CN)
          socket.destroy()
        })
      })
    const names = ['one.example.com', 'a.two.example.com', 'three.example.com', 'four.example.com']
    assert.deepEqual(await Promise.all(names.map(shownTo)), [
      'certificate 0',
      'certificate 1',
      'certificate 2',
      'certificate 0',
    ])
  })
})

function policyOn(target: PolicyTarget, traffic: AttachedPolicy['traffic']): AttachedPolicy {
  const key = `test/${target.kind}`
  return { key, target, frontend: null, traffic, phase: 'PostRouting', backend: null }
}
