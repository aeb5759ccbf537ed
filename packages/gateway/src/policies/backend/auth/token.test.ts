import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { checkCompile } from '../../../compile/check.ts'
import { loadConfig } from '../../../sources/file.ts'
import { request } from '../../../testing/client.ts'
import { FakeTime } from '../../../testing/fake-time.ts'
import { lookupIn } from '../../../testing/lookup.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'
import '../../../testing/all-features.ts'

const AZURE = { secretRef: { data: { clientID: 'app', tenantID: 'tenant', clientSecret: 's3cret' } } }

const give: OriginHandler = (_request, response) =>
  response.end(JSON.stringify({ access_token: 't0ken', expires_in: 3600 }))

async function setUp(t: TestContext, policies: object, handler: OriginHandler = give, options: object = {}) {
  const endpoint = await useOrigin(t, handler)
  const origin = await useOrigin(t)
  const env = { AZURE_AUTHORITY_HOST: `http://${endpoint.host}` }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]), { env, ...options })
  return { endpoint, origin, gateway, port: gateway.port() }
}

test('a token of Azure is fetched once, and shown with each request', async (t) => {
  const { endpoint, origin, port } = await setUp(t, { backend: { auth: { azure: AZURE } } })
  const answers = await Promise.all([1, 2, 3].map(() => request(port, { headers: { authorization: 'Bearer mine' } })))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  )
  for (const { headers } of origin.seen) assert.equal(headers.authorization, 'Bearer t0ken')
  assert.equal(endpoint.seen.length, 1)
  assert.equal(endpoint.seen[0]!.url, '/tenant/oauth2/v2.0/token')
  const scope = new URLSearchParams(endpoint.seen[0]!.body).get('scope')
  assert.equal(scope, 'https://cognitiveservices.azure.com/.default')
})

test('a reload keeps the token', async (t) => {
  const { endpoint, origin, gateway, port } = await setUp(t, { backend: { auth: { azure: AZURE } } })
  await request(port)
  const headerModifiers = { request: { set: [{ name: 'x-next', value: '1' }] } }
  const next = httpConfig([routeTo(origin, { headerModifiers, backend: { auth: { azure: AZURE } } })])
  await gateway.reload(JSON.stringify(next))
  await request(port)
  assert.equal(origin.seen[1]!.headers['x-next'], '1')
  assert.equal(origin.seen[1]!.headers.authorization, 'Bearer t0ken')
  assert.equal(endpoint.seen.length, 1)
})

test('a refused token is told to the client without secrets, and asked for again after a while', async (t) => {
  let isUp = false
  let now = 0
  const { endpoint, origin, gateway, port } = await setUp(
    t,
    { backend: { auth: { azure: AZURE } } },
    (seen, response, message) => {
      if (isUp) return give(seen, response, message)
      response.writeHead(401).end(JSON.stringify({ error: 'invalid_client', error_description: 's3cret' }))
    },
    { monotonic: () => now },
  )
  const fault = 'backend authentication failed: no Azure token: the endpoint answered 401, invalid_client'
  for (let i = 0; i < 2; i++) {
    const { status, body } = await request(port)
    assert.deepEqual([status, body], [500, fault])
  }
  assert.equal(endpoint.seen.length, 1)
  assert.equal(origin.seen.length, 0)
  isUp = true
  now = 1_000
  assert.equal((await request(port)).status, 200)
  assert.ok(!gateway.lines.join().includes('s3cret'))
})

test('a client that leaves while a token is fetched costs the backend nothing', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { endpoint, origin, gateway, port } = await setUp(
    t,
    { backend: { auth: { azure: AZURE } } },
    (...exchange) => void gate.promise.then(() => give(...exchange)),
  )
  const leaving = connect(port, '127.0.0.1')
  leaving.write('GET /gone HTTP/1.1\r\nhost: a\r\n\r\n')
  await until(() => endpoint.seen.length === 1)
  leaving.destroy()
  await gateway.finished(1)
  const staying = request(port, { path: '/stays' })
  gate.resolve()
  assert.equal((await staying).status, 200)
  assert.deepEqual(
    origin.seen.map(({ url }) => url),
    ['/stays'],
  )
  assert.deepEqual(gateway.bugs, [])
})

test('a token that comes too late for the request is not waited for', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { origin, gateway, port } = await setUp(
    t,
    { backend: { http: { requestTimeout: '50ms' }, auth: { azure: AZURE } } },
    (...exchange) => void gate.promise.then(() => give(...exchange)),
  )
  const { status, body } = await request(port, { method: 'POST', body: 'body' })
  assert.deepEqual([status, body], [504, 'upstream call timeout'])
  gate.resolve()
  await until(() => gateway.records.length === 1)
  assert.equal(origin.seen.length, 0)
})

test('a try that waited in vain is repeated, because nothing was sent', async (t) => {
  const time = new FakeTime()
  const { endpoint, origin, port } = await setUp(
    t,
    { retry: { attempts: 1 }, backend: { http: { requestTimeout: '300ms' }, auth: { azure: AZURE } } },
    (...exchange) => void time.advance(1_000).then(() => give(...exchange)),
    { deadlines: time.deadlines },
  )
  const { status } = await request(port, { method: 'POST', body: 'body' })
  assert.equal(status, 200)
  assert.deepEqual(
    origin.seen.map(({ body, headers }) => [body, headers.authorization]),
    [['body', 'Bearer t0ken']],
  )
  assert.equal(endpoint.seen.length, 1)
})

