import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../sources/file.ts'
import { matchRoute } from './match-route.ts'
import type { MatchQuestion, PortMatch } from '../findings/route-match.ts'

const TEXT = `binds:
- port: 8080
  listeners:
  - name: shop
    hostname: shop.example.com
    routes:
    - name: orders
      matches: [{ path: { pathPrefix: /orders }, method: GET, headers: [{ name: x-team, value: { exact: a } }] }]
      backends: [{ host: "127.0.0.1:9" }]
    - name: rest
      matches: [{ path: { exact: /rest } }]
      backends: [{ host: "127.0.0.1:9" }]
- port: 9090
  listeners:
  - name: any
    policies: { timeouts: { request: 1s } }
    routes:
    - { name: all, backends: [{ host: "127.0.0.1:9" }] }
`
const loaded = loadConfig(TEXT, { file: 'test', dir: '.', env: {} })
assert.ok(loaded.ok, JSON.stringify(loaded))
const live = { ir: loaded.ir, generation: 4, ports: { 'bind/8080': 18_080 } }

function ports(question: MatchQuestion): readonly PortMatch[] {
  const answer = matchRoute(question, live)
  assert.ok(typeof answer !== 'string', JSON.stringify(answer))
  assert.equal(answer.generation, 4)
  return answer.ports
}

test('the port of the address chooses the bind, its host the listener, and the router the route', () => {
  const [only, ...others] = ports({ url: 'http://shop.example.com:18080/orders/1?a=b', headers: { 'X-Team': 'a' } })
  assert.deepEqual(others, [])
  assert.deepEqual([only?.port, only?.listener?.name, only?.route?.name], [18_080, 'shop', 'orders'])
  assert.deepEqual(
    only?.nearest.map(({ name, lacks }) => [name, lacks]),
    [['rest', ['path exactly /rest']]],
  )
})

test('without a match the nearest routes are listed, with the conditions that failed', () => {
  const [only] = ports({ url: 'http://shop.example.com:18080/orders/1', method: 'POST' })
  assert.equal(only?.route, null)
  assert.deepEqual(
    only?.nearest.map(({ name, lacks }) => [name, lacks]),
    [
      ['orders', ['method GET', 'header x-team']],
      ['rest', ['path exactly /rest']],
    ],
  )
})

test('a path alone is matched at every port, and a listener for another host is reported', () => {
  const [shop, any] = ports({ url: '/rest' })
  assert.equal(shop?.listener, null)
  assert.match(shop?.remarks[0] ?? '', /shop\.example\.com/)
  assert.equal(any?.route?.name, 'all')
})

test('an invalid URL is refused', () => {
  for (const url of ['rest', 'ftp://x/', 'http://', 'http://user:pw@x/']) {
    assert.match(JSON.stringify(matchRoute({ url }, live)), /^"url: expected/, url)
  }
})
