import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { HeaderBlock, type Sink, type Source } from '@portico/http'
import { UpstreamError } from '@portico/http/client'
import { bufferRequest, bufferResponse } from './buffered-body.ts'
import { Reply } from '../context/reply.ts'
import type { AnsweredRequest } from '../context/request-context.ts'

/** A body that gives batches of chunks, and waits where it is asked to. */
class Batches implements Source {
  readonly length: number
  cancelled = false
  given = 0
  readonly #batches: readonly (readonly Buffer[])[]
  readonly #end: (sink: Sink) => void
  #sink: Sink | null = null
  #blocked = false

  constructor(batches: readonly (readonly Buffer[])[], length: number, end = (sink: Sink) => sink.end(null)) {
    this.#batches = batches
    this.length = length
    this.#end = end
  }

  pipe(sink: Sink): void {
    sink.source = this
    this.#sink = sink
    queueMicrotask(() => this.#pump())
  }

  resume(): void {
    if (!this.#blocked) return
    this.#blocked = false
    queueMicrotask(() => this.#pump())
  }

  cancel(): void {
    this.cancelled = true
    this.#sink = null
  }

  #pump(): void {
    while (this.#sink !== null && !this.#blocked) {
      const batch = this.#batches[this.given++]
      if (batch === undefined) return this.#end(this.#sink)
      for (const chunk of batch) this.#sink.write(chunk)
      if (this.#sink !== null) this.#blocked = !this.#sink.flush()
    }
  }
}

interface ReceivedBody {
  bytes: Buffer
  trailers: HeaderBlock | null
  failure: Error | null
}

/** Reads a body slowly: it asks for a break after every batch. */
function receive(body: Source): Promise<ReceivedBody> {
  const chunks: Buffer[] = []
  return new Promise((resolve) => {
    const done = (trailers: HeaderBlock | null, failure: Error | null): void =>
      resolve({ bytes: Buffer.concat(chunks), trailers, failure })
    const sink: Sink = {
      source: null,
      write: (chunk) => void chunks.push(Buffer.from(chunk)),
      flush() {
        queueMicrotask(() => sink.source!.resume())
        return false
      },
      end: (trailers) => done(trailers, null),
      abort: (cause) => done(null, cause),
    }
    body.pipe(sink)
  })
}

function rxWith(parts: Partial<AnsweredRequest>): AnsweredRequest {
  const none = { bufferedBody: null, bufferedResponse: null, error: null, headers: new HeaderBlock() }
  return { ...none, ...parts } as AnsweredRequest
}

const batches = fc.array(
  fc.array(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    { maxLength: 5 },
  ),
  { maxLength: 6 },
)

test('whatever the pieces and the limit: what is kept is the start, what goes on is the whole', async () => {
  await fc.assert(
    fc.asyncProperty(batches, fc.nat(120), fc.boolean(), fc.boolean(), async (batches, limit, known, withTrailers) => {
      const whole = Buffer.concat(batches.flat())
      const trailers = withTrailers && !known ? HeaderBlock.of([['x-sum', '1']]) : null
      const body = new Batches(batches, known ? whole.length : -1, (sink) => sink.end(trailers))
      const rx = rxWith({ body })
      const result = await bufferRequest('prefix', limit)(rx)
      assert.equal(result, undefined)
      const { prefix, whole: kept } = rx.bufferedBody!
      assert.ok(prefix.equals(whole.subarray(0, limit)))
      if (whole.length <= limit) assert.ok(kept!.equals(whole))
      else assert.equal(kept, null)
      if (rx.body.length !== -1) assert.equal(rx.body.length, whole.length)
      const received = await receive(rx.body)
      assert.ok(received.bytes.equals(whole))
      assert.equal(received.trailers, trailers)
      assert.equal(received.failure, null)
    }),
    { seed: 7, numRuns: 1000 },
  )
})

test('the whole is given out exactly when it fits, and refused with 413 or 502 when it does not', async () => {
  await fc.assert(
    fc.asyncProperty(batches, fc.nat(120), fc.boolean(), async (batches, limit, known) => {
      const whole = Buffer.concat(batches.flat())
      const body = () => new Batches(batches, known ? whole.length : -1)
      const rx = rxWith({ body: body(), responseBody: body() })
      const request = await bufferRequest('whole', limit)(rx)
      const response = await bufferResponse('whole', limit)(rx)
      if (whole.length <= limit) {
        assert.deepEqual([request, response], [undefined, undefined])
        assert.ok(rx.bufferedBody!.whole!.equals(whole))
        assert.ok(rx.bufferedResponse!.whole!.equals(whole))
      } else {
        assert.ok(request instanceof Reply && response instanceof Reply)
        assert.deepEqual([request.status, response.status], [413, 502])
      }
    }),
    { seed: 8, numRuns: 500 },
  )
})

test('nothing is read of a body that is known to be too large', async () => {
  const body = new Batches([[Buffer.alloc(200)]], 200)
  const result = await bufferRequest('whole', 100)(rxWith({ body }))
  assert.ok(result instanceof Reply)
  assert.equal(body.given, 0)
})

test('no more is read than the batch that goes beyond the limit', async () => {
  const body = new Batches(
    Array.from({ length: 50 }, () => [Buffer.alloc(30)]),
    -1,
  )
  const rx = rxWith({ body })
  await bufferRequest('prefix', 100)(rx)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(body.given, 4)
  rx.body.cancel(new Error('not needed'))
  assert.ok(body.cancelled)
})

test('a body is read once: who comes later finds what is there', async () => {
  const rx = rxWith({ body: new Batches([[Buffer.alloc(200)]], -1) })
  await bufferRequest('prefix', 100)(rx)
  const { body } = rx
  assert.equal(await bufferRequest('prefix', 100)(rx), undefined)
  const refused = await bufferRequest('whole', 100)(rx)
  assert.ok(refused instanceof Reply && refused.status === 413)
  assert.equal(rx.body, body)
})

test('no body takes no time', () => {
  const rx = rxWith({ body: new Batches([], 0) })
  assert.equal(bufferRequest('whole', 100)(rx), undefined)
  assert.equal(rx.bufferedBody!.whole!.length, 0)
})

test('a response that breaks off is refused with what broke it', async () => {
  const broken: [cause: Error, status: number][] = [
    [new UpstreamError('connection_lost', 'gone', false), 503],
    [new UpstreamError('bad_response', 'nonsense', false), 502],
    [new Error('lost'), 503],
  ]
  for (const [cause, status] of broken) {
    for (const use of ['whole', 'prefix'] as const) {
      const responseBody = new Batches([[Buffer.from('first')]], -1, (sink) => sink.abort(cause))
      const rx = rxWith({ responseBody })
      const result = await bufferResponse(use, 100)(rx)
      assert.ok(result instanceof Reply)
      assert.equal(result.status, status)
      assert.match(rx.error!, new RegExp(cause.message))
    }
  }
})

test('a client that leaves while its body is read lets no step run, and is no error of its own', async () => {
  for (const use of ['whole', 'prefix'] as const) {
    const body = new Batches([[Buffer.from('first')]], -1, (sink) => sink.abort(new Error('gone')))
    const rx = rxWith({ body })
    assert.ok((await bufferRequest(use, 100)(rx)) instanceof Reply)
    assert.equal(rx.error, null)
  }
})

test('a body that breaks off behind its kept start breaks off for its reader too', async () => {
  const cause = new Error('gone')
  const body = new Batches([[Buffer.alloc(60)], [Buffer.alloc(60)], [Buffer.alloc(60)]], -1, (sink) =>
    sink.abort(cause),
  )
  const rx = rxWith({ body })
  await bufferRequest('prefix', 100)(rx)
  const { bytes, failure } = await receive(rx.body)
  assert.equal(bytes.length, 180)
  assert.equal(failure, cause)
})

test('a body that was buffered whole can be sent twice', async () => {
  const rx = rxWith({ body: new Batches([[Buffer.from('he')], [Buffer.from('llo')]], -1) })
  await bufferRequest('whole', 100)(rx)
  const attempts = [await receive(rx.body), await receive(rx.body)]
  assert.deepEqual(
    attempts.map(({ bytes }) => bytes.toString()),
    ['hello', 'hello'],
  )
})
