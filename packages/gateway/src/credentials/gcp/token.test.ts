import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { credentialServices, useEndpoint, useProcessEnvironment } from '../../testing/services/credential-services.ts'
import type { Origin, OriginHandler } from '../../testing/origin.ts'
import { CredentialFault } from '../../pipeline/cloud-credentials.ts'
import { clientFor } from './client.ts'
import { createGcpToken } from './token.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const account = { type: 'service_account', client_email: 'bot@project.example', private_key: privateKey }

/** Sends requests for Google to loopback instead. */
function redirectTo(endpoint: Origin): typeof fetch {
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    assert.ok(url.hostname.endsWith('.googleapis.com'), url.href)
    return fetch(new URL(`http://${endpoint.host}/${url.hostname}${url.pathname}${url.search}`), init)
  }
}

const give =
  (body: object, status = 200): OriginHandler =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

function idToken(lifetimeSeconds: number): string {
  const claims = { aud: 'x', exp: Math.floor(Date.now() / 1000) + lifetimeSeconds }
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`
}

test('a service account signs for an access token', async (t) => {
  const endpoint = await useEndpoint(t, give({ access_token: 'token-1', expires_in: 3599, token_type: 'Bearer' }))
  const { services, pass } = credentialServices({ fetch: redirectTo(endpoint) })
  const source = createGcpToken({ credentials: JSON.stringify(account) }, services)
  assert.equal(await source.current(), 'token-1')
  assert.equal(source.current(), 'token-1')
  const [asked] = endpoint.seen
  assert.equal(`${asked!.method} ${asked!.url}`, 'POST /oauth2.googleapis.com/token')
  const [head, claims, signature] = new URLSearchParams(asked!.body).get('assertion')!.split('.')
  assert.ok(
    verify(
      'RSA-SHA256',
      Buffer.from(`${head}.${claims}`),
      createPublicKey(publicKey),
      Buffer.from(signature!, 'base64url'),
    ),
  )
  const { iss, scope, aud } = JSON.parse(Buffer.from(claims!, 'base64url').toString()) as Record<string, string>
  assert.deepEqual(
    [iss, scope, aud],
    ['bot@project.example', 'https://www.googleapis.com/auth/cloud-platform', 'https://oauth2.googleapis.com/token'],
  )
  pass(3_700_000)
  assert.ok(source.current() instanceof Promise)
})

test('a service account signs for an ID token', async (t) => {
  const token = idToken(3600)
  const endpoint = await useEndpoint(t, give({ id_token: token }))
  const { services } = credentialServices({ fetch: redirectTo(endpoint) })
  const source = createGcpToken({ credentials: JSON.stringify(account), audience: 'https://run.example' }, services)
  assert.equal(await source.current(), token)
  const assertion = new URLSearchParams(endpoint.seen[0]!.body).get('assertion')!
  const claims = JSON.parse(Buffer.from(assertion.split('.')[1]!, 'base64url').toString()) as Record<string, string>
  assert.equal(claims['target_audience'], 'https://run.example')
  assert.equal(source.current(), token)
})

test('a user has a refresh token', async (t) => {
  const endpoint = await useEndpoint(t, give({ access_token: 'token-2', expires_in: 3599 }))
  const { services } = credentialServices({ fetch: redirectTo(endpoint) })
  const user = { type: 'authorized_user', client_id: 'id', client_secret: 'secret', refresh_token: 'refresh' }
  assert.equal(await createGcpToken({ credentials: JSON.stringify(user) }, services).current(), 'token-2')
  const form = new URLSearchParams(endpoint.seen[0]!.body)
  assert.equal(form.get('refresh_token'), 'refresh')
  assert.equal(form.get('grant_type'), 'refresh_token')
})

test('an account may be impersonated', async (t) => {
  const endpoint = await useEndpoint(t, (request, response) => {
    const isSource = request.url.includes('/token')
    const end = new Date(Date.now() + 3_600_000).toISOString()
    const body = isSource ? { access_token: 'source', expires_in: 3599 } : { accessToken: 'token-3', expireTime: end }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  })
  const { services } = credentialServices({ fetch: redirectTo(endpoint) })
  const credentials = JSON.stringify({
    type: 'impersonated_service_account',
    service_account_impersonation_url:
      'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/other@project.example:generateAccessToken',
    source_credentials: account,
  })
  assert.equal(await createGcpToken({ credentials }, services).current(), 'token-3')
  const asked = endpoint.seen.at(-1)!
  assert.match(asked.url, /serviceAccounts\/other@project\.example:generateAccessToken$/)
  assert.equal(asked.headers.authorization, 'Bearer source')
})

test('a workload of elsewhere exchanges its token', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'token'), 'of-the-platform')
  const endpoint = await useEndpoint(
    t,
    give({ access_token: 'token-4', expires_in: 3599, token_type: 'Bearer', issued_token_type: 'x' }),
  )
  const external = {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `http://${endpoint.host}/v1/token`,
    credential_source: { file: join(dir, 'token') },
  }
  const transport = { transporterOptions: { fetchImplementation: redirectTo(endpoint) } }
  const client = clientFor(external, await import('google-auth-library'), transport)
  assert.equal((await client.getAccessToken()).token, 'token-4')
  assert.ok(client.credentials.expiry_date! > Date.now())
  assert.equal(new URLSearchParams(endpoint.seen[0]!.body).get('subject_token'), 'of-the-platform')

  // Any other host would receive the contents of the file.
  const { services } = credentialServices()
  const found = await createGcpToken({ credentials: JSON.stringify(external) }, services).current()
  assert.ok(found instanceof CredentialFault)
  assert.equal(found.reason, 'no Google token (TypeError)')
  assert.equal(endpoint.seen.length, 1)
})

