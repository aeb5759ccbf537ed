import {
  BedrockRuntimeClient,
  BedrockRuntimeServiceException,
  ConverseCommand,
  ConverseStreamCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
  type Message,
} from '@aws-sdk/client-bedrock-runtime'
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request, sendRaw } from '../../testing/client.ts'
import { BEDROCK_KEYS, BEDROCK_TOKEN, bedrockVendor } from '../../testing/providers/bedrock.ts'
import { ANSWERS } from '../../testing/providers/scenes.ts'
import { type FakeProvider, startFakeProvider } from '../../testing/providers/server.ts'
import { http1, type WireRequest } from '../../testing/sdk-clients/aws-bedrock.ts'
import { httpConfig, useGateway } from '../../testing/scene.ts'

const MODEL = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const KEYS = { accessKey: BEDROCK_KEYS.accessKeyId, secretKey: BEDROCK_KEYS.secretAccessKey }
const TEXT = ANSWERS.text.join('')

interface Options {
  type?: string
  auth?: object
  traffic?: object
  backend?: object
}

/** A gateway in front of a fake that checks signatures, and a client whose keys the fake does not know. */
async function setUp(t: TestContext, options: Options = {}) {
  const { type = 'Detect', auth = { aws: { secretRef: { data: KEYS } } }, traffic = {}, backend = {} } = options
  const fake = await startFakeProvider(bedrockVendor())
  t.after(() => fake.close())
  const provider = { bedrock: {}, host: '127.0.0.1', port: fake.port }
  const policies = { ...traffic, backend: { auth, ai: { routes: { '*': type } }, ...backend } }
  const gateway = await useGateway(t, httpConfig([{ policies, backends: [{ ai: { provider } }] }]))
  const client = new BedrockRuntimeClient({
    endpoint: `http://127.0.0.1:${gateway.port()}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIDCLIENT', secretAccessKey: 'client/secret' },
    maxAttempts: 1,
    requestHandler: http1,
  })
  return { fake, gateway, client, port: gateway.port() }
}

const said = (text: string): Message[] => [{ role: 'user', content: [{ text }] }]
const claudeBody = JSON.stringify({
  anthropic_version: 'bedrock-2023-05-31',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'scene: text' }],
})

async function converse(client: BedrockRuntimeClient, text = 'scene: text'): Promise<string | undefined> {
  const { output } = await client.send(new ConverseCommand({ modelId: MODEL, messages: said(text) }))
  return output?.message?.content?.[0]?.text
}

async function converseStream(client: BedrockRuntimeClient, text = 'scene: text'): Promise<string> {
  const { stream } = await client.send(new ConverseStreamCommand({ modelId: MODEL, messages: said(text) }))
  let heard = ''
  for await (const event of stream ?? []) heard += event.contentBlockDelta?.delta?.text ?? ''
  return heard
}

async function invoke(client: BedrockRuntimeClient): Promise<string> {
  const { body } = await client.send(new InvokeModelCommand({ modelId: MODEL, body: claudeBody }))
  const answer: { content: { text: string }[] } = JSON.parse(body.transformToString())
  return answer.content[0]!.text
}

async function invokeStream(client: BedrockRuntimeClient): Promise<string> {
  const { body } = await client.send(new InvokeModelWithResponseStreamCommand({ modelId: MODEL, body: claudeBody }))
  let heard = ''
  for await (const { chunk } of body ?? []) {
    const event: { delta?: { text?: string } } = JSON.parse(Buffer.from(chunk?.bytes ?? []).toString())
    heard += event.delta?.text ?? ''
  }
  return heard
}

for (const type of ['Detect', 'Passthrough']) {
  test(`${type}: calls that the library of AWS signed are signed anew, whole and streamed`, async (t) => {
    const { client, gateway } = await setUp(t, { type })
    assert.equal(await converse(client), TEXT)
    assert.equal(await converseStream(client), TEXT)
    assert.equal(await invoke(client), TEXT)
    assert.equal(await invokeStream(client), TEXT)
    assert.deepEqual(gateway.bugs, [])
  })
}

test('limits of tokens see what streams of AWS report, and logs name the model that was asked for', async (t) => {
  const calls = [converse, converseStream, invoke, invokeStream]
  for (const ask of calls) {
    const traffic = { rateLimit: { local: [{ tokens: 160, unit: 'Hours' }] } }
    const { client, gateway } = await setUp(t, { traffic })
    assert.equal(await ask(client), TEXT)
    await gateway.finished(1)
    const { llm } = gateway.records[0]!
    const { input, output, cacheRead, cacheWrite } = llm!.usage
    assert.deepEqual([input, output, cacheRead, cacheWrite], [120, 40, 64, 0])
    assert.deepEqual([llm!.requestModel, llm!.provider], [MODEL, 'aws.bedrock'])
    await assert.rejects(ask(client), (error) => {
      assert.ok(error instanceof BedrockRuntimeServiceException)
      assert.deepEqual([error.name, error.message], ['ThrottlingException', 'rate limit exceeded'])
      return true
    })
  }
})

test('tokens that a prompt writes to the cache are counted', async (t) => {
  const { client, gateway } = await setUp(t)
  assert.equal(await converseStream(client, 'scene: cache'), TEXT)
  await gateway.finished(1)
  assert.match(gateway.lines[0]!, / gen_ai\.usage\.cache_creation\.input_tokens=32 /)
  assert.match(gateway.lines[0]!, / gen_ai\.request\.model=us\.anthropic\.claude/)
})

test('errors of the provider reach the library as they are', async (t) => {
  const { client } = await setUp(t)
  for (const ask of [converse, converseStream]) {
    await assert.rejects(ask(client, 'scene: error-rateLimit'), (error) => {
      assert.ok(error instanceof BedrockRuntimeServiceException)
      assert.deepEqual([error.name, error.$metadata.httpStatusCode], ['ThrottlingException', 429])
      return true
    })
  }
})

test('a retry is signed anew', async (t) => {
  const { client, fake } = await setUp(t, { traffic: { retry: { attempts: 2, codes: [503] } } })
  fake.fault = { failure: { kind: 'unavailable', message: 'busy' }, times: 2 }
  assert.equal(await converse(client), TEXT)
  assert.equal(fake.seen.length, 3)
})

test('another region is asked where one is in trouble, with a signature of its own', async (t) => {
  const [one, two] = [await startFakeProvider(bedrockVendor()), await startFakeProvider(bedrockVendor())]
  t.after(() => Promise.all([one.close(), two.close()]))
  const groups = [one, two].map(({ port }, at) => ({
    providers: [{ name: `p${at}`, bedrock: { region: ['eu-west-1', 'us-west-2'][at] }, host: '127.0.0.1', port }],
  }))
  const policies = { backend: { auth: { aws: { secretRef: { data: KEYS } } }, ai: { routes: { '*': 'Detect' } } } }
  const gateway = await useGateway(t, httpConfig([{ policies, backends: [{ ai: { groups } }] }]))
  const client = new BedrockRuntimeClient({
    endpoint: `http://127.0.0.1:${gateway.port()}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIDCLIENT', secretAccessKey: 'client/secret' },
    maxAttempts: 1,
    requestHandler: http1,
  })
  one.fault = { failure: { kind: 'rateLimit', message: 'slow down' } }
  assert.equal(await converseStream(client, `scene: text ${'x'.repeat(200_000)}`), TEXT)
  assert.match(String(authorizationOf(one)), /\/eu-west-1\/bedrock\//)
  assert.match(String(authorizationOf(two)), /\/us-west-2\/bedrock\//)
})

test('the signature covers the body that a transformation produced', async (t) => {
  const body = 'string(request.body).replace("scene: nobody", "scene: text")'
  const { client, fake } = await setUp(t, { backend: { transformation: { request: { body } } } })
  assert.equal(await converse(client, 'scene: nobody'), TEXT)
  assert.match(fake.seen[0]!.raw.toString(), /scene: text/)
})

test('a transformation that reads the body has it without a signature too', async (t) => {
  const body = 'string(request.body).replace("scene: nobody", "scene: text")'
  const auth = { key: BEDROCK_TOKEN }
  const { client } = await setUp(t, { auth, type: 'Passthrough', backend: { transformation: { request: { body } } } })
  assert.equal(await converse(client, 'scene: nobody'), TEXT)
})

test('bodies in chunks and of several packets are signed whole', async (t) => {
  const { port, fake } = await setUp(t)
  const path = `/model/${encodeURIComponent(MODEL)}/converse`
  const json = JSON.stringify({ messages: said(`scene: text ${'x'.repeat(300_000)}`) })
  assert.equal((await request(port, { method: 'POST', path, body: json })).status, 200)
  const small = JSON.stringify({ messages: said('scene: text') })
  const half = small.length >> 1
  const chunks = [small.slice(0, half), small.slice(half)].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
  const head = `POST ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\nx-amz-content-sha256: UNSIGNED-PAYLOAD\r\n`
  const answer = await sendRaw(port, `${head}transfer-encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`)
  assert.equal(answer.status, 200)
  assert.equal(fake.seen.length, 2)
})

test('a body that is too large to be signed is refused before it is read', async (t) => {
  const { port, fake, gateway } = await setUp(t)
  const path = `/model/${encodeURIComponent(MODEL)}/converse`
  const answer = await sendRaw(port, `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999\r\n\r\n`)
  assert.equal(answer.status, 413)
  assert.equal(fake.seen.length, 0)
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.error, 'request body too large to buffer')
})

