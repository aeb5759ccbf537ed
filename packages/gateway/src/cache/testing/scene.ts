import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { type RawResponse, request } from '../../testing/client.ts'
import type { TestGateway, TestGatewayOptions } from '../../testing/gateway.ts'
import type { OriginHandler, SeenRequest } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'

/** The usage of each response: 10 cents at the prices of the scene. */
const USAGE = { prompt_tokens: 1000, completion_tokens: 1000, total_tokens: 2000 }
const RATES = { input: 50, output: 50 }
const JSON_TYPE = { 'content-type': 'application/json' }

/** Answers with the number of the request, so that a stored answer shows. */
export function respond(): OriginHandler {
  let count = 0
  return (seen, response) => {
    count += 1
    const body = JSON.parse(seen.body) as { model: string; stream?: boolean; input?: unknown }
    if (seen.url.endsWith('/embeddings')) return sendEmbeddings(response, count)
    if (body.stream === true) return void response.writeHead(200, SSE).end(streamOf(`answer ${count}`))
    sendChat(response, `answer ${count}`)
  }
}

export const SSE = { 'content-type': 'text/event-stream', 'x-request-id': 'of-the-first' }

export function sendChat(response: ServerResponse, content: string): void {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
  const answer = { id: 'c', object: 'chat.completion', created: 1, model: 'gpt-test', choices, usage: USAGE }
  response.writeHead(200, { ...JSON_TYPE, 'x-ratelimit-remaining-requests': '7' }).end(JSON.stringify(answer))
}

function sendEmbeddings(response: ServerResponse, count: number): void {
  const data = [{ object: 'embedding', index: 0, embedding: [count, 0.5] }]
  const usage = { prompt_tokens: 1000, total_tokens: 1000 }
  response.writeHead(200, JSON_TYPE).end(JSON.stringify({ object: 'list', data, model: 'embed-test', usage }))
}

const chunkOf = (choices: object[], more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-test', choices, ...more })}\n\n`

export const piece = (content: string): string => chunkOf([{ index: 0, delta: { content }, finish_reason: null }])
export const END = `${chunkOf([{ index: 0, delta: {}, finish_reason: 'stop' }])}${chunkOf([], { usage: USAGE })}data: [DONE]\n\n`

export function streamOf(content: string): string {
  return content.split(/(?= )/).map(piece).join('').concat(END)
}

export interface CacheScene {
  cache?: object
  handler?: OriginHandler
  /** Policies of the route. */
  policies?: object
  /** Policies of the backend besides `ai`. */
  backend?: object
  ai?: object
  frontend?: object
  /** Backends besides that of the route. */
  backends?: object[]
  options?: TestGatewayOptions
}

interface CacheTest {
  gateway: TestGateway
  seen: SeenRequest[]
  config: object
  chat: (body?: object, headers?: Record<string, string>) => Promise<RawResponse>
  ask: (path: string, body: object, headers?: Record<string, string>) => Promise<RawResponse>
  line: (at?: number) => Record<string, unknown>
}

/** A gateway with a cache before a provider whose answers are numbered. */
export async function setUp(t: TestContext, scene: CacheScene = {}): Promise<CacheTest> {
  const { cache = {}, policies = {}, backend = {}, ai = {}, frontend = {}, backends = [], options = {} } = scene
  const origin = await useOrigin(t, scene.handler ?? respond())
  const prices = { models: ['gpt-test', 'embed-test'].map((model) => ({ model, rates: RATES })), table: 'None' }
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const aiPolicy = { cache: { ttl: '1m', ...cache }, ...ai }
  const backendPolicies = { auth: { key: 'k' }, prices, ai: aiPolicy, ...backend }
  const config = httpConfig([{ policies, backends: [{ ai: { provider }, policies: backendPolicies }] }], {
    frontend,
    backends,
  })
  const gateway = await useGateway(t, config, { logFormat: 'json', ...options })
  t.after(() => assert.deepEqual(gateway.bugs, []))
  const ask: CacheTest['ask'] = (path, body, headers = {}) =>
    request(gateway.port(), {
      method: 'POST',
      path,
      headers: { ...JSON_TYPE, authorization: 'Bearer ann', ...headers },
      body: JSON.stringify(body),
    })
  return {
    gateway,
    seen: origin.seen,
    config,
    ask,
    chat: (body = {}, headers = {}) => ask('/v1/chat/completions', { ...CHAT, ...body }, headers),
    line: (at = -1) => JSON.parse(gateway.lines.at(at) ?? '{}') as Record<string, unknown>,
  }
}

export const CHAT = { model: 'gpt-test', messages: [{ role: 'user', content: 'hi' }] }

/** The outcome that the cache tells the client. Ages of a few seconds become 0, because a busy machine takes its time. */
export function cacheOf({ headers }: { headers: RawResponse['headers'] | Headers }): string | undefined {
  const outcome = headers instanceof Headers ? headers.get('x-portico-cache') : headers['x-portico-cache']
  return outcome?.replace(/age=\d+/, (age) => (Number(age.slice(4)) < BUSY_SECONDS ? 'age=0' : age))
}

const BUSY_SECONDS = 25

/** The text of a response, streamed or not. */
export function textOf({ body }: Pick<RawResponse, 'body'>): string {
  if (!body.includes('data: ')) return /"content":"([^"]*)"/.exec(body)?.[1] ?? ''
  return [...body.matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text).join('')
}

/** A client that can leave before its response is complete. */
export class LeavingClient {
  received = ''
  isEnded = false
  readonly #socket: Socket

  constructor(port: number, body: object, path = '/v1/chat/completions') {
    const text = JSON.stringify(body)
    const lines = [
      `POST ${path} HTTP/1.1`,
      'host: test.example',
      'authorization: Bearer ann',
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(text)}`,
      'connection: close',
    ]
    this.#socket = connect(port, '127.0.0.1', () => this.#socket.write(`${lines.join('\r\n')}\r\n\r\n${text}`))
    this.#socket.on('data', (data: Buffer) => (this.received += data.toString('latin1')))
    this.#socket.on('error', () => {})
    this.#socket.on('end', () => (this.isEnded = true))
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  leave(): void {
    this.#socket.destroy()
  }
}
