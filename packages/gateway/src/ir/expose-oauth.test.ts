import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Ir } from './resources.ts'
import { request } from '../testing/client.ts'
import { createSigningKey, keySetOf, sign } from '../testing/services/issuer.ts'
import { httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../testing/scene.ts'
import { loadConfig } from '../sources/file.ts'
import { printProblems } from '../sources/print-problems.ts'

const key = createSigningKey('1')
const jwks = { inline: keySetOf(key) }
const mcpAuthentication = { issuer: 'https://issuer.test/', jwks }
const other = { ...mcpAuthentication, audiences: ['other'] }
const target = { host: '127.0.0.1:9' }

function load(config: object) {
  return loadConfig(JSON.stringify(config), { file: 'gateway.yaml', dir: '.', env: {} })
}

function irOf(config: object): Ir {
  const loaded = load(config)
  assert.ok(loaded.ok, loaded.ok ? '' : printProblems(loaded.problems))
  return loaded.ir
}

function matchesOf(config: object): string[][] {
  return irOf(config).routes.map(({ matches }) => matches.map(({ path }) => `${path.kind} ${path.value}`))
}

const BELOW = [
  'pathPrefix /.well-known/oauth-protected-resource/mcp',
  'pathPrefix /.well-known/oauth-authorization-server/mcp',
  'pathPrefix /.well-known/openid-configuration/mcp',
]
const ROOT = [
  'exact /.well-known/oauth-protected-resource',
  'exact /.well-known/oauth-authorization-server',
  'exact /.well-known/openid-configuration',
  'exact /.well-known/oauth-authorization-server/client-registration',
  'exact /.well-known/openid-configuration/client-registration',
  'exact /.well-known/oauth-authorization-server/client-authorization',
  'exact /.well-known/openid-configuration/client-authorization',
]

test('a route with MCP OAuth matches the documents about its endpoint, and those of the host when it is alone', () => {
  const route = routeTo(target, { mcpAuthentication }, pathPrefix('/mcp'))
  const plain = routeTo(target, {}, pathPrefix('/'))
  assert.deepEqual(matchesOf(httpConfig([route, plain])), [['pathPrefix /mcp', ...BELOW, ...ROOT], ['pathPrefix /']])
})

test('an exact path has its documents at exact paths', () => {
  const route = routeTo(target, { mcpAuthentication }, { matches: [{ path: { exact: '/a' }, method: 'POST' }] })
  const { routes } = irOf(httpConfig([route]))
  const { matches } = routes[0]!
  assert.ok(matches.slice(1).every(({ path, method }) => path.kind === 'exact' && method === null))
  const paths = matches.map(({ path }) => path.value)
  for (const path of ['/a/.well-known/openid-configuration', '/.well-known/oauth-protected-resource/a']) {
    assert.ok(paths.includes(path), path)
  }
})

test('two endpoints with different settings do not get the root documents of their host', () => {
  const routes = (second: object) => [
    routeTo(target, { mcpAuthentication }, pathPrefix('/mcp')),
    routeTo(target, { mcpAuthentication: second }, pathPrefix('/two')),
  ]
  const hasRoot = (config: object) => matchesOf(config).map((matches) => matches.includes(ROOT[0]!))
  assert.deepEqual(hasRoot(httpConfig(routes(other))), [false, false])
  assert.deepEqual(hasRoot(httpConfig(routes(mcpAuthentication))), [true, false], 'the first one for both')
  const [first, second] = routes(other) as [object, object]
  const apart = [
    { ...first, hostnames: ['a.test'] },
    { ...second, hostnames: ['b.test'] },
  ]
  assert.deepEqual(hasRoot(httpConfig(apart)), [true, true])
})

test('a path that another route matches explicitly stays with that route', () => {
  const own = routeTo(target, {}, pathPrefix('/.well-known/oauth-protected-resource'))
  const route = routeTo(target, { mcpAuthentication }, pathPrefix('/mcp'))
  const [matches] = matchesOf(httpConfig([route, own]))
  assert.ok(!matches!.includes(ROOT[0]!))
  assert.ok(matches!.includes(ROOT[1]!))
})

test('a policy of the gateway, of a listener or of a route by name has the same effect', () => {
  const plain = routeTo(target, {}, { ...pathPrefix('/mcp'), name: 'tools' })
  const expected = [['pathPrefix /mcp', ...BELOW, ...ROOT]]
  assert.deepEqual(matchesOf(httpConfig([plain], { listener: { policies: { mcpAuthentication } } })), expected)
  for (const ref of [
    { kind: 'Gateway', name: 'default' },
    { kind: 'Route', name: 'tools' },
  ]) {
    const policies = [{ name: 'p', targetRefs: [ref], traffic: { mcpAuthentication } }]
    assert.deepEqual(matchesOf({ ...httpConfig([plain]), policies }), expected)
  }
  const jwtAuthentication = { providers: [mcpAuthentication], mcp: {} }
  assert.deepEqual(matchesOf(httpConfig([plain], { listener: { policies: { jwtAuthentication } } })), expected)
})

test('before routing all documents are served, on routes or not, and everything else needs a token', async (t) => {
  const origin = await useOrigin(t)
  const listener = { policies: { phase: 'PreRouting', mcpAuthentication } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, {}, pathPrefix('/mcp'))], { listener }))
  const statusOf = async (path: string, headers = {}) => (await request(gateway.port(), { path, headers })).status
  assert.equal(await statusOf('/.well-known/oauth-protected-resource'), 200)
  assert.equal(await statusOf('/.well-known/oauth-protected-resource/mcp'), 200)
  assert.equal(await statusOf('/mcp'), 401)
  assert.equal(await statusOf('/unknown'), 401)
  assert.equal(await statusOf('/mcp', { authorization: `Bearer ${await sign(key)}` }), 200)
})

