import assert from 'node:assert/strict'
import { test } from 'node:test'
import { credentialServices, useEndpoint, useProcessEnvironment } from '../../testing/services/credential-services.ts'
import { CredentialFault, type SignatureHeaders } from '../../pipeline/cloud-credentials.ts'
import { createAwsSigner } from './signer.ts'

const REQUEST = { method: 'POST', target: '/x', authority: 'a.example', headers: [], body: Buffer.from('{}') }
const SCOPE = { region: 'eu-west-1', service: 'bedrock' }

function credentialOf(signed: SignatureHeaders | CredentialFault): string {
  assert.ok(!(signed instanceof CredentialFault), 'nothing was signed')
  return signed.find(([name]) => name === 'authorization')![1]
}

test('keys of the config sign at once', () => {
  const { services } = credentialServices()
  const keys = { accessKey: 'AKID', secretKey: 's3cret', sessionToken: 'session' }
  const signed = createAwsSigner({ ...SCOPE, keys }, services)(REQUEST)
  assert.ok(!(signed instanceof Promise))
  assert.match(credentialOf(signed), /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-west-1\/bedrock\/aws4_request, /)
  assert.ok(!(signed instanceof CredentialFault) && signed.some(([name]) => name === 'x-amz-security-token'))
})

test('keys of the environment are found', async (t) => {
  useProcessEnvironment(t, { AWS_ACCESS_KEY_ID: 'AKIDENV', AWS_SECRET_ACCESS_KEY: 's3cret' })
  const { services } = credentialServices()
  assert.match(credentialOf(await createAwsSigner(SCOPE, services)(REQUEST)), /Credential=AKIDENV\//)
})

test('keys of a container are fetched once, shared, and renewed before they end', async (t) => {
  let calls = 0
  const endpoint = await useEndpoint(t, (_request, response) => {
    const body = {
      AccessKeyId: `AKID${++calls}`,
      SecretAccessKey: 's3cret',
      Token: 'session',
      Expiration: new Date(services.clock() + 3_600_000).toISOString(),
    }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  })
  useProcessEnvironment(t, {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://${endpoint.host}/role`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: 'of-the-container',
  })
  const { services, pass } = credentialServices()
  const [first, second] = [createAwsSigner(SCOPE, services), createAwsSigner({ ...SCOPE, service: 'other' }, services)]
  const signed = await Promise.all([first(REQUEST), second(REQUEST)])
  assert.match(credentialOf(signed[0]), /Credential=AKID1\//)
  assert.match(credentialOf(signed[1]), /Credential=AKID1\/\d+\/eu-west-1\/other\//)
  assert.equal(calls, 1)
  assert.equal(endpoint.seen[0]!.headers.authorization, 'of-the-container')
  assert.ok(!(first(REQUEST) instanceof Promise))
  pass(3_595_000)
  assert.match(credentialOf(await first(REQUEST)), /Credential=AKID2\//)
})

test('keys that cannot be had are a fault without details', async (t) => {
  const endpoint = await useEndpoint(t, (_request, response) => response.writeHead(403).end('{"message":"s3cret"}'))
  useProcessEnvironment(t, { AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://${endpoint.host}/role` })
  const { services, warnings } = credentialServices()
  const sign = createAwsSigner(SCOPE, services)
  const signed = await sign(REQUEST)
  assert.ok(signed instanceof CredentialFault)
  assert.match(signed.reason, /^no AWS credentials \([\w. ]+\)$/)
  const asked = endpoint.seen.length
  assert.equal(sign(REQUEST), signed)
  assert.equal(endpoint.seen.length, asked)
  assert.ok(warnings.length === 1 && !warnings[0]!.includes('s3cret'), warnings.join())
})

test('without any keys the fault says so', async (t) => {
  useProcessEnvironment(t, {})
  const { services } = credentialServices()
  const signed = await createAwsSigner(SCOPE, services)(REQUEST)
  assert.ok(signed instanceof CredentialFault)
  assert.equal(signed.reason, 'no AWS credentials (CredentialsProviderError)')
})
