import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import { createSigningKey, ISSUER, keySetOf, sign, type SigningKey } from '../../../testing/services/issuer.ts'
import { closedPort, httpConfig, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'
import { lookupIn } from '../../../testing/lookup.ts'
import { useTlsFiles } from '../../../testing/tls-files.ts'

const key = createSigningKey('first')
const next = createSigningKey('second')

/** An issuer whose answers the test decides, and a clock that the test moves. */
async function useIssuer(t: TestContext) {
  let answer = (response: ServerResponse): void => void response.end(keySetOf(key))
  const issuer = await useOrigin(t, (_seen, response) => answer(response))
  return {
    ...issuer,
    answerWith: (change: (response: ServerResponse) => void) => (answer = change),
    publish: (...keys: SigningKey[]) => (answer = (response) => void response.end(keySetOf(...keys))),
  }
}

async function setUp(t: TestContext, jwks: (host: string, port: number) => object, mode = 'Strict') {
  const issuer = await useIssuer(t)
  const origin = await useOrigin(t)
  // Stands still until the test moves it: on a busy machine the requests themselves take seconds.
  let now = performance.now()
  const backends = [{ name: 'idp', static: { host: '127.0.0.1', port: issuer.port } }]
  const jwtAuthentication = { mode, providers: [{ issuer: ISSUER, jwks: jwks(issuer.host, issuer.port) }] }
  const config = httpConfig([routeTo(origin, { jwtAuthentication })], { backends })
  const gateway = await useGateway(t, config, { monotonic: () => now })
  const ask = async (token: string) => {
    const { status, body } = await request(gateway.port(), { headers: { authorization: `Bearer ${token}` } })
    return status === 200 ? body : body.replace('jwt authentication failure: ', '')
  }
  return { issuer, origin, gateway, config, ask, pass: (milliseconds: number) => (now += milliseconds) }
}

const byUrl = (host: string) => ({ url: `http://${host}/keys?v=1` })
const byBackend = () => ({ remote: { backendRef: { name: 'idp' }, jwksPath: '.well-known/jwks.json' } })

for (const [name, jwks, path] of [
  ['a URL', byUrl, '/keys?v=1'],
  ['a backend', byBackend, '/.well-known/jwks.json'],
] as const) {
  test(`keys are fetched from ${name} once, when the first token comes`, async (t) => {
    const { issuer, ask } = await setUp(t, jwks)
    assert.equal(issuer.seen.length, 0)
    const tokens = await Promise.all(Array.from({ length: 8 }, (_, index) => sign(key, { sub: String(index) })))
    assert.deepEqual(new Set(await Promise.all(tokens.map(ask))), new Set(['ok']))
    assert.equal(issuer.seen.length, 1)
    assert.equal(issuer.seen[0]!.url, path)
    assert.equal(issuer.seen[0]!.headers.host, issuer.host)
    assert.equal(issuer.seen[0]!.headers.authorization, undefined)
  })
}

test('a new key is found when its first token comes', async (t) => {
  const { issuer, ask, pass } = await setUp(t, byUrl)
  assert.equal(await ask(await sign(key)), 'ok')
  issuer.publish(key, next)
  pass(1_000)
  assert.equal(await ask(await sign(next)), 'ok')
  assert.equal(await ask(await sign(key)), 'ok')
  assert.equal(issuer.seen.length, 2)
})

test('a key that was taken out stops after the time that keys are kept', async (t) => {
  const remote = () => ({ remote: { ...byBackend().remote, cacheDuration: '10s' } })
  const { issuer, ask, pass } = await setUp(t, remote)
  const token = await sign(key)
  assert.equal(await ask(token), 'ok')
  issuer.publish(next)
  assert.equal(await ask(token), 'ok')
  pass(10_001)
  assert.equal(await ask(token), 'the key of the token is not known')
})

test('made-up key ids do not flood the issuer', async (t) => {
  const { issuer, ask, pass } = await setUp(t, byUrl)
  await ask(await sign(key))
  pass(1_000)
  const fakes = await Promise.all(Array.from({ length: 20 }, (_, index) => sign(key, {}, { kid: `fake ${index}` })))
  const answers = await Promise.all(fakes.map(ask))
  assert.deepEqual(new Set(answers), new Set(['the key of the token is not known']))
  assert.equal(issuer.seen.length, 2)
})

test('an issuer that misbehaves does not take the known keys away', async (t) => {
  const { issuer, ask, pass, gateway } = await setUp(t, byUrl)
  const token = await sign(key)
  assert.equal(await ask(token), 'ok')
  const misbehaviours: ((response: ServerResponse) => void)[] = [
    (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
    (response) => response.writeHead(500).end(keySetOf(next)),
    (response) => response.end('<html>'),
    (response) => response.end(JSON.stringify({ keys: [] })),
    (response) => response.end(JSON.stringify({ keys: [next.jwk], pad: 'x'.repeat(1024 * 1024) })),
    (response) => response.destroy(),
  ]
  for (const [index, misbehave] of misbehaviours.entries()) {
    issuer.answerWith(misbehave)
    pass(400_000)
    assert.equal(await ask(token), 'ok')
    assert.equal(await ask(await sign(next)), 'the key of the token is not known')
    assert.equal(issuer.seen.length, index + 2, 'one fetch for each, and no redirect followed')
  }
  assert.deepEqual(gateway.bugs, [])
  issuer.publish(next)
  pass(400_000)
  assert.equal(await ask(await sign(next)), 'ok')
  assert.equal(await ask(token), 'the key of the token is not known')
})

test('without keys every token is refused, however many wait', async (t) => {
  const { issuer, ask, pass, gateway } = await setUp(t, byUrl)
  issuer.answerWith((response) => response.destroy())
  const tokens = await Promise.all(Array.from({ length: 10 }, (_, index) => sign(key, { sub: String(index) })))
  const answers = await Promise.all([...tokens, ...tokens].map(ask))
  assert.deepEqual(new Set(answers), new Set(['signing keys are not available']))
  assert.deepEqual(gateway.bugs, [])
  issuer.publish(key)
  pass(1_000)
  assert.equal(await ask(tokens[0]!), 'ok')
})

test('Permissive passes without claims while there are no keys', async (t) => {
  const port = await closedPort()
  const { origin, ask } = await setUp(t, () => byUrl(`127.0.0.1:${port}`), 'Permissive')
  const token = await sign(key)
  assert.equal(await ask(token), 'ok')
  assert.equal(origin.seen[0]!.headers.authorization, `Bearer ${token}`)
})

test('clients that leave while keys are fetched harm nobody', async (t) => {
  const { issuer, ask, gateway } = await setUp(t, byUrl)
  const held: ServerResponse[] = []
  issuer.answerWith((response) => held.push(response))
  const waiting = ask(await sign(key))
  await until(() => held.length === 1)
  gateway.drain()
  held[0]!.end(keySetOf(key))
  assert.equal(await waiting, 'ok')
})

test('keys live across reloads, and another address is another source', async (t) => {
  const { issuer, ask, gateway, config } = await setUp(t, byBackend)
  const token = await sign(key)
  assert.equal(await ask(token), 'ok')
  const changed = structuredClone(config) as typeof config & {
    frontend: object
    backends: { static: { port: number } }[]
  }
  changed.frontend = { http: { maxBufferSize: 4096 } }
  await gateway.reload(JSON.stringify(changed))
  assert.equal(await ask(await sign(key, { sub: 'bob' })), 'ok')
  assert.equal(issuer.seen.length, 1)
  const elsewhere = await useIssuer(t)
  elsewhere.publish(next)
  changed.backends[0]!.static.port = elsewhere.port
  await gateway.reload(JSON.stringify(changed))
  assert.equal(await ask(token), 'the key of the token is not known')
  assert.equal(await ask(await sign(next)), 'ok')
})

test('the policies of the backend hold for its keys, and a URL trusts what the system trusts', async (t) => {
  const { dir } = useTlsFiles(t, ['idp.test'])
  const read = (file: string) => readFileSync(join(dir, file), 'utf8')
  const hosts: (string | undefined)[] = []
  const server = createServer({ cert: read('idp.test.crt'), key: read('idp.test.key') }, (message, response) => {
    hosts.push(message.headers.host)
    response.end(keySetOf(key))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const origin = await useOrigin(t)
  const backends = [
    { name: 'idp', static: { host: 'idp.test', port }, policies: { tls: { caCertificateRefs: ['ca.crt'] } } },
  ]
  const ask = async (jwks: object) => {
    const policies = { jwtAuthentication: { providers: [{ issuer: ISSUER, jwks }] } }
    const config = httpConfig([routeTo(origin, policies)], { backends })
    const gateway = await useGateway(t, config, { dir, lookup: lookupIn({ 'idp.test': ['127.0.0.1'] }) })
    return (await request(gateway.port(), { headers: { authorization: `Bearer ${await sign(key)}` } })).body
  }
  assert.equal(await ask(byBackend()), 'ok')
  assert.deepEqual(hosts, [`idp.test:${port}`])
  const refused = 'jwt authentication failure: signing keys are not available'
  assert.equal(await ask({ url: `https://idp.test:${port}/keys` }), refused)
  assert.equal(await ask({ url: `http://idp.test:${port}/keys` }), refused)
  assert.equal(hosts.length, 1)
})
