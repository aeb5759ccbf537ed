import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliCompressSync, createGzip, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import * as fc from 'fast-check'
import type { Sink, Source } from './body.ts'
import { sourceOf } from './body.ts'
import { decodedBody } from './decoded-body.ts'

const encoders: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
}

/** A body in pieces, which waits when it is blocked. */
function pieces(bytes: Buffer, size: number): Source & { cancelled: Error | null } {
  let at = 0
  let sink: Sink | null = null
  const body = {
    length: -1,
    cancelled: null as Error | null,
    pipe(next: Sink) {
      next.source = this
      sink = next
      this.resume()
    },
    resume() {
      const to = sink
      if (to === null) return
      while (at < bytes.length && this.cancelled === null) {
        to.write(bytes.subarray(at, (at += size)))
        if (!to.flush()) return
      }
      if (this.cancelled === null) to.end(null)
      sink = null
    },
    cancel(cause: Error) {
      this.cancelled = cause
    },
  }
  return body
}

function read(body: Source): Promise<Buffer> {
  const chunks: Buffer[] = []
  return new Promise((resolve, reject) => {
    body.pipe({
      source: null,
      write: (chunk) => chunks.push(chunk),
      flush: () => true,
      end: () => resolve(Buffer.concat(chunks)),
      abort: reject,
    })
  })
}

test('every encoding is undone, however the bytes are cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(encoders)),
      fc.uint8Array({ maxLength: 5000 }),
      fc.integer({ min: 1, max: 2000 }),
      async (name, array, size) => {
        const bytes = Buffer.from(array)
        const decoded = decodedBody(pieces(encoders[name]!(bytes), size), name)
        assert.ok((await read(decoded!)).equals(bytes))
      },
    ),
    { seed: 31, numRuns: 120 },
  )
})

test('several encodings are undone in turn, and none when one is unknown', async () => {
  const twice = brotliCompressSync(gzipSync('hello'))
  assert.equal(String(await read(decodedBody(sourceOf(twice), 'GZIP, identity , br')!)), 'hello')
  assert.equal(String(await read(decodedBody(sourceOf(Buffer.from('as is')), '')!)), 'as is')
  assert.equal(decodedBody(sourceOf(twice), 'gzip, snappy'), null)
  assert.equal(decodedBody(sourceOf(twice), 'gzip, gzip, gzip, gzip'), null)
})

test('a truncated or wrongly encoded body ends in an error', async () => {
  for (const [name, encode] of Object.entries(encoders)) {
    const bytes = encode(Buffer.from('x'.repeat(500) + Math.PI))
    await assert.rejects(read(decodedBody(sourceOf(bytes.subarray(0, -6)), name)!), /cannot be decoded/, name)
    await assert.rejects(read(decodedBody(sourceOf(Buffer.from('{"plain":1}')), name)!), /cannot be decoded/, name)
  }
})

test('received data is forwarded before more arrives', async () => {
  const packer = createGzip({ flush: 2 })
  const packed: Buffer[] = []
  packer.on('data', (chunk: Buffer) => packed.push(chunk))
  await new Promise<void>((resolve) => packer.write('data: one\n\n', () => resolve()))
  const first = await new Promise<string>((resolve) => {
    const body: Source = {
      length: -1,
      pipe(sink) {
        for (const chunk of packed) sink.write(chunk)
        sink.flush()
      },
      resume() {},
      cancel() {},
    }
    let heard = ''
    decodedBody(body, 'gzip')!.pipe({
      source: null,
      write: (chunk) => (heard += chunk.toString()),
      flush: () => (heard.endsWith('\n\n') && resolve(heard), true),
      end() {},
      abort() {},
    })
  })
  assert.equal(first, 'data: one\n\n')
})

test('no more is decompressed than is read: a reader that stops does not get a gigabyte', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
  const body = pieces(bomb, 1024)
  let size = 0
  await new Promise<void>((resolve) => {
    const decoded = decodedBody(body, 'gzip')!
    decoded.pipe({
      source: null,
      write: (chunk) => (size += chunk.length),
      flush() {
        if (size < 100_000) return true
        decoded.cancel(new Error('enough'))
        setImmediate(resolve)
        return false
      },
      end() {},
      abort() {},
    })
  })
  assert.ok(size < 1024 * 1024, String(size))
  assert.match(body.cancelled?.message ?? '', /enough/)
})

test('a reader that has given the body up hears nothing more of it', async () => {
  const heard: string[] = []
  const body = pieces(gzipSync('hello'), 4)
  const decoded = decodedBody(body, 'gzip')!
  let abort: (cause: Error) => void = () => {}
  const held: Source = { ...body, pipe: (sink) => (abort = (cause) => sink.abort(cause)) }
  const late = decodedBody(held, 'gzip')!
  for (const each of [decoded, late]) {
    each.pipe({
      source: null,
      write: () => heard.push('write'),
      flush: () => true,
      end: () => heard.push('end'),
      abort: () => heard.push('abort'),
    })
    each.cancel(new Error('enough'))
  }
  abort(new Error('the backend broke off'))
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(heard, [])
})

test('a body that breaks off breaks what is read of it, once', async () => {
  const heard: string[] = []
  let abort: (cause: Error) => void = () => {}
  const held: Source = {
    length: -1,
    pipe: (sink) => (abort = (cause) => sink.abort(cause)),
    resume: () => {},
    cancel: () => {},
  }
  decodedBody(held, 'gzip')!.pipe({
    source: null,
    write: () => heard.push('write'),
    flush: () => true,
    end: () => heard.push('end'),
    abort: ({ message }) => heard.push(message),
  })
  abort(new Error('cut'))
  abort(new Error('again'))
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(heard, ['cut'])
})