test('traces show the policy, and no token', async (t) => {
  const { gateway, port } = await setUp(t, { backend: { auth: { azure: AZURE } } })
  const watching = gateway.trace()
  await request(port)
  const events = await watching
  const policies = events.map(({ message }) => message).filter(({ type }) => type === 'policy')
  assert.ok(policies.some((message) => 'kind' in message && message['kind'] === 'auth'))
  const text = JSON.stringify(events) + gateway.lines.join()
  assert.ok(!text.includes('t0ken') && !text.includes('s3cret'), text)
})

test('a hosted model of Azure wants a token of another scope', async (t) => {
  const { scopes, gateway } = await useScopes(t, 'my.services.ai.azure.com')
  await request(gateway.port())
  assert.deepEqual(scopes, ['https://ai.azure.com/.default'])
})

/** A backend of that name, which cannot be reached: the token comes first. */
async function useScopes(t: TestContext, host: string) {
  const scopes: (string | null)[] = []
  const endpoint = await useOrigin(t, (seen, response, message) => {
    scopes.push(new URLSearchParams(seen.body).get('scope'))
    give(seen, response, message)
  })
  const backend = { host: `${host}:443`, policies: { auth: { azure: AZURE } } }
  const gateway = await useGateway(t, httpConfig([{ backends: [backend] }]), {
    env: { AZURE_AUTHORITY_HOST: `http://${endpoint.host}` },
    lookup: lookupIn({}),
  })
  return { scopes, gateway }
}

test('tokens of Google are for the API, or for the host of the backend', async (t) => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const GOOGLE = JSON.stringify({ type: 'service_account', client_email: 'a@b.example', private_key: privateKey })
  const claims = { exp: Math.floor(Date.now() / 1000) + 3600 }
  const idToken = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`
  const google = await useOrigin(t, (seen, response) => {
    const assertion = new URLSearchParams(seen.body).get('assertion')!
    const { target_audience: audience } = JSON.parse(Buffer.from(assertion.split('.')[1]!, 'base64url').toString()) as {
      target_audience?: string
    }
    audiences.push(audience)
    const body = audience === undefined ? { access_token: 't0ken', expires_in: 3599 } : { id_token: idToken }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  })
  const audiences: (string | undefined)[] = []
  const options = {
    env: { GOOGLE },
    fetch: (url: URL, init: RequestInit) => {
      assert.equal(url.href, 'https://oauth2.googleapis.com/token')
      return fetch(`http://${google.host}/token`, init)
    },
  }
  for (const [gcp, expected] of [
    [{}, 't0ken'],
    [{ type: 'idToken' }, idToken],
    [{ type: 'IdToken', audience: 'https://run.example' }, idToken],
  ] as const) {
    const auth = { gcp: { ...gcp, secretRef: { env: 'GOOGLE' } } }
    const { origin, port } = await setUp(t, { backend: { auth } }, give, options)
    assert.equal((await request(port)).status, 200)
    assert.equal(origin.seen[0]!.headers.authorization, `Bearer ${expected}`)
  }
  assert.deepEqual(audiences, [undefined, 'https://127.0.0.1', 'https://run.example'])
})

test('configs that cannot work are refused', () => {
  const problemsOf = (auth: object, backend: object = { static: { host: 'run.example', port: 443 } }) => {
    const bind = { port: 8080, listeners: [{ routes: [{ backends: [{ backend: 'api' }] }] }] }
    const config = { backends: [{ name: 'api', ...backend, policies: { auth } }], binds: [bind] }
    const env = { TEXT: 's3cret', OTHER: '{"type":"s3cret"}', GOOD: '{"type":"service_account"}' }
    const loaded = loadConfig(JSON.stringify(config), { file: 'test.yaml', dir: '.', env })
    const problems = loaded.ok
      ? checkCompile(loaded.ir).map(({ message }) => message)
      : loaded.problems.map(({ path, found, expected }) => `${path.join('.')}: ${found}, ${expected}`)
    assert.ok(!problems.join().includes('s3cret'), problems.join())
    return problems.join()
  }
  const identity = { clientId: 'a', objectId: '', resourceId: '' }
  assert.equal(problemsOf({ azure: {} }), '')
  assert.equal(problemsOf({ azure: { managedIdentity: identity } }), '')
  assert.equal(problemsOf({ gcp: {} }), '')
  assert.equal(problemsOf({ gcp: { type: 'IdToken', secretRef: { env: 'GOOD' } } }), '')
  assert.match(problemsOf({ azure: { managedIdentity: { clientId: 'a' } } }), /objectId/)
  assert.match(problemsOf({ azure: { ...AZURE, managedIdentity: identity } }), /at most one of/)
  assert.match(problemsOf({ azure: { secretRef: { data: { clientID: 'a', tenantID: 'b' } } } }), /clientSecret/)
  assert.match(problemsOf({ azure: {} }, { dynamicForwardProxy: {} }), /expected a backend whose host the config names/)
  assert.match(problemsOf({ gcp: {}, location: { cookie: { name: 'a' } } }), /at most one of/)
  assert.match(
    problemsOf({ gcp: { audience: 'https://a' } }),
    /found an `audience` for an access token, expected `type: IdToken`/,
  )
  assert.match(
    problemsOf({ gcp: { type: 'IdToken' } }, { static: { unixPath: '/run/x.sock' } }),
    /without a host, expected an `audience`/,
  )
  assert.match(problemsOf({ gcp: { secretRef: { env: 'TEXT' } } }), /something else than JSON/)
  assert.match(problemsOf({ gcp: { secretRef: { env: 'OTHER' } } }), /another `type`, or none/)
})
