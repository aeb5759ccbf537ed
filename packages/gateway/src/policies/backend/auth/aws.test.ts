import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { checkCompile } from '../../../compile/check.ts'
import { createSigV4 } from '../../../credentials/aws/sigv4.ts'
import { loadConfig } from '../../../sources/file.ts'
import { request, sendRaw } from '../../../testing/client.ts'
import { useProcessEnvironment } from '../../../testing/services/credential-services.ts'
import type { OriginHandler, SeenRequest } from '../../../testing/origin.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'
import '../../../testing/all-features.ts'

const KEYS = { accessKey: 'AKIDEXAMPLE', secretKey: 's3cret/key', sessionToken: 's3ssion' }
const SCOPE = { region: 'eu-west-1', service: 'bedrock' }
const AWS = { secretRef: { data: KEYS }, region: 'eu-west-1' }

async function setUp(t: TestContext, policies: object, handler?: OriginHandler, options: object = {}) {
  const origin = await useOrigin(t, handler)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]), options)
  return { origin, gateway, port: gateway.port() }
}

/** Whether what arrived is what was signed. */
function assertSigned(seen: SeenRequest, scope = SCOPE, keys = KEYS, unsignedAs?: string): void {
  const lines: [string, string][] = []
  for (let at = 0; at < seen.rawHeaders.length; at += 2) lines.push([seen.rawHeaders[at]!, seen.rawHeaders[at + 1]!])
  const date = seen.headers['x-amz-date'] as string
  const now = Date.parse(date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  const expected = createSigV4(scope)(
    {
      method: seen.method,
      target: seen.url,
      authority: seen.headers.host!,
      headers: lines,
      body: Buffer.from(seen.body),
      ...(unsignedAs !== undefined && { unsignedAs }),
    },
    keys,
    now,
  )
  for (const [name, value] of expected) {
    assert.deepEqual(
      lines.filter(([each]) => each.toLowerCase() === name).map(([, each]) => each),
      [value],
      name,
    )
  }
}

test('each request is signed over what is sent', async (t) => {
  const { origin, port } = await setUp(t, { backend: { auth: { aws: AWS } } })
  const headers = { 'content-type': 'application/json', 'x-amzn-bedrock-trace': 'ENABLED', 'x-amz-a': 'b  c' }
  const path = '/model/anthropic.claude-v1%3A0/converse?b=2&a=%7e&c'
  assert.equal((await request(port, { method: 'POST', path, headers, body: '{"é":1}' })).status, 200)
  assert.equal((await request(port)).status, 200)
  for (const seen of origin.seen) assertSigned(seen)
  assert.match(
    origin.seen[0]!.headers.authorization!,
    /SignedHeaders=content-type;host;x-amz-a;x-amz-content-sha256;x-amz-date;x-amz-security-token;x-amzn-bedrock-trace,/,
  )
})

test('a signature of the client is dropped', async (t) => {
  const { origin, port } = await setUp(t, { backend: { auth: { aws: AWS } } })
  await request(port, {
    headers: {
      authorization: 'AWS4-HMAC-SHA256 Credential=mine',
      'x-amz-date': '20200101T000000Z',
      'x-amz-security-token': 'mine',
      X_Amz_Security_Token: 'mine',
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
    },
  })
  assertSigned(origin.seen[0]!)
  assert.equal(origin.seen[0]!.headers['x_amz_security_token'], undefined)
})

test('the signature covers the changes of transformations', async (t) => {
  const transformation = {
    request: {
      set: [
        { name: ':path', value: '"/changed?x=1"' },
        { name: 'x-amz-meta', value: '"changed"' },
      ],
      body: '"changed " + string(request.body)',
    },
  }
  const { origin, port } = await setUp(t, { backend: { transformation, auth: { aws: AWS } } })
  await request(port, { method: 'POST', path: '/p', headers: { 'x-amz-meta': 'mine' }, body: 'body' })
  const [seen] = origin.seen
  assert.deepEqual([seen!.url, seen!.body, seen!.headers['x-amz-meta']], ['/changed?x=1', 'changed body', 'changed'])
  assertSigned(seen!)
})

test('bodies without a length and of several packets are signed whole', async (t) => {
  const { origin, port } = await setUp(t, { backend: { auth: { aws: AWS } } })
  const head = 'POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n'
  await sendRaw(port, `${head}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n`)
  const large = 'x'.repeat(300_000)
  await request(port, { method: 'POST', body: large })
  assert.deepEqual(
    origin.seen.map(({ body }) => body),
    ['abcdefg', large],
  )
  for (const seen of origin.seen) assertSigned(seen)
})

test('a body in pieces of which nobody signed one stays one; pieces that the client signed are refused', async (t) => {
  const { origin, port } = await setUp(t, { backend: { auth: { aws: AWS } } })
  const body = '3\r\nabc\r\n0\r\nx-amz-checksum-crc32:NSRBwg==\r\n\r\n'
  const headers = {
    'content-encoding': 'aws-chunked',
    'x-amz-trailer': 'x-amz-checksum-crc32',
    'x-amz-decoded-content-length': '3',
  }
  const unsigned = { ...headers, 'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' }
  assert.equal((await request(port, { method: 'PUT', headers: unsigned, body })).status, 200)
  const [seen] = origin.seen
  assert.equal(seen!.body, body)
  assertSigned(seen!, SCOPE, KEYS, unsigned['x-amz-content-sha256'])
  const signed = { ...headers, 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' }
  const refused = await request(port, { method: 'PUT', headers: signed, body })
  assert.deepEqual([refused.status, origin.seen.length], [400, 1])
  assert.match(refused.body, /signed the body in chunks/)
})

test('a body that is too large to be kept is refused', async (t) => {
  const { origin, port } = await setUp(t, { backend: { auth: { aws: AWS } } })
  const answer = await sendRaw(port, 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9999999\r\n\r\n')
  assert.equal(answer.status, 413)
  assert.equal(origin.seen.length, 0)
})

test('a retry is signed anew, with its body and at its time', async (t) => {
  let now = Date.UTC(2026, 0, 1)
  const { origin, port } = await setUp(
    t,
    { retry: { attempts: 2, codes: [503] }, backend: { auth: { aws: AWS } } },
    (_request, response) => {
      now += 1_000
      response.writeHead(origin.seen.length < 3 ? 503 : 200).end()
    },
    { clock: () => now },
  )
  assert.equal((await request(port, { method: 'POST', body: 'body' })).status, 200)
  assert.deepEqual(
    origin.seen.map(({ body, headers }) => [body, headers['x-amz-date']]),
    ['00', '01', '02'].map((second) => ['body', `20260101T0000${second}Z`]),
  )
  for (const seen of origin.seen) assertSigned(seen)
})

test('region and service follow the config, and the region else the environment', async (t) => {
  const execute = await setUp(t, { backend: { auth: { aws: { ...AWS, service: 'execute-api' } } } })
  await request(execute.port)
  assertSigned(execute.origin.seen[0]!, { region: 'eu-west-1', service: 'execute-api' })
  const aws = { secretRef: AWS.secretRef }
  const ambient = await setUp(t, { backend: { auth: { aws } } }, undefined, {
    env: { AWS_DEFAULT_REGION: 'us-east-2' },
  })
  await request(ambient.port)
  assertSigned(ambient.origin.seen[0]!, { region: 'us-east-2', service: 'bedrock' })
})

test('keys may stand in variables, and may be those of the machine', async (t) => {
  const secretRef = { data: { accessKey: { env: 'KEY' }, secretKey: { env: 'SECRET' } } }
  const env = { KEY: 'AKID2', SECRET: 'other' }
  const given = await setUp(t, { backend: { auth: { aws: { ...AWS, secretRef } } } }, undefined, { env })
  await request(given.port)
  const seen = given.origin.seen[0]!
  assert.match(seen.headers.authorization!, /Credential=AKID2\//)
  assert.equal(seen.headers['x-amz-security-token'], undefined)

  useProcessEnvironment(t, { AWS_ACCESS_KEY_ID: 'AKID3', AWS_SECRET_ACCESS_KEY: 's3cret' })
  const ambient = await setUp(t, { backend: { auth: { aws: { region: 'eu-west-1' } } } })
  await Promise.all([request(ambient.port), request(ambient.port)])
  for (const { headers } of ambient.origin.seen) assert.match(headers.authorization!, /Credential=AKID3\//)
})

test('without keys the client is told so, and nothing is sent', async (t) => {
  useProcessEnvironment(t, {})
  const { origin, port } = await setUp(t, { backend: { auth: { aws: { region: 'eu-west-1' } } } })
  const { status, body } = await request(port)
  assert.equal(status, 500)
  assert.equal(body, 'backend authentication failed: no AWS credentials (CredentialsProviderError)')
  assert.equal(origin.seen.length, 0)
})

test('mirrors, logs and traces get no signature', async (t) => {
  const mirror = await useOrigin(t)
  const policies = { requestMirror: { backend: mirror.host }, backend: { auth: { aws: AWS } } }
  const { gateway, port } = await setUp(t, policies)
  const events = gateway.trace()
  await request(port, { method: 'POST', body: 'body' })
  await until(() => mirror.seen.length === 1)
  assert.equal(mirror.seen[0]!.headers.authorization, undefined)
  assert.equal(mirror.seen[0]!.headers['x-amz-date'], undefined)
  const text = JSON.stringify(await events) + gateway.lines.join()
  assert.ok(!text.includes('s3cret') && !text.includes('s3ssion') && !/Signature=[0-9a-f]/.test(text), text)
})

test('configs that cannot work are refused', (t) => {
  useProcessEnvironment(t, {})
  const problemsOf = (auth: object, backend: object) => {
    const config = { backends: [{ name: 'api', ...backend, policies: { auth } }], binds: [bind] }
    const loaded = loadConfig(JSON.stringify(config), { file: 'test.yaml', dir: '.', env: {} })
    if (!loaded.ok)
      return loaded.problems.map(({ path, found, expected }) => `${path.join('.')}: ${found}, ${expected}`)
    return checkCompile(loaded.ir).map(({ message }) => message)
  }
  const bind = { port: 8080, listeners: [{ routes: [{ backends: [{ backend: 'api' }] }] }] }
  const fixed = { static: { host: 'bedrock-runtime.eu-west-1.amazonaws.com', port: 443 } }
  const unknown = { static: { host: '127.0.0.1', port: 443 } }
  assert.deepEqual(problemsOf({ aws: {} }, fixed), [])
  assert.deepEqual(problemsOf({ aws: {} }, unknown), ['found a host without a region in its name, expected a `region`'])
  assert.deepEqual(problemsOf({ aws: { region: 'eu-west-1' } }, { dynamicForwardProxy: {} }), [
    'found `auth` of a cloud for hosts that clients name, expected a backend whose host the config names',
  ])
  assert.match(problemsOf({ aws: { secretRef: { data: { accessKey: 'a' } } } }, fixed).join(), /secretKey/)
  assert.match(problemsOf({ aws: {}, location: { cookie: { name: 'a' } } }, fixed).join(), /at most one of/)
  assert.match(problemsOf({ aws: {}, gcp: {} }, fixed).join(), /exactly one of/)
  assert.match(problemsOf({ aws: { region: 'EU west' } }, fixed).join(), /a region such as/)
  const broken = problemsOf({ aws: { secretRef: { data: { accessKey: 'a', secretKey: 's3cret\nx' } } } }, fixed).join()
  assert.match(broken, /secretKey/)
  assert.ok(!broken.includes('s3cret'))
})
