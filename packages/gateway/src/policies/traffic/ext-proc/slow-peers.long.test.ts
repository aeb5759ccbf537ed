import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request as sendHttp } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  agree,
  answerTo,
  complete,
  piece,
  type ProcessorCall,
  useAnsweringProcessor,
  useProcessor,
} from '../../../testing/services/processor.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'
import type { ProcessingRequest } from '../../../protos/envoy/service/ext_proc/v3/external_processor.ts'

test('a processor that takes nothing slows the client, and what it took is bounded', async (t) => {
  const calls: ProcessorCall[] = []
  const processor = await useProcessor(t, (call) => {
    calls.push(call)
    call.on('data', (message: ProcessingRequest) => {
      const said = agree(message)
      if (said !== null) call.write(complete(said))
      if (message.request?.$case === 'requestHeaders') call.pause()
    })
    call.on('end', () => call.end())
  })
  const origin = await useOrigin(t, (seen, response) => response.end(String(seen.body.length)))
  const extProc = { backendRef: { host: processor.host }, messageTimeout: '60s' }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })]))
  const total = 32 * 1024 * 1024
  const outgoing = sendHttp({ port: gateway.port(), host: '127.0.0.1', method: 'POST' })
  const sent = feed(outgoing, total)
  await settled(() => sent.bytes)
  assert.ok(sent.bytes < total / 2, `${sent.bytes} bytes were taken`)
  calls[0]?.resume()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const chunks = await response.toArray()
  assert.equal(Buffer.concat(chunks as Buffer[]).toString(), String(total))
})

test('a backend that takes nothing slows the client through the processor, and a client that takes nothing the backend', async (t) => {
  const slow = await useTcpServer(t, (socket) => socket.pause())
  const processor = await useAnsweringProcessor(t, agree)
  const total = 32 * 1024 * 1024
  let written = 0
  const origin = await useOrigin(t, (_seen, response) => {
    const piece = Buffer.alloc(65_536)
    const more = (): void => {
      while (written < total) {
        written += piece.length
        if (!response.write(piece)) return void response.once('drain', more)
      }
      response.end()
    }
    more()
  })
  const extProc = { backendRef: { host: processor.host } }
  const gateway = await useGateway(
    t,
    httpConfig([
      routeTo(slow, { extProc }, { matches: [{ path: { pathPrefix: '/slow' } }] }),
      routeTo(origin, { extProc }),
    ]),
  )
  const outgoing = sendHttp({ port: gateway.port(), host: '127.0.0.1', method: 'POST', path: '/slow' })
  outgoing.on('error', () => {})
  const sent = feed(outgoing, total)
  await settled(() => sent.bytes)
  assert.ok(sent.bytes < total / 2, `${sent.bytes} bytes were taken`)
  outgoing.destroy()
  const reader = connect(gateway.port(), '127.0.0.1')
  let received = 0
  reader.on('data', (chunk: Buffer) => (received += chunk.length))
  reader.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  await until(() => received > 0)
  reader.pause()
  await settled(() => written)
  assert.ok(written < total, `${written} bytes were written`)
  reader.resume()
  await once(reader, 'close')
  assert.ok(received > total, `${received} bytes came`)
})

test('one that sends more than is taken is slowed down too, until the backend takes more', async (t) => {
  let [written, taken] = [0, 0]
  const total = 32 * 1024 * 1024
  const processor = await useProcessor(t, (call) => {
    call.on('data', (message: ProcessingRequest) => {
      const part = message.request
      if (part?.$case === 'requestHeaders') call.write(complete(answerTo(part.$case)))
      if (part?.$case !== 'requestBody' || written > 0) return
      const more = (): void => {
        while (written < total) {
          written += 65_536
          if (!call.write(complete(piece('requestBody', Buffer.alloc(65_536), false))))
            return void call.once('drain', more)
        }
        call.write(complete(piece('requestBody', Buffer.alloc(0), true)))
      }
      more()
    })
  })
  const backends: Socket[] = []
  const slow = await useTcpServer(t, (socket) => backends.push(socket.pause()))
  const extProc = { backendRef: { host: processor.host }, messageTimeout: '60s' }
  const gateway = await useGateway(t, httpConfig([routeTo(slow, { extProc })]))
  const socket = connect(gateway.port(), '127.0.0.1').on('error', () => {})
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx')
  await settled(() => written)
  assert.ok(written < total / 2, `${written} bytes were written`)
  for (const backend of backends) backend.on('data', (chunk: Buffer) => (taken += chunk.length)).resume()
  await until(() => taken >= total)
  socket.destroy()
  await until(() => processor.cancelled === 1)
})

/** Writes so many bytes as they are taken. */
function feed(outgoing: ClientRequest, total: number): { bytes: number } {
  const sent = { bytes: 0 }
  const chunk = Buffer.alloc(65_536, 'x')
  const more = (): void => {
    while (sent.bytes < total && !outgoing.destroyed) {
      sent.bytes += chunk.length
      if (!outgoing.write(chunk)) return void outgoing.once('drain', more)
    }
    if (!outgoing.destroyed) outgoing.end()
  }
  more()
  return sent
}

/** Has begun to grow, and does not grow any more. */
async function settled(count: () => number): Promise<void> {
  let before = count()
  for (let quiet = 0; quiet < 10 || before === 0; quiet = count() === before ? quiet + 1 : 0) {
    before = count()
    await delay(50)
  }
}
