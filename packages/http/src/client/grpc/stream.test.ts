import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type ServerDuplexStream, status as codes } from '@grpc/grpc-js'
import {
  textMethod,
  useGrpcClient,
  useHttp2Server,
  useTextServer,
} from '../../../../gateway/src/testing/services/grpc.ts'
import { until } from '../../../../gateway/src/testing/scene.ts'
import type { GrpcOptions } from './call.ts'
import { CANCELLED, GrpcError } from './status.ts'
import { GrpcStream } from './stream.ts'

type Duplex = ServerDuplexStream<string, string>

function open(options: GrpcOptions, drained = (): void => {}) {
  const seen = { messages: [] as string[], ended: undefined as GrpcError | null | undefined }
  const stream = new GrpcStream(textMethod('Talk'), options, {
    message: (text) => seen.messages.push(text),
    drained,
    ended: (error) => (seen.ended = error),
  })
  return { stream, seen }
}

async function useEcho(t: TestContext): Promise<GrpcOptions> {
  const Talk = (call: Duplex): void => {
    call.on('data', (text: string) => call.write(`${text}!`))
    call.on('end', () => call.end())
  }
  return useGrpcClient(t, await useTextServer(t, { Talk }))
}

test('messages go both ways, in order, and the end is heard', async (t) => {
  const { stream, seen } = open(await useEcho(t))
  const texts = Array.from({ length: 1000 }, (_, i) => `message ${i}`)
  for (const text of texts) stream.send(text)
  stream.finish()
  await until(() => seen.ended !== undefined)
  assert.equal(seen.ended, null)
  assert.deepEqual(
    seen.messages,
    texts.map((text) => `${text}!`),
  )
})

test('each answer comes before the next question', async (t) => {
  const { stream, seen } = open(await useEcho(t))
  for (let i = 1; i <= 3; i++) {
    stream.send(`q${i}`)
    await until(() => seen.messages.length === i)
  }
  stream.finish()
  await until(() => seen.ended === null)
  assert.deepEqual(seen.messages, ['q1!', 'q2!', 'q3!'])
})

test('two streams of one connection do not disturb each other', async (t) => {
  const options = await useEcho(t)
  const [a, b] = [open(options), open(options)]
  a.stream.send('a')
  b.stream.send('b')
  await until(() => a.seen.messages.length === 1 && b.seen.messages.length === 1)
  a.stream.drop()
  b.stream.send('c')
  b.stream.finish()
  await until(() => b.seen.ended === null)
  assert.deepEqual(b.seen.messages, ['b!', 'c!'])
  assert.equal(a.seen.ended, undefined)
})

test('a server that does not read slows the sender down, and nothing is lost', async (t) => {
  let call: Duplex | null = null
  const received: number[] = []
  const Talk = (duplex: Duplex): void => {
    call = duplex
    duplex.on('data', (text: string) => received.push(text.length)).pause()
    duplex.on('end', () => duplex.end())
  }
  let onDrained = (): void => {}
  const { stream, seen } = open(useGrpcClient(t, await useTextServer(t, { Talk })), () => onDrained())
  const large = 'x'.repeat(200_000)
  let sent = 0
  const sendMore = (): void => {
    while (sent < 100) {
      sent++
      if (!stream.send(large)) return
    }
  }
  onDrained = sendMore
  sendMore()
  await settled(() => sent)
  assert.ok(sent < 90, `${sent} messages of 200 KB were taken`)
  onDrained = () => {}
  ;(call as Duplex | null)?.resume()
  stream.finish()
  await until(() => seen.ended !== undefined)
  assert.equal(seen.ended, null)
  assert.deepEqual(
    received,
    Array.from({ length: sent }, () => large.length),
  )
})

test('a sender that is held slows the server down', async (t) => {
  let written = 0
  const Talk = (call: Duplex): void => {
    const large = 'x'.repeat(100_000)
    const more = (): void => {
      while (written < 400) {
        written++
        if (!call.write(large)) return void call.once('drain', more)
      }
      call.end()
    }
    call.once('data', more).resume()
  }
  const { stream, seen } = open(useGrpcClient(t, await useTextServer(t, { Talk })))
  stream.hold()
  stream.send('begin')
  // The server has written as much as windows and buffers take, and waits.
  await settled(() => written)
  assert.ok(written < 390, `${written} messages of 100 KB were written`)
  stream.proceed()
  await until(() => seen.ended === null)
  assert.equal(seen.messages.length, 400)
})

test('a server may end before the sender does', async (t) => {
  const Talk = (call: Duplex): void =>
    call.once('data', () => call.emit('error', { code: codes.PERMISSION_DENIED, details: 'enough' })) as never
  const { stream, seen } = open(useGrpcClient(t, await useTextServer(t, { Talk })))
  stream.send('x')
  await until(() => seen.ended !== undefined)
  assert.deepEqual([seen.ended?.code, seen.ended?.message], [7, 'enough'])
  assert.equal(stream.send('y'), true)
  stream.finish()
  stream.drop()
})

test('a dropped call is cancelled at the server; a failed call is reported to both sides', async (t) => {
  let cancelled = 0
  const Talk = (call: Duplex): void => {
    call.on('cancelled', () => cancelled++)
    call.write('hello')
    call.resume()
  }
  const options = useGrpcClient(t, await useTextServer(t, { Talk }))
  const [dropped, failed] = [open(options), open(options)]
  await until(() => dropped.seen.messages.length === 1 && failed.seen.messages.length === 1)
  dropped.stream.drop()
  failed.stream.fail(new GrpcError(CANCELLED, 'enough'))
  await until(() => cancelled === 2)
  assert.equal(dropped.seen.ended, undefined)
  assert.equal(failed.seen.ended?.message, 'enough')
})

test('a connection that is lost in the middle is an error', async (t) => {
  const port = await useHttp2Server(t, (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
    stream.once('data', () => stream.session?.destroy())
  })
  const { stream, seen } = open(useGrpcClient(t, port))
  stream.send('x')
  await until(() => seen.ended !== undefined)
  assert.equal(seen.ended?.code, 14)
})

/** Waits until the count has begun to grow and has stopped. */
async function settled(count: () => number): Promise<void> {
  let before = count()
  for (let quiet = 0; quiet < 10 || before === 0; quiet = count() === before ? quiet + 1 : 0) {
    before = count()
    await delay(30)
  }
}
