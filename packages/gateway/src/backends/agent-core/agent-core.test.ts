import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { SignatureV4 } from '@smithy/signature-v4'
import { loadConfig } from '../../sources/file.ts'
import { printProblems } from '../../sources/print-problems.ts'
import { request } from '../../testing/client.ts'
import { useConnectProxy } from '../../testing/services/connect-proxy.ts'
import { useProcessEnvironment } from '../../testing/services/credential-services.ts'
import { httpConfig, pathPrefix, useGateway } from '../../testing/scene.ts'
import { useTlsFiles } from '../../testing/tls-files.ts'

const ARN = 'arn:aws:bedrock-agentcore:eu-west-1:123456789012:runtime/my_agent-a1B2c3D4e5'
const HOST = 'bedrock-agentcore.eu-west-1.amazonaws.com'
const PATH =
  '/runtimes/arn%3Aaws%3Abedrock-agentcore%3Aeu-west-1%3A123456789012%3Aruntime%2Fmy_agent-a1B2c3D4e5/invocations'
const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 's3cret/key' }

interface SeenRequest {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

type Handler = (message: IncomingMessage, response: ServerResponse, body: string) => unknown

/** A gateway in front of a fake AgentCore service of one region, which a proxy resolves by name. */
async function setUp(t: TestContext, { policies = {}, qualifier, handler }: Scene = {}) {
  useProcessEnvironment(t, KEYS)
  const { dir } = useTlsFiles(t, [HOST])
  const seen: SeenRequest[] = []
  const [cert, key] = ['crt', 'key'].map((end) => readFileSync(join(dir, `${HOST}.${end}`)))
  const answer: Handler = handler ?? ((_message, response) => response.end('ok'))
  const service = createServer({ cert: cert!, key: key! }, (message, response) => {
    void message.toArray().then((chunks: Buffer[]) => {
      const body = Buffer.concat(chunks).toString()
      seen.push({ method: message.method!, url: message.url!, headers: message.headers, body })
      return answer(message, response, body)
    })
  })
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  t.after(() => {
    service.close()
    service.closeAllConnections()
  })
  const { port } = service.address() as AddressInfo
  const proxy = await useConnectProxy(t, { portOf: () => port })
  const backends = [
    { name: 'egress', static: { host: '127.0.0.1', port: proxy.port } },
    {
      name: 'agent',
      aws: { agentCore: { agentRuntimeArn: ARN, ...(qualifier !== undefined && { qualifier }) } },
      policies: { tls: { caCertificateRefs: ['ca.crt'] }, tunnel: { backendRef: { name: 'egress' } }, ...policies },
    },
  ]
  const route = { ...pathPrefix('/agent'), backends: [{ backend: 'agent' }] }
  const gateway = await useGateway(t, httpConfig([route], { backends }), { dir })
  return { seen, proxy, gateway, port: gateway.port() }
}

interface Scene {
  policies?: object
  qualifier?: string
  handler?: Handler
}

type Chunk = string | ArrayBuffer | ArrayBufferView

/** The hash for the oracle; with a secret it is an HMAC. */
class Sha256 {
  readonly #hash
  constructor(secret?: Chunk) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
  }
  update(chunk: Chunk): void {
    this.#hash.update(bytesOf(chunk))
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.#hash.digest()))
  }
  reset(): void {}
}

function bytesOf(chunk: Chunk): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  return ArrayBuffer.isView(chunk) ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : Buffer.from(chunk)
}

/** The signature that the vendor's own code computes for a request. */
async function oracle({ method, url, headers, body }: SeenRequest): Promise<string> {
  const signer = new SignatureV4({
    credentials: { accessKeyId: KEYS.AWS_ACCESS_KEY_ID, secretAccessKey: KEYS.AWS_SECRET_ACCESS_KEY },
    region: 'eu-west-1',
    service: 'bedrock-agentcore',
    sha256: Sha256,
  })
  const { pathname, searchParams } = new URL(url, `https://${HOST}`)
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization!)![1]!.split(';')
  const signed = await signer.sign(
    {
      method,
      protocol: 'https:',
      hostname: HOST,
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: Object.fromEntries(names.map((name) => [name, String(headers[name])])),
      body,
    },
    { signingDate: new Date(dateOf(String(headers['x-amz-date']))) },
  )
  return signed.headers['authorization']!
}

