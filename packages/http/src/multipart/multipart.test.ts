import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { readBoundary } from './boundary.ts'
import { MultipartReader } from './multipart-reader.ts'
import type { PartHead } from './part-head.ts'

interface ReadPart {
  head: PartHead
  content: string
  isWhole: boolean
}

/** Reads a form in these chunks, each in a buffer that is overwritten afterwards. */
function read(chunks: readonly Buffer[], boundary = 'b') {
  const parts: ReadPart[] = []
  const reader = new MultipartReader(boundary, {
    partBegan: (head) => parts.push({ head, content: '', isWhole: false }),
    partData(chunk) {
      const part = parts.at(-1) ?? assert.fail('content without a part')
      part.content += chunk.toString('latin1')
    },
    partEnded() {
      const part = parts.at(-1) ?? assert.fail('the end of no part')
      part.isWhole = true
    },
  })
  for (const chunk of chunks) {
    const view = Buffer.from(chunk)
    reader.push(view)
    view.fill(0x2d)
  }
  return { parts, problem: reader.end(), reader }
}

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
const field = (name: string, value: string): string => `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`
const form = (...parts: string[]): string => `${parts.map((part) => `--b\r\n${part}\r\n`).join('')}--b--\r\n`
const contents = (text: string): string[] | string => {
  const { parts, problem } = read([bytes(text)])
  return problem ?? parts.map(({ head, content }) => `${head.name}=${content}`)
}

/** The chunks of bytes that are cut at these positions. */
function cut(whole: Buffer, positions: readonly number[]): Buffer[] {
  const cuts = [0, ...positions.toSorted((one, other) => one - other), whole.length]
  return cuts.slice(1).map((end, index) => whole.subarray(cuts[index], end))
}

const upload = bytes(
  form(
    field('model', 'whisper-1'),
    'Content-Disposition: form-data; name="file"; filename="a.mp3"\r\nContent-Type: audio/mpeg\r\n\r\n\r\n--\r\n--a\r\n\r',
    field('empty', ''),
  ),
)

test('a form has the same parts wherever it is cut in two', () => {
  const whole = read([upload])
  assert.deepEqual(
    whole.parts.map(({ head, content }) => [head.name, head.isFile, head.contentType, content]),
    [
      ['model', false, null, 'whisper-1'],
      ['file', true, 'audio/mpeg', '\r\n--\r\n--a\r\n\r'],
      ['empty', false, null, ''],
    ],
  )
  for (let at = 0; at <= upload.length; at++) {
    const { parts, problem } = read([upload.subarray(0, at), upload.subarray(at)])
    assert.deepEqual([parts, problem], [whole.parts, null], `cut at ${at}`)
  }
  assert.deepEqual(read([...upload].map((byte) => Buffer.of(byte))).parts, whole.parts)
})

test('a form that ends early is refused wherever it ends, and never has a whole last part', () => {
  const end = upload.lastIndexOf('--b--') + '--b--'.length
  for (let at = 0; at < upload.length; at++) {
    const { parts, problem } = read([upload.subarray(0, at)])
    // Without the line break after it, the last boundary is the end.
    if (at === end) assert.deepEqual([problem, parts.length], [null, 3])
    else assert.equal(problem, 'the form ends before its last boundary', `ended at ${at}`)
    if (at < end - '\r\n--b--'.length) assert.equal(parts.filter(({ isWhole }) => isWhole).length < 3, true)
  }
})

