import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../../testing/client.ts'
import { closedPort, httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

function preRouting(policies: object): { listener: object } {
  return { listener: { policies: { phase: 'PreRouting', ...policies } } }
}

function set(name: string, value: string): { set: object[] } {
  return { set: [{ name, value }] }
}

test('before routing, a new path, host or header decides which route is taken', async (t) => {
  const origin = await useOrigin(t, (seen, response) => response.end(`${seen.headers.host} ${seen.url}`))
  const mark = (name: string) => ({ headerModifiers: { response: { set: [{ name: 'x-route', value: name }] } } })
  const routes = [
    routeTo(origin, mark('path'), pathPrefix('/internal')),
    routeTo(origin, mark('host'), { hostnames: ['beta.test'] }),
    routeTo(origin, mark('header'), { matches: [{ headers: [{ name: 'x-tier', value: { exact: 'gold' } }] }] }),
    routeTo(origin, mark('rest')),
  ]
  const transformation = {
    request: {
      set: [
        { name: ':path', value: 'request.path == "/old" ? request.pathAndQuery.replace("/old", "/internal/new") : ""' },
        { name: ':authority', value: 'request.headers["x-beta"] == "1" ? "beta.test" : ""' },
        { name: 'x-tier', value: 'request.pathAndQuery.query("tier")[0]' },
      ],
    },
  }
  const gateway = await useGateway(t, httpConfig(routes, preRouting({ transformation })))
  const routeOf = async (path: string, headers: Record<string, string> = {}) => {
    const response = await request(gateway.port(), { path, headers })
    return `${response.headers['x-route']}: ${response.body}`
  }
  assert.equal(await routeOf('/old?a=1'), 'path: test.example /internal/new?a=1')
  assert.equal(await routeOf('/', { 'x-beta': '1' }), 'host: beta.test /')
  assert.equal(await routeOf('/?tier=gold'), 'header: test.example /?tier=gold')
  // A client's own header does not count: the expression failed, so it is removed.
  assert.equal(await routeOf('/', { 'x-tier': 'gold' }), 'rest: test.example /')
  await gateway.finished(4)
  assert.equal(gateway.records[0]!.target, '/old?a=1')
})

test('a path that cannot stand leaves the request on the route it asked for', async (t) => {
  const origin = await useOrigin(t)
  const routes = [routeTo(origin, {}, pathPrefix('/public')), routeTo(origin, { directResponse: { status: 403 } })]
  const transformation = { request: set(':path', '"/public/../" + request.headers["x-to"]') }
  const gateway = await useGateway(t, httpConfig(routes, preRouting({ transformation })))
  for (const to of ['admin', '%2e%2e/admin', 'a b', 'a\\b']) {
    assert.equal((await request(gateway.port(), { path: '/admin', headers: { 'x-to': to } })).status, 403, to)
  }
  assert.equal(origin.seen.length, 0)
})

test('after routing nothing chooses another route', async (t) => {
  const origin = await useOrigin(t, (seen, response) => response.end(seen.url))
  const other = await useOrigin(t)
  const transformation = {
    request: {
      set: [
        { name: ':path', value: '"/other"' },
        { name: ':authority', value: '"b.test"' },
      ],
    },
  }
  const routes = [
    routeTo(origin, { transformation }, pathPrefix('/one')),
    routeTo(other, {}, pathPrefix('/other')),
    routeTo(other, {}, { hostnames: ['b.test'] }),
  ]
  const gateway = await useGateway(t, httpConfig(routes))
  assert.equal((await request(gateway.port(), { path: '/one' })).body, '/other')
  assert.equal(other.seen.length, 0)
})

test('metadata from before routing is visible to all that follows: authorization, conditions, responses', async (t) => {
  const origin = await useOrigin(t)
  const authorization = { rules: [{ allow: 'metadata.tier == "gold"' }] }
  const routes = [routeTo(origin, { authorization, transformation: { response: set('x-tier', 'metadata.tier') } })]
  const transformation = { request: { metadata: { tier: 'request.headers["x-plan"] == "7" ? "gold" : "none"' } } }
  const gateway = await useGateway(t, httpConfig(routes, preRouting({ transformation })))
  const allowed = await request(gateway.port(), { headers: { 'x-plan': '7' } })
  assert.equal(allowed.status, 200)
  assert.equal(allowed.headers['x-tier'], 'gold')
  const denied = await request(gateway.port(), { headers: { 'x-plan': '1' } })
  assert.equal(denied.status, 403)
  assert.equal(denied.headers['x-tier'], 'none')
  // Without the header there is no metadata: a rule that cannot be decided allows nothing.
  assert.equal((await request(gateway.port())).status, 403)
})

test('in one phase authorization comes first, and sees the request before it is changed', async (t) => {
  const origin = await useOrigin(t)
  const authorization = { rules: [{ allow: 'request.path == "/a" && !has(metadata.x)' }] }
  const transformation = { request: { metadata: { x: '1' }, ...set(':path', '"/b"') } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { authorization, transformation })]))
  assert.equal((await request(gateway.port(), { path: '/a' })).status, 200)
  assert.equal(origin.seen[0]!.url, '/b')
  assert.equal((await request(gateway.port(), { path: '/b' })).status, 403)
})

