import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { credentialServices, useEndpoint } from '../../testing/services/credential-services.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { CredentialFault } from '../../pipeline/cloud-credentials.ts'
import { createAzureToken } from './token.ts'

const scope = 'https://cognitiveservices.azure.com/.default'
const clientSecret = { clientID: 'app', tenantID: 'tenant.example', clientSecret: 's3cret+&' }

const give =
  (body: object, status = 200): OriginHandler =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

test('an application shows its secret to its tenant', async (t) => {
  const endpoint = await useEndpoint(t, give({ access_token: 'token-1', expires_in: 3600, token_type: 'Bearer' }))
  const { services } = credentialServices({ environment: { AZURE_AUTHORITY_HOST: `http://${endpoint.host}/` } })
  const source = createAzureToken({ scope, clientSecret }, services)
  assert.equal(await source.current(), 'token-1')
  assert.equal(source.current(), 'token-1')
  const [asked] = endpoint.seen
  assert.equal(endpoint.seen.length, 1)
  assert.equal(`${asked!.method} ${asked!.url}`, 'POST /tenant.example/oauth2/v2.0/token')
  assert.equal(asked!.headers['content-type'], 'application/x-www-form-urlencoded;charset=UTF-8')
  assert.deepEqual(Object.fromEntries(new URLSearchParams(asked!.body)), {
    grant_type: 'client_credentials',
    client_id: 'app',
    client_secret: 's3cret+&',
    scope,
  })
})

test('equal configs share one source, also across reloads; other configs do not', () => {
  const { services } = credentialServices()
  const source = createAzureToken({ scope, clientSecret }, services)
  assert.equal(createAzureToken({ scope, clientSecret: { ...clientSecret } }, services), source)
  assert.notEqual(createAzureToken({ scope: 'other', clientSecret }, services), source)
  assert.notEqual(createAzureToken({ scope, clientSecret: { ...clientSecret, clientSecret: 'x' } }, services), source)
})

test('a managed identity asks the machine it runs on', async (t) => {
  const endpoint = await useEndpoint(t, give({ access_token: 'token-2', expires_in: '86400', expires_on: '1' }))
  const environment = { AZURE_POD_IDENTITY_AUTHORITY_HOST: `http://${endpoint.host}` }
  const ids = { clientId: '', objectId: '', resourceId: '' }
  const resource = 'api-version=2018-02-01&resource=https%3A%2F%2Fcognitiveservices.azure.com'
  for (const [managedIdentity, selector] of [
    [{ clientId: 'c', objectId: 'o', resourceId: 'r' }, '&client_id=c'],
    [{ ...ids, objectId: 'o', resourceId: 'r' }, '&object_id=o'],
    [{ ...ids, resourceId: '/r s' }, '&msi_res_id=%2Fr+s'],
    [ids, ''],
  ] as const) {
    const { services } = credentialServices({ environment })
    assert.equal(await createAzureToken({ scope, managedIdentity }, services).current(), 'token-2')
    const asked = endpoint.seen.at(-1)!
    assert.equal(`${asked.method} ${asked.url}`, `GET /metadata/identity/oauth2/token?${resource}${selector}`)
    assert.equal(asked.headers['metadata'], 'true')
  }
})

test('a managed identity of a hosted app asks the endpoint of its platform', async (t) => {
  const endpoint = await useEndpoint(t, (_request, response) => {
    const end = Math.floor(services.clock() / 1000) + 600
    response.end(JSON.stringify({ access_token: 'token-3', expires_on: String(end) }))
  })
  const { services, pass } = credentialServices({
    environment: { IDENTITY_ENDPOINT: `http://${endpoint.host}/msi/token`, IDENTITY_HEADER: 'of-the-app' },
  })
  const managedIdentity = { clientId: '', objectId: 'o', resourceId: '' }
  const source = createAzureToken({ scope, managedIdentity }, services)
  assert.equal(await source.current(), 'token-3')
  const [asked] = endpoint.seen
  const resource = 'resource=https%3A%2F%2Fcognitiveservices.azure.com'
  assert.equal(asked!.url, `/msi/token?api-version=2019-08-01&${resource}&principal_id=o`)
  assert.equal(asked!.headers['x-identity-header'], 'of-the-app')
  assert.equal(asked!.headers['metadata'], undefined)
  pass(595_000)
  assert.ok(source.current() instanceof Promise)
})

