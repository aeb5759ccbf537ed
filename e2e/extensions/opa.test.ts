import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import { parse } from 'yaml'
import { request, sendRaw } from '../../packages/gateway/src/testing/client.ts'
import { FakeTime } from '../../packages/gateway/src/testing/fake-time.ts'
import { fencesOf } from '../../packages/gateway/src/testing/docs/docs-pages.ts'
import { createSigningKey, ISSUER, keySetOf, sign } from '../../packages/gateway/src/testing/services/issuer.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../packages/gateway/src/testing/scene.ts'
import { useSilentLink } from '../../packages/gateway/src/testing/http/silent-link.ts'
import { QUIET_MS } from '../../packages/http/src/client/http2/keepalive.ts'
import { useShippedGateway } from '../shipped-gateway.ts'
import { useOpa, withoutOpa as skip } from './servers.ts'

const page = readFileSync(new URL('../../docs/open-policy-agent.md', import.meta.url), 'utf8')
const textOf = (lang: string): string => fencesOf(page).find((fence) => fence.lang === lang)?.text ?? ''

interface Config {
  binds: { port: number; listeners: { routes: { policies: Record<string, object>; backends: object[] }[] }[] }[]
}

/** The gateway of the page with its policy, but for addresses and keys. */
async function useRecipe(t: TestContext, extAuth: object = {}) {
  const [opa, origin] = [await useOpa(t, textOf('rego')), await useOrigin(t)]
  const key = createSigningKey('main')
  const config = parse(textOf('yaml')) as Config
  const bind = config.binds[0]
  const route = bind?.listeners[0]?.routes[0]
  assert.ok(bind !== undefined && route !== undefined)
  bind.port = 0
  route.backends = [{ host: origin.host }]
  route.policies['jwtAuthentication'] = { providers: [{ issuer: ISSUER, jwks: { inline: keySetOf(key) } }] }
  // A loaded machine takes its time to start answering.
  const backendRef = { host: opa.host }
  route.policies['extAuth'] = { ...route.policies['extAuth'], backendRef, timeout: '20s', ...extAuth }
  const gateway = await useShippedGateway(t, config)
  const as = async (claims: object) => ({ authorization: `Bearer ${await sign(key, { ...claims })}` })
  const order = async (claims: object, amount: unknown, path = '/orders/north') => {
    const headers = { ...(await as(claims)), 'content-type': 'application/json', 'x-debug': '1' }
    return request(gateway.port(), { method: 'POST', path, headers, body: JSON.stringify({ amount, note: 'größer' }) })
  }
  return { opa, origin, gateway, as, order }
}

const clerk = { team: 'red', role: 'clerk' }

describe("Open Policy Agent's Envoy plugin", { skip }, () => {
  it('is pinged after pauses, and never so often that it hangs up', async (t) => {
    const [opa, origin, time] = [await useOpa(t, textOf('rego')), await useOrigin(t), new FakeTime()]
    const way = await useSilentLink(t, Number(opa.host.split(':')[1]))
    const extAuth = { backendRef: { host: way.host }, timeout: '5m' }
    const config = httpConfig([routeTo(origin, { extAuth })])
    const gateway = await useGateway(t, config, { deadlines: time.deadlines })
    for (let i = 0; i < 12; i++) {
      assert.equal((await request(gateway.port())).status, 403, 'it has nobody to say who the client is')
      await time.advance(QUIET_MS)
    }
    assert.equal(way.connections, 1)
  })

  it('decides by method, claims and body, and its headers and metadata arrive', async (t) => {
    const { origin, gateway, as, order } = await useRecipe(t)
    const read = await request(gateway.port(), { path: '/orders?page=2', headers: await as(clerk) })
    assert.deepEqual([read.status, read.headers['x-decided-by']], [200, 'opa'])
    const small = await order(clerk, 100)
    assert.equal(small.status, 200)
    const seen = origin.seen[1]
    assert.deepEqual(
      [seen?.headers['x-team'], seen?.headers['x-debug'], seen?.url],
      ['red', undefined, '/orders/north'],
    )
    assert.equal(seen?.body, '{"amount":100,"note":"größer"}')
    assert.equal((await order({ team: 'red', role: 'manager' }, 5_000)).status, 200)
    assert.equal(origin.seen.length, 3)
    assert.deepEqual(gateway.bugs, [])
  })

  it('refuses with status, headers and body of its own, or with 403', async (t) => {
    const { origin, gateway, order } = await useRecipe(t)
    const large = await order(clerk, 101)
    assert.deepEqual(
      [large.status, large.body, large.headers['x-limit'], large.headers['x-decided-by']],
      [402, 'orders above 100 need a manager', '100', undefined],
    )
    const elsewhere = await order(clerk, 1, '/orders/south')
    assert.equal(elsewhere.status, 403)
    assert.equal(origin.seen.length, 0)
    await gateway.finished(2)
    assert.deepEqual(
      gateway.records.map(({ reason, error }) => [reason, error]),
      [
        ['ExtAuth', 'denied by the authorizer'],
        ['ExtAuth', 'denied by the authorizer'],
      ],
    )
  })

  it('later rules read the metadata of its decision', async (t) => {
    const { origin, gateway, order } = await useRecipe(t)
    assert.equal((await order({ team: 'suspended', role: 'clerk' }, 1)).status, 403)
    await gateway.finished(1)
    assert.equal(gateway.records[0]?.reason, 'Authorization')
    assert.equal(origin.seen.length, 0)
  })

  it('sees no body that is longer than it may be, and refuses JSON that it cannot read', async (t) => {
    const { origin, gateway, as } = await useRecipe(t, { forwardBody: { maxSize: 32 } })
    const headers = { ...(await as(clerk)), 'content-type': 'application/json' }
    const post = (body: string) => request(gateway.port(), { method: 'POST', path: '/orders/north', headers, body })
    assert.equal((await post('{"amount":1}')).status, 200)
    const long = `{"amount":1,"note":"${'x'.repeat(40)}"}`
    assert.equal((await post(long)).status, 403)
    assert.equal((await post('{"amount":')).status, 400)
    // Nothing tells the plugin that it has only the beginning of this one.
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const chunks = `${long.length.toString(16)}\r\n${long}\r\n0\r\n\r\n`
    const head = `POST /orders/north HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n${lines.join('')}\r\n`
    assert.equal((await sendRaw(gateway.port(), head + chunks)).status, 400)
    assert.equal(origin.seen.length, 1)
  })

  it('killed in the middle, it counts as not asked', async (t) => {
    const { opa, gateway, as } = await useRecipe(t, { timeout: '2s' })
    const headers = await as(clerk)
    assert.equal((await request(gateway.port(), { headers })).status, 200)
    await opa.kill()
    const answer = await request(gateway.port(), { headers })
    assert.deepEqual([answer.status, answer.body], [403, 'external authorization failed'])
  })
})