test('both phases count; on the way back the route comes first', async (t) => {
  const origin = await useOrigin(t)
  const part = (name: string) => ({
    request: { add: [{ name: 'x-seen', value: `"${name}"` }] },
    response: { add: [{ name: 'x-seen', value: `"${name}"` }], set: [{ name: 'x-last', value: `"${name}"` }] },
  })
  const config = httpConfig(
    [routeTo(origin, { transformation: part('route') })],
    preRouting({ transformation: part('gateway') }),
  )
  const gateway = await useGateway(t, config)
  const { headers } = await request(gateway.port())
  assert.equal(origin.seen[0]!.headers['x-seen'], 'gateway, route')
  assert.equal(headers['x-seen'], 'route, gateway')
  assert.equal(headers['x-last'], 'gateway')
})

test('a body that is read before routing is read once, and may be replaced in both phases', async (t) => {
  const origin = await useOrigin(t)
  const part = (name: string) => ({ request: { body: `string(request.body) + "+${name}"` } })
  const config = httpConfig(
    [routeTo(origin, { transformation: part('route') })],
    preRouting({ transformation: part('gateway') }),
  )
  const gateway = await useGateway(t, config)
  await request(gateway.port(), { method: 'POST', body: 'hello' })
  assert.equal(origin.seen[0]!.body, 'hello+gateway+route')
})

test('replies of the gateway are responses too: refusals, limits, direct ones, and a route that is not found', async (t) => {
  const origin = await useOrigin(t)
  const transformation = {
    response: {
      set: [{ name: 'content-type', value: '"application/json"' }],
      body: '{"error": string(response.body), "code": response.code, "path": request.path}',
    },
  }
  const users = ['alice:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=']
  const limit = { local: [{ requests: 1, unit: 'Hours' }] }
  const routes = [
    routeTo(origin, { transformation, basicAuthentication: { users } }, pathPrefix('/private')),
    routeTo(origin, { transformation, rateLimit: limit }, pathPrefix('/limited')),
    routeTo(origin, { transformation, directResponse: { status: 410, body: 'gone' } }, pathPrefix('/gone')),
    routeTo({ host: `127.0.0.1:${await closedPort()}` }, { transformation }, pathPrefix('/broken')),
  ]
  const config = httpConfig(
    routes,
    preRouting({ transformation: { response: { set: [{ name: 'x-gateway', value: '"1"' }] } } }),
  )
  const gateway = await useGateway(t, config)
  const ask = async (path: string) => {
    const { status, headers, body } = await request(gateway.port(), { path })
    assert.equal(headers['x-gateway'], '1')
    return { status, headers, json: JSON.parse(body) as { error: string; code: number; path: string } }
  }
  const refused = await ask('/private')
  assert.equal(refused.status, 401)
  assert.equal(refused.json.code, 401)
  assert.match(refused.json.error, /^basic authentication failure/)
  assert.match(refused.headers['www-authenticate']!, /^Basic /)
  assert.equal((await ask('/limited')).status, 200)
  assert.deepEqual((await ask('/limited')).json, { error: 'rate limit exceeded', code: 429, path: '/limited' })
  assert.deepEqual((await ask('/gone')).json, { error: 'gone', code: 410, path: '/gone' })
  assert.equal((await ask('/broken')).json.code, 503)
  const missing = await request(gateway.port(), { path: '/nowhere' })
  assert.equal(missing.status, 404)
  assert.equal(missing.headers['x-gateway'], '1')
})

test('a listener’s transformation holds for routes that have none of their own', async (t) => {
  const origin = await useOrigin(t)
  const own = { transformation: { request: set('x-from', '"route"') } }
  const config = httpConfig([routeTo(origin, own, pathPrefix('/own')), routeTo(origin)], {
    listener: { policies: { transformation: { request: set('x-from', '"listener"'), response: set('x-r', '"1"') } } },
  })
  const gateway = await useGateway(t, config)
  assert.equal((await request(gateway.port(), { path: '/own' })).headers['x-r'], undefined)
  assert.equal((await request(gateway.port(), { path: '/' })).headers['x-r'], '1')
  assert.deepEqual(
    origin.seen.map(({ headers }) => headers['x-from']),
    ['route', 'listener'],
  )
})