function dateOf(text: string): string {
  return text.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z')
}

test('a runtime is invoked by its path, with a signature that the vendor accepts', async (t) => {
  const { seen, proxy, port } = await setUp(t, { qualifier: 'prod/1' })
  const headers = {
    'content-type': 'application/json',
    authorization: 'Bearer of-the-client',
    'x-amzn-bedrock-agentcore-runtime-session-id': 'session-0123456789',
    'x-custom': 'kept',
  }
  const { status, body } = await request(port, {
    method: 'POST',
    path: '/agent/a?b=c',
    headers,
    body: '{"prompt":"hi"}',
  })
  assert.deepEqual([status, body], [200, 'ok'])
  const [got] = seen
  assert.deepEqual([got!.method, got!.url, got!.body], ['POST', `${PATH}?qualifier=prod%2F1`, '{"prompt":"hi"}'])
  assert.equal(got!.headers.host, HOST)
  assert.equal(got!.headers['x-custom'], 'kept')
  assert.equal(got!.headers['x-amzn-bedrock-agentcore-runtime-session-id'], 'session-0123456789')
  assert.match(
    got!.headers.authorization!,
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock-agentcore\/aws4_request, /,
  )
  assert.equal(got!.headers.authorization, await oracle(got!))
  assert.deepEqual(proxy.targets, [`${HOST}:443`])
})

test('credentials for the gateway are not forwarded, except those that a policy names', async (t) => {
  const headers = {
    cookie: 'session=of-the-client',
    'proxy-authorization': 'Basic of-the-client',
    'x-api-key': 'of-the-client',
    'x-auth-token': 'of-the-client',
    authorization: 'Bearer of-the-client',
    'x-real-ip': '203.0.113.9',
  }
  const plain = await setUp(t)
  await request(plain.port, { path: '/agent?key=of-the-client', headers })
  assert.doesNotMatch(
    plain.seen[0]!.url + JSON.stringify(plain.seen[0]!.headers),
    /of-the-client|203\.0\.113|forwarded/,
  )
  const passed = await setUp(t, { policies: { auth: { passthrough: {} } } })
  await request(passed.port, { path: '/agent', headers })
  assert.deepEqual(
    [passed.seen[0]!.headers.authorization, passed.seen[0]!.headers.cookie],
    ['Bearer of-the-client', undefined],
  )
  const set = [{ name: 'cookie', value: 'request.headers["cookie"]' }]
  const named = await setUp(t, { policies: { transformation: { request: { set } } } })
  await request(named.port, { path: '/agent', headers })
  assert.equal(named.seen[0]!.headers.cookie, 'session=of-the-client')
})

test('policies change neither where a call goes nor what of it is signed', async (t) => {
  const transformation = {
    request: {
      set: [
        { name: ':path', value: '"/elsewhere"' },
        { name: 'x-amz-meta', value: '"a"' },
      ],
    },
  }
  const { seen, port } = await setUp(t, { policies: { transformation } })
  await request(port, { path: '/agent' })
  assert.deepEqual([seen[0]!.url, seen[0]!.headers['x-amz-meta']], [PATH, 'a'])
  assert.equal(seen[0]!.headers.authorization, await oracle(seen[0]!))
})

