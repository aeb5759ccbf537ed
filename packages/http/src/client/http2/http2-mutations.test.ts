import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, before, test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { sourceOf } from '../../body/body.ts'
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  GOAWAY,
  HEADERS,
  literalFields,
  PING,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from '../../testing/frame-client.ts'
import { type SentCall, sendCall, useHttp2Connection } from '../../../../gateway/src/testing/http/http2-calls.ts'
import { until } from '../../../../gateway/src/testing/scene.ts'
import { onFault } from '../../runtime/faults.ts'

/** Valid and mutated sessions of a backend: no call hangs, nothing throws, and no truncated response looks complete. */

const PADDED = 8
const STREAMS = [1, 3, 5] as const

/** The frames of one response, in order. */
const response = (stream: number): fc.Arbitrary<Buffer[]> =>
  fc
    .record({
      interims: fc.nat(2),
      pieces: fc.array(fc.nat(300), { maxLength: 5 }),
      isAnnounced: fc.boolean(),
      isPadded: fc.boolean(),
      isSplit: fc.boolean(),
      ending: fc.constantFrom('data', 'empty data', 'trailers', 'reset', 'nothing'),
    })
    .map(({ interims, pieces, isAnnounced, isPadded, isSplit, ending }) => {
      const frames: Buffer[] = []
      for (let i = 0; i < interims; i++) {
        frames.push(frame(HEADERS, END_HEADERS, stream, literalFields([[':status', '103']])))
      }
      const size = pieces.reduce((sum, piece) => sum + piece, 0)
      const length: [string, string][] = isAnnounced ? [['content-length', String(size)]] : []
      const block = literalFields([[':status', '200'], ...length, ['x-kind', 'a'.repeat(20)]])
      const endsWithHead = ending === 'data' && size === 0
      const flags = endsWithHead ? END_STREAM : 0
      if (isSplit) {
        const head = frame(HEADERS, flags, stream, block.subarray(0, 5))
        frames.push(Buffer.concat([head, frame(CONTINUATION, END_HEADERS, stream, block.subarray(5))]))
      } else frames.push(frame(HEADERS, flags | END_HEADERS, stream, block))
      if (endsWithHead) return frames
      for (const [at, piece] of pieces.entries()) {
        const isLast = at === pieces.length - 1 && ending === 'data'
        const data = Buffer.alloc(piece, String(stream))
        const padded = isPadded ? Buffer.concat([Buffer.from([3]), data, Buffer.alloc(3)]) : data
        frames.push(frame(DATA, (isLast ? END_STREAM : 0) | (isPadded ? PADDED : 0), stream, padded))
      }
      if (ending === 'empty data') frames.push(frame(DATA, END_STREAM, stream, Buffer.alloc(0)))
      else if (ending === 'reset') frames.push(frame(RST_STREAM, 0, stream, Buffer.from([0, 0, 0, 2])))
      else if (ending === 'trailers') {
        frames.push(frame(HEADERS, END_HEADERS | END_STREAM, stream, literalFields([['grpc-status', '0']])))
      }
      return frames
    })

const setting = Buffer.from([0, 4, 0, 0, 0, 50])
const ofConnection = fc.constantFrom(
  frame(PING, 0, 0, Buffer.from('12345678')),
  frame(SETTINGS, 0, 0, setting),
  frame(WINDOW_UPDATE, 0, 0, Buffer.from([0, 0, 0, 9])),
  frame(GOAWAY, 0, 0, Buffer.from([0x7f, 255, 255, 255, 0, 0, 0, 0])),
  frame(99, 7, 3, Buffer.from('unknown')),
)

/** All frames of a session, the streams mixed. */
const session: fc.Arbitrary<Buffer[]> = fc
  .tuple(
    fc.tuple(...STREAMS.map(response)),
    fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
    fc.array(ofConnection, { maxLength: 4 }),
  )
  .map(([responses, order, others]) => {
    const queues = [...responses, others].map((frames) => [...frames])
    const mixed = [frame(SETTINGS, 0, 0, Buffer.alloc(0))]
    for (let turns = 0; queues.some(({ length }) => length > 0); turns++) {
      const waiting = queues.filter(({ length }) => length > 0)
      mixed.push(waiting[(order[turns % order.length] ?? 0) % waiting.length]!.shift()!)
    }
    return mixed
  })

type Mutation =
  | { kind: 'drop' | 'repeat' | 'swap'; at: number }
  | { kind: 'flip' | 'cut' | 'insert'; at: number; value: number }
  | { kind: 'head'; at: number; byte: number; value: number }

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constantFrom('drop' as const, 'repeat' as const, 'swap' as const), at: fc.nat() }),
  fc.record({
    kind: fc.constantFrom('flip' as const, 'cut' as const, 'insert' as const),
    at: fc.nat(),
    value: fc.nat(255),
  }),
  // Length, type, flags or number of a frame.
  fc.record({ kind: fc.constant('head' as const), at: fc.nat(), byte: fc.nat(8), value: fc.nat(12) }),
)

function mutate(frames: readonly Buffer[], mutations: readonly Mutation[]): Buffer {
  const changed = frames.map((bytes) => Buffer.from(bytes))
  for (const step of mutations) {
    const at = step.at % changed.length
    const chosen = changed[at]
    if (chosen === undefined) break
    if (step.kind === 'drop') changed.splice(at, 1)
    else if (step.kind === 'repeat') changed.splice(at, 0, chosen)
    else if (step.kind === 'swap') changed.push(...changed.splice(at, 1))
    else if (step.kind === 'head') chosen[step.byte] = step.value
  }
  let bytes = Buffer.concat(changed)
  for (const step of mutations) {
    if (!('value' in step) || bytes.length === 0) continue
    const at = step.at % bytes.length
    if (step.kind === 'flip') bytes[at] = (bytes[at] ?? 0) ^ step.value
    else if (step.kind === 'cut') bytes = bytes.subarray(0, at)
    else if (step.kind === 'insert') {
      bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from([step.value]), bytes.subarray(at)])
    }
  }
  return bytes
}