const deprecated = { issuer: 'https://issuer.test/', jwks: { backendRef: { name: 'keys' }, jwksPath: 'jwks' } }

test('the deprecated policy of backends still works, and is reported at its place', async (t) => {
  const origin = await useOrigin(t)
  const keys = await useOrigin(t, (_seen, response) => response.end(keySetOf(key)))
  const backends = [{ name: 'keys', static: { host: '127.0.0.1', port: keys.port } }]
  const own = {
    ...pathPrefix('/mcp'),
    backends: [{ host: origin.host, policies: { mcp: { authentication: deprecated } } }],
  }
  const config = httpConfig([own, routeTo(origin, {}, pathPrefix('/open'))], { backends })
  const loaded = load(config)
  assert.ok(loaded.ok)
  assert.match(
    printProblems(loaded.warnings),
    /gateway\.yaml:1:\d+[^]*backends\[0\]\.policies\.mcp\.authentication[^]*found `authentication`, which is deprecated[^]*`jwtAuthentication\.mcp`/,
  )
  assert.equal(loaded.warnings.length, 1)
  const gateway = await useGateway(t, config)
  const ask = (path: string, headers = {}) => request(gateway.port(), { path, headers })
  const refused = await ask('/mcp')
  assert.equal(refused.status, 401)
  assert.match(refused.headers['www-authenticate']!, /oauth-protected-resource\/mcp"/)
  assert.equal((await ask('/.well-known/oauth-protected-resource/mcp')).status, 200)
  assert.equal((await ask('/mcp', { authorization: `Bearer ${await sign(key)}` })).status, 200)
  assert.equal(origin.seen[0]!.headers.authorization, undefined)
  assert.equal((await ask('/open')).status, 200, 'other routes stay as they are')
})

test('the deprecated policy holds wherever backend policies do, and gives way to the one of the route', () => {
  const backends = [{ name: 'keys', static: { host: '127.0.0.1', port: 1 } }]
  const backend = { mcp: { authentication: deprecated } }
  const asked = (config: object) =>
    irOf({ ...config, backends }).policies.flatMap(({ traffic }) => traffic?.mcpAuthentication ?? [])
  assert.equal(asked(httpConfig([routeTo(target, { backend })])).length, 1)
  const policies = [{ name: 'p', targetRefs: [{ kind: 'Gateway', name: 'default' }], backend }]
  assert.equal(asked({ ...httpConfig([routeTo(target), routeTo(target, {}, pathPrefix('/b'))]), policies }).length, 2)
  assert.deepEqual(
    asked(httpConfig([routeTo(target, { backend, mcpAuthentication: other })])).map((each) => each.audiences),
    [['other']],
  )
})

test('rules of a nearer policy do not take the deprecated authentication back', () => {
  const keys = [{ name: 'keys', static: { host: '127.0.0.1', port: 1 } }]
  const entry = { ...target, policies: { mcp: { authorization: { rules: ['true'] } } } }
  const route = { policies: { backend: { mcp: { authentication: deprecated } } }, backends: [entry] }
  const ir = irOf(httpConfig([route], { backends: keys }))
  assert.equal(ir.policies.filter(({ traffic }) => traffic?.mcpAuthentication !== undefined).length, 1)
})

test('the deprecated policy of one target holds for the route of its backend', () => {
  const backends = [{ name: 'keys', static: { host: '127.0.0.1', port: 1 } }]
  const policies = { mcp: { authentication: deprecated } }
  const targets = [{ name: 'a', static: { host: '127.0.0.1', port: 1, policies } }]
  const ir = irOf(httpConfig([{ backends: [{ mcp: { targets } }] }], { backends }))
  assert.equal(ir.policies.filter(({ traffic }) => traffic?.mcpAuthentication !== undefined).length, 1)
})

test('backends of one route that ask for different tokens are refused', () => {
  const entry = (audience: string) => ({
    ...target,
    policies: { mcp: { authentication: { ...deprecated, audiences: [audience] } } },
  })
  const backends = [{ name: 'keys', static: { host: '127.0.0.1', port: 1 } }]
  const config = (audiences: string[]) => httpConfig([{}, { backends: audiences.map(entry) }], { backends })
  const loaded = load(config(['a', 'b']))
  assert.ok(!loaded.ok)
  assert.match(printProblems(loaded.problems), /routes\[1\][^]*different `mcp.authentication`/)
  assert.ok(load(config(['a', 'a'])).ok)
})