test('keys of a policy are used in place of those of the machine, and a token in place of a signature', async (t) => {
  const secretRef = { data: { accessKey: 'AKIDOTHER', secretKey: 'other' } }
  const other = await setUp(t, { policies: { auth: { aws: { secretRef } } } })
  await request(other.port, { path: '/agent' })
  assert.match(other.seen[0]!.headers.authorization!, /Credential=AKIDOTHER\/\d{8}\/eu-west-1\/bedrock-agentcore\//)
  const token = await setUp(t, { policies: { auth: { key: 'a-token' } } })
  await request(token.port, { path: '/agent' })
  assert.equal(token.seen[0]!.headers.authorization, 'Bearer a-token')
})

test('answers stream', async (t) => {
  const parts = ['data: 1\n\n', 'data: 2\n\n']
  let next: (() => void) | null = null
  const { port } = await setUp(t, {
    handler(_message, response) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(parts[0])
      next = () => void response.end(parts[1])
    },
  })
  const answer = await fetch(`http://127.0.0.1:${port}/agent`, { method: 'POST', body: '{}' })
  const reader = answer.body!.getReader()
  const first = await reader.read()
  assert.equal(Buffer.from(first.value).toString(), parts[0])
  next!()
  assert.equal(Buffer.from((await reader.read()).value).toString(), parts[1])
})

test('an MCP server in a runtime serves MCP clients', async (t) => {
  const { seen, gateway, port } = await setUp(t, {
    async handler(message, response, body) {
      if (message.method !== 'POST') return response.writeHead(405).end()
      const server = new McpServer({ name: 'in-a-runtime', version: '1.0.0' })
      server.registerTool('hello', {}, () => ({ content: [{ type: 'text', text: 'hello' }] }))
      const transport = new StreamableHTTPServerTransport({})
      await server.connect(transport)
      await transport.handleRequest(message, response, JSON.parse(body))
    },
  })
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/agent/mcp`)))
  t.after(() => client.close())
  assert.equal(client.getServerVersion()?.name, 'in-a-runtime')
  const result = await client.callTool({ name: 'hello' })
  assert.deepEqual(result.content, [{ type: 'text', text: 'hello' }])
  for (const each of seen) {
    assert.equal(each.url, PATH)
    assert.equal(each.headers.authorization, await oracle(each))
  }
  assert.deepEqual(gateway.bugs, [])
})

test('only runtimes can be named', () => {
  const load = (aws: object) => {
    const config = { binds: [{ port: 0, listeners: [{ routes: [{ backends: [{ aws }] }] }] }] }
    const loaded = loadConfig(JSON.stringify(config), { file: 'test.yaml', dir: '.', env: {} })
    return loaded.ok ? loaded.ir.backends[0]!.target : { problems: printProblems(loaded.problems) }
  }
  const problemsOf = (result: ReturnType<typeof load>): string => ('problems' in result ? result.problems : '')
  const target = (arn: string) => load({ agentCore: { agentRuntimeArn: arn } })
  assert.deepEqual(target(ARN), { kind: 'agentCore', arn: ARN, region: 'eu-west-1', host: HOST, qualifier: null })
  const china = 'arn:aws-cn:bedrock-agentcore:cn-north-1:123456789012:runtime/a'
  assert.deepEqual(load({ agentCore: { agentRuntimeArn: china, qualifier: '3' } }), {
    kind: 'agentCore',
    arn: china,
    region: 'cn-north-1',
    host: 'bedrock-agentcore.cn-north-1.amazonaws.com.cn',
    qualifier: '3',
  })
  const bad = [
    'my-agent',
    ARN.replace('bedrock-agentcore', 's3'),
    ARN.replace('eu-west-1', 'evil.test#'),
    ARN.replace('eu-west-1', ''),
    ARN.replace('123456789012', '1'),
    ARN.replace('runtime/', 'gateway/'),
    `${ARN}/x`,
    `${ARN}\n`,
    `x${ARN}`,
    ARN.replace('arn:aws:', 'arn:other:'),
  ]
  for (const arn of bad) assert.match(problemsOf(target(arn)), /expected an ARN such as/, arn)
  assert.match(problemsOf(load({})), /agentCore/)
  assert.match(
    problemsOf(load({ agentCore: { agentRuntimeArn: ARN, qualifier: 'a b' } })),
    /a version or the name of an endpoint/,
  )
})
