import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../testing/client.ts'
import { pathPrefix, useGateway, useOrigin } from '../testing/scene.ts'

/** A policy that names its source in a response header. */
function says(who: string): object {
  return { headerModifiers: { response: { set: [{ name: 'x-from', value: who }] } } }
}

const gateway = { kind: 'Gateway', name: 'default' }
const everywhere = {
  gateway: { name: 'gateway', targetRefs: [gateway], traffic: says('gateway') },
  listener: { name: 'listener', targetRefs: [{ ...gateway, sectionName: 'web' }], traffic: says('listener') },
  route: { name: 'route', targetRefs: [{ kind: 'Route', name: 'api' }], traffic: says('route') },
  rule: { name: 'rule', targetRefs: [{ kind: 'Route', name: 'api', sectionName: 'read' }], traffic: says('rule') },
}

async function setUp(t: TestContext, policies: object[], inline: { listener?: object; rule?: object } = {}) {
  const origin = await useOrigin(t)
  const backends = [{ host: origin.host }]
  const started = await useGateway(t, {
    policies,
    binds: [
      {
        port: 0,
        listeners: [
          {
            name: 'web',
            ...(inline.listener && { policies: inline.listener }),
            routes: [
              {
                name: 'api',
                ruleName: 'read',
                ...pathPrefix('/read'),
                ...(inline.rule && { policies: inline.rule }),
                backends,
              },
              { name: 'api', ruleName: 'write', ...pathPrefix('/write'), backends },
              { name: 'other', backends },
            ],
          },
        ],
      },
    ],
  })
  const from = async (path: string) => (await request(started.port(), { path })).headers['x-from'] ?? null
  return { origin, started, from }
}

test('the nearer attachment wins: gateway, listener, route, rule', async (t) => {
  const policies = Object.values(everywhere)
  const { from } = await setUp(t, policies)
  assert.equal(await from('/read'), 'rule')
  assert.equal(await from('/write'), 'route')
  assert.equal(await from('/else'), 'listener')
  const fewer = await setUp(t, [everywhere.gateway])
  assert.equal(await fewer.from('/read'), 'gateway')
})

test('the order of the file does not change who is nearer', async (t) => {
  const { from } = await setUp(t, Object.values(everywhere).toReversed())
  assert.equal(await from('/read'), 'rule')
  assert.equal(await from('/else'), 'listener')
})

test('an inline policy beats a policy that targets the object', async (t) => {
  const { from } = await setUp(t, Object.values(everywhere), {
    listener: says('inline listener'),
    rule: says('inline'),
  })
  assert.equal(await from('/else'), 'inline listener')
  const { gateway: far, listener, route } = everywhere
  const withoutRule = await setUp(t, [far, listener, route], { rule: says('inline') })
  assert.equal(await withoutRule.from('/read'), 'inline')
  assert.equal(await withoutRule.from('/write'), 'route')
})

test('a policy for one rule beats an inline policy of the route, wherever it is in the file', async (t) => {
  for (const policies of [Object.values(everywhere), Object.values(everywhere).toReversed()]) {
    const { from } = await setUp(t, policies, { rule: says('inline') })
    assert.equal(await from('/read'), 'rule')
    assert.equal(await from('/write'), 'route')
  }
})

test('a policy for one rule replaces only the fields that it sets, of backends too', async (t) => {
  const auth = (key: string) => ({ auth: { key } })
  const rule = { ...everywhere.rule, traffic: says('rule'), backend: { http: { version: 'HTTP1' }, ...auth('rule') } }
  const cors = { allowOrigins: ['https://a.example'] }
  const { started, origin } = await setUp(t, [rule], { rule: { cors, ...says('inline'), backend: auth('inline') } })
  const { headers } = await request(started.port(), { path: '/read', headers: { origin: 'https://a.example' } })
  assert.equal(headers['x-from'], 'rule')
  assert.equal(headers['access-control-allow-origin'], 'https://a.example')
  assert.equal(origin.seen.at(-1)?.headers.authorization, 'Bearer rule')
})

test('the first of two policies for one object counts', async (t) => {
  const second = { ...everywhere.gateway, name: 'second', traffic: says('second') }
  const { from } = await setUp(t, [everywhere.gateway, second])
  assert.equal(await from('/'), 'gateway')
})

test('fields are merged one by one, each of them whole', async (t) => {
  const policies = [
    {
      name: 'far',
      targetRefs: [gateway],
      traffic: { ...says('far'), cors: { allowOrigins: ['https://a.example'] } },
    },
    {
      name: 'near',
      targetRefs: [{ kind: 'Route', name: 'api' }],
      traffic: { headerModifiers: { response: { add: [{ name: 'x-near', value: '1' }] } } },
    },
  ]
  const { started } = await setUp(t, policies)
  const { headers } = await request(started.port(), { path: '/read', headers: { origin: 'https://a.example' } })
  assert.equal(headers['access-control-allow-origin'], 'https://a.example')
  assert.equal(headers['x-near'], '1')
  assert.equal(headers['x-from'], undefined)
})

test('backend policies: gateway, listener, route, rule, backend, then the entry that names it', async (t) => {
  const origin = await useOrigin(t)
  const marked = (value: string) => ({
    transformation: { request: { set: [{ name: 'x-from', value: JSON.stringify(value) }] } },
  })
  const targets = {
    gateway,
    listener: { ...gateway, sectionName: 'web' },
    route: { kind: 'Route', name: 'api' },
    rule: { kind: 'Route', name: 'api', sectionName: 'one' },
    backend: { kind: 'Backend', name: 'users' },
  }
  const order = Object.keys(targets) as (keyof typeof targets)[]
  const [address, port] = origin.host.split(':')
  for (let count = 1; count <= order.length + 2; count++) {
    const places = order.slice(0, count)
    const inline = { ...(count > order.length && { policies: marked('inline backend') }) }
    const entry = { ...(count > order.length + 1 && { policies: marked('entry') }) }
    const started = await useGateway(t, {
      policies: places.map((place) => ({ name: place, targetRefs: [targets[place]], backend: marked(place) })),
      backends: [{ name: 'users', static: { host: address, port: Number(port) }, ...inline }],
      binds: [
        {
          port: 0,
          listeners: [
            { name: 'web', routes: [{ name: 'api', ruleName: 'one', backends: [{ backend: 'users', ...entry }] }] },
          ],
        },
      ],
    })
    await request(started.port())
    const expected = count > order.length + 1 ? 'entry' : count > order.length ? 'inline backend' : order[count - 1]
    assert.equal(origin.seen.at(-1)?.headers['x-from'], expected)
  }
})
