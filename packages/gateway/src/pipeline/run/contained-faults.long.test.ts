import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import { connect, type AddressInfo } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { Exchange } from '../../mcp/engine/exchange.ts'
import { LiveSession } from '../../mcp/session/live-session.ts'
import { Sessions } from '../../mcp/session/sessions.ts'
import { GatheringWriter } from '../../../../http/src/socket/gathering-writer.ts'
import { HeaderBlock } from '@portico/http'
import { Http2ServerConnection } from '../../../../http/src/server/http2/server-connection.ts'
import { ChunkedDecoder } from '../../../../http/src/http1/chunked.ts'
import { Http1ServerConnection } from '../../../../http/src/server/http1/server-connection.ts'
import { Http1Exchange } from '../../../../http/src/server/http1/server-exchange.ts'
import { FrameOutput } from '../../../../http/src/http2/output.ts'
import { Http2RequestSource } from '../../../../http/src/server/http2/request-source.ts'
import { Http2ResponseSink } from '../../../../http/src/server/http2/response-sink.ts'
import { Http2Exchange } from '../../../../http/src/server/http2/server-exchange.ts'
import type { TestGateway } from '../../testing/gateway.ts'
import { useTarget } from '../../testing/mcp/mcp-target.ts'
import { httpConfig, pathPrefix, routeTo, until, useGateway, useOrigin } from '../../testing/scene.ts'
import { Destination, Endpoints } from '@portico/http/client'
import { Http1Call } from '../../../../http/src/client/http1/http1-call.ts'
import { Http1Connection } from '../../../../http/src/client/http1/http1-connection.ts'
import { Http2Call } from '../../../../http/src/client/http2/http2-call.ts'
import { Http2RequestBody } from '../../../../http/src/client/http2/http2-request-body.ts'
import { Http2ResponseBody } from '../../../../http/src/client/http2/http2-response-body.ts'
import { FrameSocket } from '../../../../http/src/client/http2/frame-socket.ts'
import { Http2Connection } from '../../../../http/src/client/http2/http2-connection.ts'
import { OpenCalls } from '../../../../http/src/client/http2/open-calls.ts'
import { Pool } from '../../../../http/src/client/pool/pool.ts'
import { BackendCall } from '../call/backend-call.ts'
import { RequestContext } from '../context/request-context.ts'

/** Classes that requests pass through; each of their methods is made to throw once. */
const CLASSES = [
  [
    HeaderBlock,
    Http1Exchange,
    Http2Exchange,
    Http2RequestSource,
    Http2ResponseSink,
    Http1ServerConnection,
    Http2ServerConnection,
    FrameOutput,
  ],
  [GatheringWriter, ChunkedDecoder, BackendCall, RequestContext, Destination, Endpoints, Pool],
  [
    Http1Call,
    Http1Connection,
    Http2Call,
    Http2RequestBody,
    Http2ResponseBody,
    Http2Connection,
    FrameSocket,
    OpenCalls,
    Exchange,
    LiveSession,
    Sessions,
  ],
].flat() as unknown as { name: string; prototype: Record<string, unknown> }[]

type Method = (...given: unknown[]) => unknown

/** Methods whose exception cannot be answered by design: they are called by the test to end everything. */
const NOT_OF_REQUESTS = new Set(['close', 'destroy', 'constructor'])

interface Injection {
  hits: number
  restore(): void
}

/** Makes the method throw at its `nth` call. */
function inject(prototype: Record<string, unknown>, method: string, nth: number): Injection {
  const real = prototype[method] as Method
  const state: Injection = { hits: 0, restore: () => void (prototype[method] = real) }
  prototype[method] = function (this: unknown, ...given: unknown[]): unknown {
    if (++state.hits === nth) throw new Error(`injected into ${method}`)
    return real.apply(this, given)
  }
  return state
}

function methodsOf({ prototype }: (typeof CLASSES)[number]): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(prototype)).flatMap(([name, { value }]) =>
    typeof value === 'function' && !NOT_OF_REQUESTS.has(name) ? [name] : [],
  )
}

/** The status, or `closed` where the connection or the stream ended instead. */
type Outcome = number | 'closed' | 'hung'

interface TestRequest {
  method: string
  path: string
  body: string
}