test('a workload shows the token of its platform, read anew each time', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const file = join(dir, 'token')
  writeFileSync(file, 'platform-1\n')
  const endpoint = await useEndpoint(t, give({ access_token: 'token-4', expires_in: 3600 }))
  const { services, pass } = credentialServices({
    environment: {
      AZURE_AUTHORITY_HOST: `http://${endpoint.host}`,
      AZURE_CLIENT_ID: 'app',
      AZURE_TENANT_ID: 'tenant',
      AZURE_FEDERATED_TOKEN_FILE: file,
    },
  })
  const source = createAzureToken({ scope }, services)
  assert.equal(await source.current(), 'token-4')
  assert.deepEqual(Object.fromEntries(new URLSearchParams(endpoint.seen[0]!.body)), {
    grant_type: 'client_credentials',
    client_id: 'app',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: 'platform-1',
    scope,
  })
  writeFileSync(file, 'platform-2')
  pass(3_600_000)
  assert.equal(await source.current(), 'token-4')
  assert.equal(new URLSearchParams(endpoint.seen[1]!.body).get('client_assertion'), 'platform-2')
  rmSync(file)
  pass(3_600_000)
  const found = await source.current()
  assert.ok(found instanceof CredentialFault)
  assert.equal(found.reason, 'no Azure token: the federated token file cannot be read (ENOENT)')
})

test('a client secret in the environment comes before a workload identity', async (t) => {
  const endpoint = await useEndpoint(t, give({ access_token: 'token-5', expires_in: 3600 }))
  const { services } = credentialServices({
    environment: {
      AZURE_AUTHORITY_HOST: `http://${endpoint.host}`,
      AZURE_CLIENT_ID: 'app',
      AZURE_TENANT_ID: 'tenant',
      AZURE_CLIENT_SECRET: 's3cret',
      AZURE_FEDERATED_TOKEN_FILE: '/nonexistent',
    },
  })
  assert.equal(await createAzureToken({ scope }, services).current(), 'token-5')
  assert.equal(new URLSearchParams(endpoint.seen[0]!.body).get('client_secret'), 's3cret')
})

test('faults say what the endpoint answered, and nothing that was sent', async (t) => {
  let handler: OriginHandler = give({})
  const endpoint = await useEndpoint(t, (...exchange) => handler(...exchange))
  const environment = { AZURE_AUTHORITY_HOST: `http://${endpoint.host}` }
  const reasonFor = async (next: OriginHandler) => {
    handler = next
    const { services, warnings } = credentialServices({ environment })
    const found = await createAzureToken({ scope, clientSecret }, services).current()
    assert.ok(found instanceof CredentialFault)
    assert.deepEqual(warnings, [`Azure token not renewed: ${JSON.stringify({ reason: found.reason })}`])
    return found.reason
  }
  const description = 'AADSTS7000215: Invalid client secret s3cret+&'
  assert.equal(
    await reasonFor(give({ error: 'invalid_client', error_description: description }, 401)),
    'no Azure token: the endpoint answered 401, invalid_client',
  )
  assert.equal(await reasonFor(give({ error: 's3cret+&' }, 400)), 'no Azure token: the endpoint answered 400')
  assert.equal(await reasonFor(give({ error: { code: 1 } }, 503)), 'no Azure token: the endpoint answered 503')
  assert.equal(await reasonFor(give({ expires_in: 1 })), 'no Azure token: the response contains no token')
  assert.equal(
    await reasonFor(give({ access_token: 'a\r\nb', expires_in: 1 })),
    'no Azure token: the response contains no token',
  )
  assert.equal(await reasonFor(give({ access_token: 'token' })), 'no Azure token: the response has no expiry')
  assert.equal(
    await reasonFor((_request, response) => response.end('s3cret')),
    'no Azure token: the response contains no token',
  )
  assert.match(await reasonFor((_request, response) => response.end(' '.repeat(70_000))), /^no Azure token \(\w+\)$/)
  assert.match(await reasonFor((_request, response) => response.destroy()), /^no Azure token \(\w+\)$/)
  const elsewhere = await useEndpoint(t, give({ access_token: 'stolen', expires_in: 1 }))
  const redirect: OriginHandler = (_request, response) =>
    response.writeHead(307, { location: `http://${elsewhere.host}/` }).end()
  assert.match(await reasonFor(redirect), /^no Azure token \(\w+\)$/)
  assert.equal(elsewhere.seen.length, 0)
})

test('whatever an endpoint answers is a token or a fault', async (t) => {
  let answer = ''
  const endpoint = await useEndpoint(t, (_request, response) => response.end(answer))
  const environment = { AZURE_AUTHORITY_HOST: `http://${endpoint.host}` }
  const body = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({ access_token: fc.jsonValue(), expires_in: fc.jsonValue(), expires_on: fc.jsonValue() })
      .map((value) => JSON.stringify(value)),
  )
  await fc.assert(
    fc.asyncProperty(body, async (text) => {
      answer = text
      const { services } = credentialServices({ environment })
      const found = await createAzureToken({ scope, clientSecret }, services).current()
      assert.ok(found instanceof CredentialFault || /^[\x21-\x7e]+$/.test(found))
    }),
    { numRuns: 100 },
  )
})
