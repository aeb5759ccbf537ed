import { writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Random } from '../../../../http/src/http1/fuzz/random.ts'
import { NO, ok, option, useAuthorizer } from '../services/authorizer.ts'
import { useHttp2Server } from '../services/grpc.ts'
import { createSigningKey, ISSUER, keySetOf, sign } from '../services/issuer.ts'
import { useLimitServer } from '../services/limit-server.ts'
import { useTarget } from '../mcp/mcp-target.ts'
import { agree, headers, answerTo, immediate, useAnsweringProcessor } from '../services/processor.ts'
import { anthropicVendor } from '../providers/anthropic.ts'
import { bedrockVendor } from '../providers/bedrock.ts'
import { geminiVendor } from '../providers/gemini.ts'
import { openaiVendor } from '../providers/openai.ts'
import { startFakeProvider } from '../providers/server.ts'
import { closedPort, useOrigin, useTcpServer } from '../scene.ts'
import { useTlsFiles } from '../tls-files.ts'
import { answerAtRandom } from './erratic-target.ts'
import { respondAtRandom } from './erratic-origin.ts'

/** Everything that random configs may name: servers of all kinds, files and credentials. */
export interface Services {
  dir: string
  names: readonly string[]
  hosts: readonly string[]
  ports: readonly number[]
  /** The ports that speak MCP. */
  mcpPorts: readonly number[]
  /** Ports by the provider whose format is spoken there. */
  providers: Readonly<Record<string, number>>
  backends: readonly object[]
  stdioArgs: readonly string[]
  users: readonly string[]
  keySet: string
  issuer: string
  openapi: string
  /** Tokens that clients may show. */
  tokens: readonly string[]
}

export async function useServices(t: TestContext, seed: number): Promise<Services> {
  const random = new Random(seed)
  const { dir } = useTlsFiles(t, ['a.test'])
  const key = createSigningKey('k1')
  const keySet = keySetOf(key)
  writeFileSync(join(dir, 'secret.txt'), 'secret-secret')
  writeFileSync(join(dir, 'keys.json'), keySet)
  writeFileSync(join(dir, 'openapi.json'), OPENAPI)

  const origin = await useOrigin(t, (seen, response) => respondAtRandom(random, seen, response, keySet))
  const http2 = await useHttp2Server(t, (stream) => {
    stream.resume()
    if (random.chance(10)) return stream.close(random.below(14))
    stream.respond({ ':status': random.pick([200, 200, 404, 503]), 'x-a': '1' })
    if (random.chance(10)) return void stream.write('half', () => stream.session?.destroy())
    stream.end('an answer')
  })
  const broken = await useTcpServer(t, (socket) => breakAtRandom(random, socket))
  const tools = await useTarget(t, (request) => answerAtRandom(random, request, 0))
  const erratic = await useTarget(t, (request) => answerAtRandom(random, request, 40), { session: '' })
  const authorizer = await useAuthorizer(t, () =>
    random.chance(30) ? NO : ok({ headers: [option(random.pick(['x-user', 'host', ':path', 'x-a']), 'é\n')] }),
  )
  const processor = await useAnsweringProcessor(t, (request) => {
    if (random.chance(15)) return immediate(random.pick([200, 403, 599]))
    const { request: part } = request
    if (random.chance(30) && part !== undefined) return answerTo(part.$case, headers({ 'x-a': '1', ':path': '/b' }))
    return agree(request)
  })
  const limits = await useLimitServer(t, () => ({ overallCode: random.pick([1, 1, 2, 0]) }))
  const providers: Record<string, number> = {}
  for (const vendor of [openaiVendor(), anthropicVendor(), geminiVendor(), bedrockVendor()]) {
    const provider = await startFakeProvider(vendor)
    t.after(() => provider.close())
    providers[vendor.name] = provider.port
  }
  const dead = await closedPort()
  const portByName: Record<string, number> = {
    ...{ origin: origin.port, http2, broken: broken.port, dead, tools: tools.port, erratic: erratic.port },
    ...{ authorizer: portOf(authorizer.host), processor: portOf(processor.host), limits: portOf(limits.host) },
  }
  const ports = Object.values(portByName)
  return {
    dir,
    names: Object.keys(portByName),
    hosts: ports.map((port) => `127.0.0.1:${port}`),
    ports,
    mcpPorts: [tools.port, tools.port, erratic.port, dead],
    providers,
    backends: Object.entries(portByName).map(([name, port]) => ({ name, static: { host: '127.0.0.1', port } })),
    stdioArgs: [fileURLToPath(new URL('../mcp/stdio-server.mjs', import.meta.url))],
    users: ['alice:{SHA}fEqNCco3Yq9h5ZUglD3CZJT4lBs='],
    keySet,
    issuer: ISSUER,
    openapi: OPENAPI,
    tokens: [await sign(key, { aud: 'portico' }), await sign(key, { exp: 1 }), 'a.b.c', ''],
  }
}

function portOf(host: string): number {
  return Number(host.split(':')[1])
}

/** Answers with what is no HTTP, half of it, or nothing, and hangs up. */
function breakAtRandom(random: Random, socket: Socket): void {
  if (random.chance(20)) return void socket.end()
  socket.once('data', () => {
    if (random.chance(20)) return socket.resetAndDestroy()
    socket.end(random.pick(BROKEN))
  })
}

const BROKEN = [
  'SSH-2.0-x\r\n',
  'HTTP/1.1 200 OK\r\ncontent-le',
  'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab',
  'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc',
  'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 999 What\r\ncontent-length: 0\r\n\r\n',
  Buffer.from('000000040000000000', 'hex'),
]

const OPENAPI = JSON.stringify({
  openapi: '3.0.0',
  info: { title: 'pets', version: '1' },
  paths: {
    '/pets': {
      get: {
        operationId: 'listPets',
        tags: ['pets'],
        parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer' } }],
        responses: { 200: { description: 'pets' } },
      },
      post: {
        operationId: 'addPet',
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } },
        responses: { 201: { description: 'added' } },
      },
    },
    '/pets/{id}': {
      get: {
        operationId: 'onePet',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: { 200: { description: 'a pet' } },
      },
    },
  },
  components: {
    schemas: {
      Pet: { type: 'object', properties: { name: { type: 'string' }, mother: { $ref: '#/components/schemas/Pet' } } },
    },
  },
})