test('without credentials the metadata server of the machine is used', async (t) => {
  const token = idToken(3600)
  const metadata = await useEndpoint(t, (request, response) => {
    response.setHeader('metadata-flavor', 'Google')
    if (request.url.includes('/identity')) return response.end(token)
    const body = request.url.includes('/token') ? { access_token: 'token-5', expires_in: 3599 } : {}
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  })
  useProcessEnvironment(t, { GCE_METADATA_HOST: metadata.host, METADATA_SERVER_DETECTION: 'assume-present' })
  const { services } = credentialServices()
  assert.equal(await createGcpToken({}, services).current(), 'token-5')
  assert.equal(await createGcpToken({ audience: 'https://run.example' }, services).current(), token)
  assert.ok(metadata.seen.every(({ headers }) => headers['metadata-flavor'] === 'Google'))
  assert.match(metadata.seen.at(-1)!.url, /identity\?format=full&audience=https:\/\/run\.example$/)
})

test('without any credentials the fault says so', async (t) => {
  useProcessEnvironment(t, { METADATA_SERVER_DETECTION: 'none', CLOUDSDK_CONFIG: '/nonexistent' })
  const { services } = credentialServices()
  const found = await createGcpToken({}, services).current()
  assert.ok(found instanceof CredentialFault)
  assert.equal(found.reason, 'no Google token: no credentials were found')
})

test('faults say their kind, and nothing of the credentials', async (t) => {
  const endpoint = await useEndpoint(t, give({ error: 'invalid_grant', error_description: 's3cret' }, 400))
  const reasonFor = async (json: object, audience?: string) => {
    const { services, warnings } = credentialServices({ fetch: redirectTo(endpoint) })
    const found = await createGcpToken({ credentials: JSON.stringify(json), audience }, services).current()
    assert.ok(found instanceof CredentialFault)
    assert.ok(!`${found.reason} ${warnings.join()}`.includes('s3cret'))
    return found.reason
  }
  assert.match(await reasonFor(account), /^no Google token \([\w ]+\)$/)
  assert.match(await reasonFor({ ...account, private_key: 's3cret' }), /^no Google token \([\w ]+\)$/)
  assert.equal(await reasonFor({ type: 'service_account' }), 'no Google token (TypeError)')
  assert.equal(await reasonFor({ type: 'other' }), 'no Google token (TypeError)')
  const loop = { type: 'impersonated_service_account', service_account_impersonation_url: 'x', source_credentials: {} }
  assert.equal(await reasonFor({ ...loop, source_credentials: loop }), 'no Google token (TypeError)')
  const external = {
    type: 'external_account',
    audience: 'a',
    subject_token_type: 'b',
    token_url: 'https://sts.googleapis.com/v1/token',
    credential_source: { file: '/nonexistent' },
  }
  assert.equal(
    await reasonFor(external, 'https://run.example'),
    'no Google token: these credentials cannot get an ID token',
  )
})

test('after a fault another try starts from the beginning', async (t) => {
  let isUp = false
  const endpoint = await useEndpoint(t, (request, response) =>
    isUp
      ? give({ access_token: 'token-6', expires_in: 3599 })(request, response, undefined as never)
      : response.writeHead(400).end('{}'),
  )
  const { services, pass } = credentialServices({ fetch: redirectTo(endpoint) })
  const source = createGcpToken({ credentials: JSON.stringify(account) }, services)
  assert.ok((await source.current()) instanceof CredentialFault)
  isUp = true
  pass(500)
  assert.equal(await source.current(), 'token-6')
})