function overHttp1(port: number, { method, path, body }: TestRequest): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    const end = (outcome: Outcome): void => {
      clearTimeout(late)
      socket.destroy()
      resolve(outcome)
    }
    const late = setTimeout(() => end('hung'), PATIENCE_MS)
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    socket.on('error', () => end('closed'))
    socket.on('close', () => end(text === '' ? 'closed' : Number(text.split(' ')[1])))
    const head = `host: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n`
    const framing = body === '' ? '' : `transfer-encoding: chunked\r\n`
    const chunk = body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    socket.write(`${method} ${path} HTTP/1.1\r\n${head}${framing}\r\n${chunk}`)
  })
}

function overHttp2(port: number, { method, path, body }: TestRequest): Promise<Outcome> {
  return new Promise((resolve) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`)
    const end = (outcome: Outcome): void => {
      clearTimeout(late)
      session.destroy()
      resolve(outcome)
    }
    const late = setTimeout(() => end('hung'), PATIENCE_MS)
    session.on('error', () => end('closed'))
    session.on('close', () => end('closed'))
    const stream = session.request({
      ...{ ':method': method, ':path': path },
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    })
    let status: number | null = null
    stream.on('response', (headers) => (status = headers[':status'] ?? 0))
    stream.on('error', () => {})
    stream.resume()
    stream.on('end', () => stream.rstCode === 0 && status !== null && end(status))
    stream.on('close', () => end(stream.rstCode !== 0 || status === null ? 'closed' : status))
    stream.end(body)
  })
}

const PATIENCE_MS = 10_000
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
})

const SENT: TestRequest[] = [
  { method: 'GET', path: '/plain', body: '' },
  { method: 'POST', path: '/plain', body: 'a body' },
  { method: 'POST', path: '/edited', body: '{"a":1}' },
  { method: 'POST', path: '/http2', body: 'a body' },
  { method: 'POST', path: '/mcp', body: INITIALIZE },
  { method: 'POST', path: '/tools', body: INITIALIZE },
]

/** Speaks HTTP/2 without TLS. */
async function useHttp2Origin(t: TestContext): Promise<{ host: string }> {
  const server = createHttp2Server((request, response) => {
    request.resume()
    response.write('an answer')
    setImmediate(() => response.end(' in two pieces'))
  })
  const sessions = new Set<{ destroy(): void }>()
  server.on('session', (session) => sessions.add(session))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const version = (of: 'HTTP1' | 'HTTP2'): object => ({ backend: { http: { version: of } } })

async function useEverything(t: TestContext): Promise<TestGateway> {
  const origin = await useOrigin(t, (_seen, response) => {
    response.write('an answer')
    setImmediate(() => response.end(' in two pieces'))
  })
  const http2 = await useHttp2Origin(t)
  const target = await useTarget(t)
  const server = (name: string): object => ({ name, static: { host: '127.0.0.1', port: target.port } })
  const edited = {
    transformation: { response: { body: 'string(response.body) + request.method' } },
    retry: { attempts: 1, codes: [503] },
    timeouts: { request: '5s' },
  }
  return useGateway(
    t,
    httpConfig([
      routeTo(origin, version('HTTP1'), pathPrefix('/plain')),
      routeTo(origin, { ...edited, ...version('HTTP1') }, pathPrefix('/edited')),
      routeTo(http2, version('HTTP2'), pathPrefix('/http2')),
      { ...pathPrefix('/mcp'), backends: [{ mcp: { targets: [server('one')] } }] },
      { ...pathPrefix('/tools'), backends: [{ mcp: { targets: [server('one'), server('two')] } }] },
    ]),
  )
}

describe('an exception in any class that a request passes', () => {
  for (const { name, prototype } of CLASSES) {
    test(`in ${name} ends only that request`, async (t) => {
      const gateway = await useEverything(t)
      let thrown = 0
      const hung: string[] = []
      for (const method of methodsOf({ name, prototype })) {
        for (const [client, send] of Object.entries({ overHttp1, overHttp2 })) {
          for (const sent of SENT) {
            for (const nth of [1, 2]) {
              const injection = inject(prototype, method, nth)
              const outcome = await send(gateway.port(), sent).finally(() => injection.restore())
              if (outcome === 'hung')
                hung.push(`${name}.${method} at call ${nth}, ${client} ${sent.method} ${sent.path}`)
              if (injection.hits >= nth) thrown++
              else if (injection.hits < 1) break
            }
          }
        }
      }
      t.diagnostic(`${thrown} exceptions, ${gateway.bugs.length} of them logged`)
      assert.deepEqual(hung, [])
      for (const send of [overHttp1, overHttp2]) {
        for (const sent of SENT) assert.equal(await send(gateway.port(), sent), 200, `${send.name} ${sent.path}`)
      }
      await until(() => gateway.connectionCount() === 0)
    })
  }
})