/**
 * Returns the body of a stream in the complete frames of a session: its DATA up to END_STREAM, or null without
 * END_STREAM.
 */
function wholeBody(bytes: Buffer, stream: number): string | null {
  let body = ''
  let headEnds = false
  for (let at = 0; at + 9 <= bytes.length;) {
    const end = at + 9 + bytes.readUIntBE(at, 3)
    if (end > bytes.length) break
    const [type, flags] = [bytes[at + 3] ?? 0, bytes[at + 4] ?? 0]
    const isOurs = (bytes.readUInt32BE(at + 5) & 0x7fffffff) === stream
    if (isOurs && type === DATA) {
      const padding = (flags & PADDED) === 0 ? 0 : (bytes[at + 9] ?? 0) + 1
      const from = at + 9 + (padding > 0 ? 1 : 0)
      body += bytes.toString('latin1', from, Math.max(from, end - Math.max(0, padding - 1)))
      if ((flags & END_STREAM) !== 0) return body
    }
    if (isOurs && type === HEADERS) headEnds = (flags & END_STREAM) !== 0
    if (isOurs && (type === HEADERS || type === CONTINUATION) && headEnds && (flags & END_HEADERS) !== 0) return body
    at = end
  }
  return null
}

/** How a backend closes after its last byte. */
const LEAVES = ['end', 'destroy', 'resetAndDestroy'] as const
type Script = { bytes: Buffer; splits: readonly number[]; leaves: (typeof LEAVES)[number] }

let script: Script
const sockets = new Set<Socket>()
const server = createServer((socket) => {
  sockets.add(socket)
  socket.on('error', () => {})
  socket.on('close', () => sockets.delete(socket))
  let isAsked = false
  socket.on('data', (chunk) => {
    // The last of the three requests.
    if (isAsked || !chunk.includes('third')) return
    isAsked = true
    void play(socket, script)
  })
})

async function play(socket: Socket, { bytes, splits, leaves }: Script): Promise<void> {
  socket.setNoDelay(true)
  let at = 0
  for (const size of splits) {
    socket.write(bytes.subarray(at, at + size))
    at += size
    await turn()
  }
  socket.write(bytes.subarray(at), () => {
    if (leaves === 'end') socket.end()
    else socket[leaves]()
  })
}

before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

after(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
})

async function outcomes(t: TestContext, played: Script): Promise<{ sent: SentCall; outcome: string }[]> {
  script = played
  const connection = await useHttp2Connection(t, (server.address() as AddressInfo).port)
  const calls = [
    sendCall(connection, { target: '/first' }),
    sendCall(connection, { target: '/second', method: 'POST', body: sourceOf(Buffer.alloc(100)) }),
    sendCall(connection, { target: '/third' }),
  ]
  const told = await Promise.all(calls.map(async (sent) => ({ sent, outcome: await sent.outcome })))
  // A response that announces no body may be complete before its stream ends.
  await until(() => connection.active === 0)
  connection.socket.destroy()
  return told
}

const splits = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 12 })

test('a session in any pieces gives each response whole, or cut where the backend has cut it', async (t) => {
  t.after(onFault((error) => assert.fail(String(error))))
  const property = fc.asyncProperty(session, splits, async (frames, pieces) => {
    const bytes = Buffer.concat(frames)
    for (const [at, { sent, outcome }] of (await outcomes(t, { bytes, splits: pieces, leaves: 'end' })).entries()) {
      const body = wholeBody(bytes, STREAMS[at]!)
      if (body === null && sent.length !== 0) assert.match(outcome, /^connection_lost: /)
      else assert.deepEqual([outcome, sent.body], ['whole', body ?? ''])
    }
  })
  await fc.assert(property, { numRuns: 150 })
})

test('a mutated session ends every call, throws nothing, and nothing that was cut looks whole', async (t) => {
  t.after(onFault((error) => assert.fail(String(error))))
  const mutations = fc.array(mutation, { minLength: 1, maxLength: 4 })
  const seen = { whole: 0, failed: 0 }
  const property = fc.asyncProperty(
    session,
    mutations,
    splits,
    fc.constantFrom(...LEAVES),
    async (frames, steps, pieces, leaves) => {
      const bytes = mutate(frames, steps)
      for (const [at, { sent, outcome }] of (await outcomes(t, { bytes, splits: pieces, leaves })).entries()) {
        seen[outcome === 'whole' ? 'whole' : 'failed']++
        if (outcome !== 'whole') assert.match(outcome, /^(bad_response|connection_lost): /)
        // A response that announces no body is complete with its head.
        else if (sent.length !== 0) {
          assert.equal(sent.body, wholeBody(bytes, STREAMS[at]!))
          assert.ok(sent.length === -1 || sent.length === sent.body.length)
        }
      }
    },
  )
  await fc.assert(property, { numRuns: 400 })
  t.diagnostic(`${seen.whole} whole, ${seen.failed} failed`)
  // A slow machine may have run few cases.
  if (seen.whole + seen.failed > 300) assert.ok(seen.whole > 0 && seen.failed > 0)
})