test('a key that the client brings passes where the config says so', async (t) => {
  const { port, fake } = await setUp(t, { auth: { passthrough: {} } })
  const path = `/model/${encodeURIComponent(MODEL)}/converse`
  const headers = { authorization: `Bearer ${BEDROCK_TOKEN}` }
  const body = JSON.stringify({ messages: said('scene: text') })
  assert.equal((await request(port, { method: 'POST', path, headers, body })).status, 200)
  assert.equal(authorizationOf(fake), `Bearer ${BEDROCK_TOKEN}`)
})

test('a signature of the client for the provider itself passes whole where the config says so', async (t) => {
  const { port, fake } = await setUp(t, { auth: { passthrough: {} } })
  const signer = new BedrockRuntimeClient({
    endpoint: fake.url,
    region: 'us-east-1',
    credentials: BEDROCK_KEYS,
    maxAttempts: 1,
    // Signed for the provider but sent to the gateway, as when DNS resolves the provider's name to the gateway.
    requestHandler: { ...http1, handle: (sent: WireRequest) => http1.handle({ ...sent, port }) },
  })
  assert.equal(await converse(signer), TEXT)
})

function authorizationOf({ seen }: FakeProvider): string | string[] | undefined {
  return seen.at(-1)?.headers['authorization']
}