describe('forms that other parsers could read in another way are refused', () => {
  const head = (text: string): string => form(`${text}\r\n\r\nx`)
  const cases: readonly (readonly [string, string, string])[] = [
    [
      'text before the first boundary',
      `hello\r\n${form(field('a', '1'))}`,
      'the form does not begin with its boundary',
    ],
    ['text after the last boundary', `${form(field('a', '1'))}bye`, 'the form goes on after its last boundary'],
    ['a second line break at the end', `${form(field('a', '1'))}\r\n`, 'the form goes on after its last boundary'],
    ['a second form', form(field('a', '1')) + form(field('a', '2')), 'the form goes on after its last boundary'],
    ['a boundary that goes on', form(field('a', '1\r\n--bc')), 'a boundary of the form goes on in its line'],
    ['a boundary with blanks', form(field('a', '1\r\n--b \r\n')), 'a boundary of the form goes on in its line'],
    ['a boundary with a bare line feed', '--b\nx', 'a boundary of the form goes on in its line'],
    ['no header', '--b\r\n\r\nx\r\n--b--', 'a part has no header'],
    ['a folded line', head('Content-Disposition: form-data;\r\n name="a"'), 'a part has a folded header line'],
    ['a line without a colon', head('Content-Disposition form-data'), 'a part has a malformed header line'],
    ['a blank before the colon', head('Content-Disposition : form-data; name=a'), 'a part has a malformed header line'],
    ['a bare line feed', head('Content-Disposition: form-data; name=a\nx: y'), 'a part has a malformed header line'],
    ['a zero byte', head('Content-Disposition: form-data; name="a\0"'), 'a part has a malformed header line'],
    [
      'bytes that are not UTF-8',
      head('Content-Disposition: form-data; name=a; filename="\xff"'),
      'a part has a header that is not UTF-8',
    ],
    [
      'a header twice',
      head('Content-Disposition: form-data; name=a\r\nContent-disposition: form-data; name=b'),
      'a part has the header content-disposition twice',
    ],
    ['no disposition', head('Content-Type: text/plain'), 'a part has no content-disposition'],
    [
      'another disposition',
      head('Content-Disposition: attachment; name=a'),
      'a part has a content-disposition other than form-data',
    ],
    [
      'a name twice',
      head('Content-Disposition: form-data; name=a; NAME=b'),
      'a part has a content-disposition that has the parameter name twice',
    ],
    ['no name', head('Content-Disposition: form-data; filename=a'), 'a part has no name'],
    [
      'an empty name',
      head('Content-Disposition: form-data; name=""'),
      'a part has a name with characters that are not allowed',
    ],
    [
      'an escaped name',
      head('Content-Disposition: form-data; name="mo\\del"'),
      'a part has a name with characters that are not allowed',
    ],
    [
      'a name in percent signs',
      head('Content-Disposition: form-data; name="%6dodel"'),
      'a part has a name with characters that are not allowed',
    ],
    [
      'an extended name',
      head("Content-Disposition: form-data; name=a; name*=utf-8''b"),
      'a part has a content-disposition with an unknown parameter',
    ],
    [
      'a name in pieces',
      head('Content-Disposition: form-data; name*0=mo; name*1=del'),
      'a part has a content-disposition with an unknown parameter',
    ],
    [
      'an escaped quote',
      head('Content-Disposition: form-data; filename="a\\"; name="model"'),
      'a part has a content-disposition that has a backslash before a quote in filename',
    ],
    [
      'an escaped quote in a text',
      head('Content-Disposition: form-data; name="a"; filename="b\\"c"'),
      'a part has a content-disposition that has a malformed parameter',
    ],
    [
      'a form in a part',
      head('Content-Disposition: form-data; name=a\r\nContent-Type: multipart/mixed; boundary=c'),
      'the part a is multipart itself',
    ],
    [
      'an encoding',
      head('Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64'),
      'the part a has a transfer encoding',
    ],
    [
      'a length that is too small',
      head('Content-Disposition: form-data; name=a\r\nContent-Length: 0'),
      'a part is longer than its length',
    ],
    [
      'a length that is too large',
      head('Content-Disposition: form-data; name=a\r\nContent-Length: 2'),
      'a part is shorter than its length',
    ],
    [
      'a length that is no number',
      head('Content-Disposition: form-data; name=a\r\nContent-Length: 1x'),
      'the part a has an invalid length',
    ],
    [
      'a large header',
      head(`Content-Disposition: form-data; name=a; filename="${'x'.repeat(5_000)}"`),
      'a part has a header larger than 4096 bytes',
    ],
    ['a header without an end', `--b\r\n${'x'.repeat(5_000)}`, 'a part has a header larger than 4096 bytes'],
    ['many parts', form(...Array.from({ length: 257 }, () => field('a', ''))), 'the form has more than 256 parts'],
  ]
  for (const [what, text, problem] of cases) {
    test(what, () => {
      assert.equal(contents(text), problem)
      assert.equal(read([...bytes(text)].map((byte) => Buffer.of(byte))).problem, problem)
    })
  }
})

test('usual forms of several clients are read', () => {
  assert.deepEqual(contents('--b--'), [])
  assert.deepEqual(contents(`\r\n${form(field('a', '1'))}`), ['a=1'])
  assert.deepEqual(contents(form('content-disposition:form-data;name=a ; filename=x\r\nX-Other: 1\r\n\r\n2')), ['a=2'])
  const header =
    'Content-Disposition: form-data; name="a"; filename="h\xc3\xa9 C:\\x;y.mp3"; filename*=utf-8\'\'h%C3%A9'
  assert.deepEqual(contents(form(`${header}\r\nContent-Length: 1\r\nContent-Transfer-Encoding: binary\r\n\r\n3`)), [
    'a=3',
  ])
  assert.deepEqual(contents(form(field('image[]', '1'), field('image[]', '2'))), ['image[]=1', 'image[]=2'])
})

