import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { UnsupportedField } from '@portico/chat'
import type { Sink, Source } from '@portico/http'
import { MultipartReader } from '@portico/http/multipart'
import { FormBody } from './form-body.ts'
import { SentForm } from './sent-form.ts'
import { formOf } from './test-form-scene.ts'

/** A body that delivers its chunks one at a time, each in a buffer that is overwritten afterwards. */
class ChunkedSource implements Source {
  readonly length: number
  #chunks: readonly Buffer[]
  #sink: Sink | null = null
  #isBusy = false
  isCancelled = false

  constructor(chunks: readonly Buffer[], length: number) {
    this.#chunks = chunks
    this.length = length
  }

  pipe(sink: Sink): void {
    sink.source = this
    this.#sink = sink
    this.resume()
  }

  resume(): void {
    if (this.#isBusy) return
    this.#isBusy = true
    for (let goesOn = true; goesOn && this.#sink !== null;) {
      const [chunk, ...rest] = this.#chunks
      if (chunk === undefined) {
        const sink = this.#sink
        this.#sink = null
        sink.end(null)
        break
      }
      this.#chunks = rest
      const view = Buffer.from(chunk)
      this.#sink.write(view)
      goesOn = this.#sink?.flush() ?? false
      view.fill(0)
    }
    this.#isBusy = false
  }

  cancel(): void {
    this.isCancelled = true
    this.#sink = null
  }
}

function collected(source: Source): { bytes: Buffer; isEnded: boolean; isAborted: boolean } {
  const found = { bytes: Buffer.alloc(0), isEnded: false, isAborted: false }
  source.pipe({
    source: null,
    write: (chunk) => (found.bytes = Buffer.concat([found.bytes, chunk])),
    flush: () => true,
    end: () => (found.isEnded = true),
    abort: () => (found.isAborted = true),
  })
  return found
}

function partsOf(bytes: Buffer, contentType: string): [string, string][] {
  const parts: [string, string][] = []
  const reader = new MultipartReader(contentType.slice(contentType.indexOf('=') + 1), {
    partBegan: ({ name }) => void parts.push([name, '']),
    partData(chunk) {
      const last = parts.at(-1)
      if (last !== undefined) last[1] += chunk.toString('latin1')
    },
    partEnded() {},
  })
  reader.push(bytes)
  assert.equal(reader.end(), null)
  return parts
}

function cut(whole: Buffer, positions: readonly number[]): Buffer[] {
  const cuts = [0, ...positions.map((at) => at % whole.length).toSorted((one, other) => one - other), whole.length]
  return cuts.slice(1).map((end, index) => whole.subarray(cuts[index], end))
}

const field = fc.constantFrom('prompt', 'language', 'response_format', 'include[]', 'odd')
const parts = fc
  .uniqueArray(
    fc.tuple(
      field,
      fc.string({ maxLength: 20 }).map((text) => text.toWellFormed()),
    ),
    {
      selector: ([name]) => name,
    },
  )
  .chain((fields) => {
    const file = fc.integer({ min: 0, max: 150_000 }).map((size) => ['file', Buffer.alloc(size, 'x\r\n-')] as const)
    return fc.tuple(file, fc.nat(fields.length), fc.nat(fields.length + 1)).map(([one, at, modelAt]) => {
      const all: (readonly [string, string | Buffer])[] = fields.toSpliced(at, 0, one as never)
      return all.toSpliced(modelAt, 0, ['model', 'm'])
    })
  })
const edits = fc.dictionary(fc.constantFrom('model', 'prompt', 'language', 'more'), fc.string({ maxLength: 9 }), {
  maxKeys: 3,
  noNullPrototype: true,
})
const boundary = fc.constantFrom('b', '----formdata-undici-062047390126', 'x'.repeat(70))

test('any form arrives with its parts, edited or not, however it is cut, and has the announced length', () => {
  fc.assert(
    fc.property(parts, edits, boundary, fc.array(fc.nat()), fc.boolean(), (sent, changes, given, cuts, isKnown) => {
      const whole = formOf(sent, given)
      const source = new ChunkedSource(cut(whole, cuts), isKnown ? whole.length : -1)
      const form = new FormBody(source, { boundary: given, files: new Set(['file']), limit: 1_000_000 })
      let body: SentForm | null = null
      let found: ReturnType<typeof collected> | null = null
      form.hold({ fields: ['model'], isWhole: false }, (problem) => {
        assert.equal(problem, null)
        const created = SentForm.create(
          form,
          () => new Map(Object.entries(changes)),
          (length) => 'n'.repeat(length),
        )
        body = created instanceof UnsupportedField ? assert.fail(created.message) : created
        found = collected(created as SentForm)
      })
      assert.ok(body !== null && found !== null)
      const { bytes, isEnded } = found as ReturnType<typeof collected>
      const { length, contentType } = body as SentForm
      assert.equal(isEnded, true)
      if (length !== -1) assert.equal(bytes.length, length)
      else assert.equal(isKnown && given.length > 24 && Object.keys(changes).length === 0, false)
      const names = sent.map(([name]) => name)
      const missing = Object.keys(changes).filter((name) => !names.includes(name))
      assert.deepEqual(partsOf(bytes, contentType), [
        ...sent.map(([name, content]) => [name, Buffer.from(changes[name] ?? content).toString('latin1')]),
        ...missing.map((name) => [name, Buffer.from(changes[name] ?? '').toString('latin1')]),
      ])
    }),
  )
})

test('a whole form is sent again, and one that has begun to flow is not', () => {
  for (const [size, isRepeatable] of [
    [10, true],
    [200_000, false],
  ] as const) {
    const whole = formOf([
      ['model', 'm'],
      ['file', Buffer.alloc(size)],
    ])
    const source = new ChunkedSource(cut(whole, [100, 100_000]), whole.length)
    const form = new FormBody(source, {
      boundary: '----formdata-undici-062047390126',
      files: new Set(['file']),
      limit: 1e6,
    })
    form.hold({ fields: ['model'], isWhole: false }, () => {})
    const send = () => {
      const body = SentForm.create(
        form,
        () => new Map(),
        (length) => 'n'.repeat(length),
      )
      return body instanceof UnsupportedField ? assert.fail(body.message) : body
    }
    const first = send()
    assert.equal(collected(first).isEnded, true)
    assert.equal(form.isRepeatable, isRepeatable)
    first.cancel(new Error('the provider died'))
    if (isRepeatable) assert.equal(collected(send()).bytes.length, whole.length)
  }
})

test('a form that ends early aborts the request, and reading stops', () => {
  const whole = formOf([
    ['model', 'm'],
    ['file', Buffer.alloc(200_000)],
  ])
  const source = new ChunkedSource(cut(whole.subarray(0, -9), [100, 100_000]), whole.length)
  const form = new FormBody(source, {
    boundary: '----formdata-undici-062047390126',
    files: new Set(['file']),
    limit: 1e6,
  })
  const refused: string[] = []
  form.refused = ({ message }) => refused.push(message)
  form.hold({ fields: ['model'], isWhole: false }, () => {})
  const body = SentForm.create(
    form,
    () => new Map(),
    (length) => 'n'.repeat(length),
  )
  const found = collected(body as SentForm)
  assert.deepEqual([found.isEnded, found.isAborted, source.isCancelled], [false, true, true])
  assert.deepEqual(refused, ['is a form that cannot be read: the form ends before its last boundary'])
})

test('a value that no form can have is refused', () => {
  const source = new ChunkedSource([formOf([['model', 'm']])], -1)
  const form = new FormBody(source, { boundary: '----formdata-undici-062047390126', files: new Set(), limit: 1e6 })
  form.hold({ fields: ['model'], isWhole: false }, () => {})
  for (const value of [{ a: 1 }, [['x']]]) {
    const body = SentForm.create(
      form,
      () => new Map([['model', value]]),
      (length) => 'n'.repeat(length),
    )
    assert.ok(body instanceof UnsupportedField)
    assert.equal(body.field, 'model')
  }
})
