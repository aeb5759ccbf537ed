import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BackendsView, RoutesView, ViewedMatch } from '@portico/gateway/admin-config'
import { addressOf, callTo, playTargets } from './targets.ts'

test('a route to models is called where its first match leads', () => {
  for (const [kind, value, path] of [
    ['pathPrefix', '/', '/v1'],
    ['pathPrefix', '/v1', '/v1'],
    ['pathPrefix', '/v1/', '/v1'],
    ['pathPrefix', '/team/models', '/team/models/v1'],
    ['exact', '/v1/chat/completions', '/v1'],
    ['exact', '/chat/completions', ''],
    ['regex', '/v[12]/.*', '/v1'],
  ] as const)
    assert.equal(found('ai', [match(kind, value)])[0]?.path, path, `${kind} ${value}`)
  assert.equal(found('ai', [])[0]?.path, '/v1')
})

test('a route to tools is called there too, but not by the older transport', () => {
  assert.equal(found('mcp', [match('exact', '/sse'), match('pathPrefix', '/mcp')])[0]?.path, '/mcp')
  assert.equal(found('mcp', [match('pathPrefix', '/')])[0]?.path, '/mcp')
  assert.equal(found('mcp', [match('pathPrefix', '/tools/')])[0]?.path, '/tools')
})

test('host and headers are those that the route asks for, and the address is one that clients can use', () => {
  const wanted = { ...match('pathPrefix', '/v1'), headers: [{ name: 'x-team', kind: 'exact' as const, value: 'a' }] }
  const [plain] = found('ai', [wanted])
  assert.ok(plain !== undefined)
  assert.deepEqual(callTo(plain), { bind: 'bind/1', listener: 'bind/1/web', headers: [['x-team', 'a']] })
  assert.equal(addressOf(plain, 'gateway.local'), 'http://gateway.local:3000')
  const [named] = found('ai', [wanted], ['*.example.com'])
  assert.ok(named !== undefined)
  assert.equal(callTo(named).host, 'any.example.com')
  assert.equal(addressOf(named, 'gateway.local'), 'http://any.example.com:3000')
})

function match(kind: ViewedMatch['path']['kind'], value: string): ViewedMatch {
  return { path: { kind, value }, method: null, headers: [], query: [] }
}

function found(kind: 'ai' | 'mcp', matches: ViewedMatch[], hostnames: string[] = []) {
  const backend = { backend: 'b', name: 'b', weight: 1, policies: [] }
  const route = { key: 'r', name: 'r', rule: '', hostnames, matches, policies: [], backends: [backend] }
  const listener = { key: 'bind/1/web', name: 'web', protocol: 'HTTP', hostname: '', policies: [], routes: [route] }
  const view = {
    generation: 1,
    frontend: [],
    binds: [{ key: 'bind/1', port: 3000, address: '', listeners: [listener] }],
  }
  const backends = {
    generation: 1,
    unheard: 0,
    backends: [{ key: 'b', name: 'b', kind, at: '', groups: [], activeGroup: null, endpoints: [] }],
  }
  return playTargets(view satisfies RoutesView, backends satisfies BackendsView, kind)
}