test('the boundary is that of the content type', () => {
  assert.deepEqual(readBoundary('multipart/form-data; boundary=----WebKitFormBoundaryABC'), {
    boundary: '----WebKitFormBoundaryABC',
  })
  assert.deepEqual(readBoundary('Multipart/Form-Data; charset=UTF-8;boundary="a b:c"'), { boundary: 'a b:c' })
  const problems: readonly (readonly [string | null, string])[] = [
    [null, 'must be multipart/form-data'],
    ['application/json', 'must be multipart/form-data'],
    ['multipart/form-datax; boundary=b', 'must be multipart/form-data'],
    ['multipart/mixed; boundary=b', 'must be multipart/form-data'],
    ['multipart/form-data', 'has a content type without a boundary'],
    ['multipart/form-data; boundary=', 'has a content type that has a malformed parameter'],
    ['multipart/form-data; boundary=a; boundary=b', 'has a content type that has the parameter boundary twice'],
    [
      'multipart/form-data; boundary=a, multipart/form-data; boundary=b',
      'has a content type that has a malformed parameter',
    ],
    ['multipart/form-data; boundary="a "', 'has a content type with an invalid boundary'],
    [`multipart/form-data; boundary=${'a'.repeat(71)}`, 'has a content type with an invalid boundary'],
    ['multipart/form-data; boundary=a; charset=utf-16', 'must be UTF-8'],
    ['multipart/form-data; boundary=a; x=y', 'has a content type with an unknown parameter'],
  ]
  for (const [type, problem] of problems) assert.deepEqual(readBoundary(type), { problem }, String(type))
})

const name = fc.stringMatching(/^[\w.[\]-]{1,8}$/)
/** Contents that are full of what looks like a boundary. */
const content = fc
  .array(fc.constantFrom('\r', '\n', '-', '--', '--b', 'b', '\r\n', '\r\n--', 'x', '\0', '\xff'), { maxLength: 30 })
  .map((pieces) => pieces.join('').replaceAll('\r\n--b', ''))
  .filter((text) => !text.includes('\r\n--b'))

test('any contents are read as they are, wherever the form is cut', () => {
  const part = fc.record({ name, content }, { noNullPrototype: true })
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), fc.array(fc.nat(400)), (parts, cuts) => {
      const whole = bytes(form(...parts.map((each) => field(each.name, each.content))))
      const found = read(
        cut(
          whole,
          cuts.map((at) => Math.min(at, whole.length)),
        ),
      )
      assert.equal(found.problem, null)
      assert.deepEqual(
        found.parts.map(({ head, content: text }) => ({ name: head.name, content: text })),
        parts,
      )
    }),
  )
})

/** Forms with pieces cut out, repeated or replaced. */
const nasty = [
  '\r',
  '\n',
  '\r\n',
  '--b',
  '--b--',
  '\r\n--b\r\n',
  '"',
  '\\',
  ';',
  ' name=x',
  ':',
  '\0',
  '\xff',
  ' ',
  '\t',
  'filename=',
]
const mutation = fc.tuple(fc.nat(upload.length), fc.nat(8), fc.constantFrom('', ...nasty))
const mutated = fc.array(mutation, { minLength: 1, maxLength: 4 }).map((changes) => {
  let text = upload.toString('latin1')
  for (const [at, length, insert] of changes) text = text.slice(0, at) + insert + text.slice(at + length)
  return bytes(text)
})

test('mutated forms are read or refused in the same way wherever they are cut', () => {
  fc.assert(
    fc.property(mutated, fc.array(fc.nat(400)), (whole, cuts) => {
      const once = read([whole])
      const pieces = read(
        cut(
          whole,
          cuts.map((at) => Math.min(at, whole.length)),
        ),
      )
      assert.equal(pieces.problem, once.problem)
      if (once.problem === null) assert.deepEqual(pieces.parts, once.parts)
    }),
    { numRuns: 2_000 },
  )
})

test('a mutated form that is taken has the parts that the parser of the runtime reads', async () => {
  const isTaken = async (whole: Buffer): Promise<boolean> => {
    const { parts, problem } = read([whole])
    if (problem !== null) return false
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const other: [string, string][] = []
    const form = await new Response(new Uint8Array(whole), { headers }).formData().catch(() => null)
    // A form that the other parser refuses is not read in two ways.
    if (form === null) return false
    for (const [key, value] of form) {
      const text = typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer()).toString('latin1')
      other.push([key, text])
    }
    const own = parts.map((part): [string, string] => [part.head.name, part.head.isFile ? part.content : decoded(part)])
    assert.deepEqual(own, other)
    return true
  }
  assert.equal(await isTaken(upload), true)
  await fc.assert(
    fc.asyncProperty(mutated, async (whole) => void (await isTaken(whole))),
    { numRuns: 3_000 },
  )
})

/** The text of a field as the standard of browsers decodes it. */
function decoded({ content: text }: ReadPart): string {
  return new TextDecoder().decode(bytes(text))
}
