import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import { createSigningKey } from '../../../testing/services/issuer.ts'
import { type OpenIdProvider, useOpenIdProvider } from '../../../testing/services/openid-provider.ts'
import { useConfigFile, useProgram } from '../../../testing/process.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

const byUrl = ({ issuer, jwksPath }: OpenIdProvider) => ({ url: issuer + jwksPath })
const byBackend = ({ jwksPath }: OpenIdProvider) => ({
  remote: { backendRef: { name: 'idp' }, jwksPath, cacheDuration: '10s' },
})

function providerOf(idp: OpenIdProvider, jwks: object): object {
  return { issuer: idp.issuer, audiences: ['api'], jwks }
}

async function askWith(port: number, token: string): Promise<string> {
  const { status, body } = await request(port, { headers: { authorization: `Bearer ${token}` } })
  return status === 200 ? body : body.replace('jwt authentication failure: ', '')
}

async function setUp(t: TestContext, idp: OpenIdProvider, providers: object[]) {
  const origin = await useOrigin(t)
  let now = performance.now()
  const backends = [{ name: 'idp', static: { host: '127.0.0.1', port: idp.port } }]
  const config = httpConfig([routeTo(origin, { jwtAuthentication: { providers } })], { backends })
  const gateway = await useGateway(t, config, { monotonic: () => now })
  return {
    origin,
    ask: (token: string) => askWith(gateway.port(), token),
    pass: (milliseconds: number) => (now += milliseconds),
  }
}

const keys = ['RS256', 'ES256', 'EdDSA'].map((alg) => createSigningKey('first', alg))
for (const [name, jwks] of [
  ['a URL', byUrl],
  ['a backend', byBackend],
] as const) {
  for (const key of keys) {
    test(`tokens of an OpenID provider with ${key.alg} keys open the way, keys by ${name}`, async (t) => {
      const idp = await useOpenIdProvider(t, key)
      const { origin, ask } = await setUp(t, idp, [providerOf(idp, jwks(idp))])
      const token = await idp.token()
      assert.equal(await ask(token), 'ok')
      assert.equal(await ask(token), 'ok')
      assert.equal(await ask(await idp.token('write')), 'ok')
      assert.equal(idp.jwksRequests(), 1)
      assert.equal(origin.seen[0]!.headers.authorization, undefined)
    })
  }
}

test('keys are changed while the gateway runs', async (t) => {
  const [first, second] = [createSigningKey('first'), createSigningKey('second')]
  const idp = await useOpenIdProvider(t, first)
  const { ask, pass } = await setUp(t, idp, [providerOf(idp, byBackend(idp))])
  const old = await idp.token()
  assert.equal(await ask(old), 'ok')
  idp.useKeys(second, first)
  pass(1_000)
  assert.equal(await ask(await idp.token()), 'ok', 'the new key is found at once')
  assert.equal(await ask(old), 'ok', 'the old key is still published')
  idp.useKeys(second)
  pass(10_001)
  assert.equal(await ask(old), 'the key of the token is not known')
  assert.equal(await ask(await idp.token()), 'ok')
})

test('tokens of several providers are told apart', async (t) => {
  // The same key id, as two providers may well choose.
  const [first, second] = [
    await useOpenIdProvider(t, createSigningKey('1')),
    await useOpenIdProvider(t, createSigningKey('1')),
  ]
  const third = await useOpenIdProvider(t, createSigningKey('1'))
  const { ask } = await setUp(t, first, [providerOf(first, byBackend(first)), providerOf(second, byUrl(second))])
  assert.equal(await ask(await first.token()), 'ok')
  assert.equal(await ask(await second.token()), 'ok')
  assert.equal(await ask(await third.token()), 'the issuer of the token is not known')
  assert.equal(third.jwksRequests(), 0)
})

test('another audience is refused', async (t) => {
  const idp = await useOpenIdProvider(t, createSigningKey('1'))
  const { ask } = await setUp(t, idp, [{ ...providerOf(idp, byUrl(idp)), audiences: ['other'] }])
  assert.equal(await ask(await idp.token()), 'the token is for another audience')
})

test('every worker of the program verifies tokens', async (t) => {
  const idp = await useOpenIdProvider(t, createSigningKey('1'))
  const origin = await useOrigin(t)
  const route = routeTo(origin, { jwtAuthentication: { providers: [providerOf(idp, byUrl(idp))] } })
  const { file } = useConfigFile(t, { config: { workers: 2 }, ...httpConfig([route]) })
  const program = await useProgram(t, { args: ['-f', file] })
  const token = await idp.token()
  const answers = await Promise.all(Array.from({ length: 40 }, () => askWith(program.port(), token)))
  assert.deepEqual(new Set(answers), new Set(['ok']))
  assert.equal(await askWith(program.port(), `${token}x`), 'the signature of the token is wrong')
  assert.ok(idp.jwksRequests() >= 1 && idp.jwksRequests() <= 2, 'each worker fetches once')
  assert.ok(!program.stdout().includes(token) && !program.stderr().includes(token))
})
