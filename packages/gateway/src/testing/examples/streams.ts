import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { exchangeRaw, request } from '../client.ts'
import { useOrigin, useTcpServer } from '../scene.ts'
import { UdpClient, useUdpServer } from '../udp.ts'
import type { ExampleCase } from './example-case.ts'

/** Examples about messages that go both ways. */
export const streamExamples: Record<string, ExampleCase> = {
  async 'grpc.yaml'(t) {
    const paths: string[] = []
    const port = await useGrpc(t, (stream, path) => {
      paths.push(path)
      if (paths.length === 1) return stream.respond({ ':status': 503 }, { endStream: true })
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      stream.pipe(stream)
    })
    return {
      replace: { '127.0.0.1:9001': `127.0.0.1:${port}` },
      shows: [/^HTTP\/2 200 [^]*content-type: application\/grpc\r\n[^]*grpc-status: 0\r\n/],
      async check(gateway) {
        const message = Buffer.from([0, 0, 0, 0, 2, 8, 42])
        const answer = await callGrpc(t, gateway.port(), '/shop.orders.Orders/Get', message)
        assert.deepEqual(answer, { status: '0', body: message })
        assert.ok(paths.length >= 2, 'the refused call was made again')
        await callGrpc(t, gateway.port(), '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', message)
        assert.equal(paths.at(-1), '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo')
        const unknown = await callGrpc(t, gateway.port(), '/shop.Other/Get', message)
        assert.equal(unknown.status, '12')
      },
    }
  },

  async 'dns.yaml'(t) {
    const resolver = await useUdpServer(t, (query, reply) => reply(dnsAnswer(query, [192, 0, 2, 7])))
    const overTcp = await useTcpServer(t, (socket) => socket.pipe(socket))
    return {
      replace: {
        '{ host: "10.0.0.2:53", weight: 3 }': `{ host: "${resolver.host}", weight: 3 }`,
        '10.0.0.3:53': resolver.host,
        '10.0.0.2:53': overTcp.host,
      },
      shows: [/^192\.0\.2\.7\n$/],
      command: (text, gateway) => text.replace('-p 5300', `-p ${gateway.port(1)}`),
      async check(gateway) {
        const client = await UdpClient.open(t, gateway.port(1))
        client.send(DNS_QUERY)
        assert.deepEqual((await client.next()).subarray(-4), Buffer.from([192, 0, 2, 7]))
        assert.equal(await exchangeRaw(gateway.port(), 'hello', (text) => text === 'hello'), 'hello')
      },
    }
  },

  async 'websocket.yaml'(t) {
    const pages = await useOrigin(t)
    const chat = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    chat.on('connection', (socket) => socket.on('message', (data: Buffer) => socket.send(`heard ${data.toString()}`)))
    await once(chat, 'listening')
    t.after(() => chat.close())
    const { port } = chat.address() as AddressInfo
    return {
      replace: { '127.0.0.1:9001': `127.0.0.1:${port}`, '127.0.0.1:9000': pages.host },
      shows: [/^HTTP\/1.1 403 /],
      async check(gateway) {
        const url = `ws://127.0.0.1:${gateway.port()}`
        const socket = new WebSocket(`${url}/chat`, { origin: 'https://app.example.com' })
        await once(socket, 'open')
        socket.send('hello')
        const [answer] = (await once(socket, 'message')) as [Buffer]
        assert.equal(answer.toString(), 'heard hello')
        socket.close()
        await once(socket, 'close')
        const other = new WebSocket(`${url}/other`, { origin: 'https://app.example.com' })
        await assert.rejects(once(other, 'open'), /403/)
        assert.equal((await request(gateway.port())).body, 'ok')
      },
    }
  },
}

async function useGrpc(t: TestContext, serve: (stream: ServerHttp2Stream, path: string) => void): Promise<number> {
  const server = createServer()
  server.on('stream', (stream: ServerHttp2Stream, headers) => serve(stream, String(headers[':path'])))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** One unary call over a connection of its own. */
async function callGrpc(
  t: TestContext,
  port: number,
  path: string,
  message: Buffer,
): Promise<{ status: unknown; body: Buffer }> {
  const session = connect(`http://127.0.0.1:${port}`)
  t.after(() => session.destroy())
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  let status: unknown
  stream.on('response', (headers) => (status ??= headers['grpc-status']))
  stream.on('trailers', (headers) => (status ??= headers['grpc-status']))
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.end(message)
  await once(stream, 'end')
  session.close()
  return { status, body: Buffer.concat(chunks) }
}

/** A question for the address of `a.test`. */
const DNS_QUERY = Buffer.from(
  '\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x04test\x00\x00\x01\x00\x01',
  'latin1',
)

/** The response to a query: its question, and one address (RFC 1035 section 4). */
function dnsAnswer(query: Buffer, address: readonly number[]): Buffer {
  let end = 12
  while (query[end] !== 0) end += (query[end] ?? 0) + 1
  const question = query.subarray(12, end + 5)
  const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
  return Buffer.concat([header, question, Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address])])
}
