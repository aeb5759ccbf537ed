import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { FormField, OpenApiBody } from '../../../formats/openapi/operation.ts'
import type { Json } from '@portico/http/json'
import { encodeBody } from './encode-body.ts'
import { BadArgument } from './parameter-text.ts'
import { anyCharacter } from '../../../../../http/src/testing/any-character.ts'

const PLAIN: FormField = { style: null, explode: false, mediaType: null, isFile: false }

function form(as: 'form' | 'multipart', fields: Record<string, Partial<FormField>> = {}): OpenApiBody {
  const mediaType = as === 'form' ? 'application/x-www-form-urlencoded' : 'multipart/form-data'
  const all = Object.entries(fields).map(([name, field]) => [name, { ...PLAIN, ...field }] as const)
  return { mediaType, as, required: true, fields: Object.fromEntries(all) }
}

function encoded(body: OpenApiBody, value: Json): { contentType: string; bytes: Buffer } {
  const result = encodeBody(body, value)
  assert.ok(!(result instanceof BadArgument), result instanceof BadArgument ? result.message : '')
  return result
}

/** As the runtime's own reader of forms takes it. */
async function readForm(body: OpenApiBody, value: Json): Promise<[string, string | File][]> {
  const { contentType, bytes } = encoded(body, value)
  const headers = { 'content-type': contentType }
  return [...(await new Response(Uint8Array.from(bytes), { headers }).formData()).entries()]
}

describe('forms', () => {
  const value = { name: 'Rex & Co', tags: ['a', 'b,c'], owner: { id: 1 }, age: 3, none: null }

  it('are written as web pages write them', async () => {
    const expected = [
      ['name', 'Rex & Co'],
      ['tags', 'a'],
      ['tags', 'b,c'],
      ['owner', '{"id":1}'],
      ['age', '3'],
    ]
    for (const as of ['form', 'multipart'] as const) assert.deepEqual(await readForm(form(as), value), expected)
  })

  it('have fields in the style of the document', () => {
    const fields = {
      tags: { style: 'pipeDelimited' as const },
      owner: { style: 'deepObject' as const, explode: true },
    }
    assert.equal(
      encoded(form('form', fields), value).bytes.toString(),
      'name=Rex%20%26%20Co&tags=a%7Cb%2Cc&owner%5Bid%5D=1&age=3',
    )
  })

  it('carry files as bytes, and JSON as such', async () => {
    const body = form('multipart', { photo: { isFile: true, mediaType: 'image/png' }, more: { isFile: true } })
    const bytes = Buffer.from([0, 13, 10, 255])
    const entries = await readForm(body, { photo: bytes.toString('base64'), more: ['YQ==', 'Yg=='], owner: { id: 1 } })
    const files = entries.filter((entry): entry is [string, File] => typeof entry[1] !== 'string')
    assert.deepEqual(
      files.map(([name, file]) => [name, file.name, file.type]),
      [
        ['photo', 'photo', 'image/png'],
        ['more', 'more', 'application/octet-stream'],
        ['more', 'more', 'application/octet-stream'],
      ],
    )
    assert.deepEqual(Buffer.from(await files[0]![1].arrayBuffer()), bytes)
    const text = encoded(body, { owner: { id: 1 } }).bytes.toString()
    assert.match(text, /name="owner"\r\nContent-Type: application\/json\r\n\r\n\{"id":1\}\r\n--/)
  })

  it('refuse what is no form, and files that are no base64', () => {
    for (const as of ['form', 'multipart'] as const) {
      for (const bad of ['a', 1, [], true]) assert.ok(encodeBody(form(as), bad) instanceof BadArgument)
    }
    const refused = encodeBody(form('multipart', { photo: { isFile: true } }), { photo: 'not base64!' })
    assert.match(refused instanceof BadArgument ? refused.message : '', /`photo` in `body` is a file/)
  })

  it('mean what was given, whatever that is', async () => {
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom('\r\n', '"', '--', 'a"; filename="b', '&', '=', '+'),
    )
    const fields = fc.uniqueArray(fc.tuple(text, text), { maxLength: 4, selector: ([name]) => name })
    await fc.assert(
      fc.asyncProperty(fields, async (entries) => {
        const object = Object.fromEntries(entries)
        const { bytes } = encoded(form('form'), object)
        assert.deepEqual([...new URLSearchParams(bytes.toString())], Object.entries(object).map(wellFormed))
        // A reader of forms takes any line break for one of the two kinds.
        const simple = Object.fromEntries(entries.filter(([name]) => !/[\r\n"]|^$/.test(name)))
        const read = await readForm(form('multipart'), simple)
        assert.deepEqual(read, Object.entries(simple).map(wellFormed))
      }),
      { numRuns: 300 },
    )
  })
})

function wellFormed([name, value]: [string, string]): [string, string] {
  return [name.toWellFormed(), value.toWellFormed()]
}

describe('bodies', () => {
  const body = (as: OpenApiBody['as'], mediaType: string): OpenApiBody => ({
    as,
    mediaType,
    required: true,
    fields: {},
  })

  it('are sent unchanged as text and bytes', () => {
    const csv = encoded(body('text', 'text/csv'), 'a,é')
    assert.deepEqual([csv.contentType, csv.bytes.toString()], ['text/csv; charset=utf-8', 'a,é'])
    assert.ok(encodeBody(body('text', 'text/csv'), { a: 1 }) instanceof BadArgument)
    assert.deepEqual(encoded(body('base64', 'image/png'), 'AP8='), {
      contentType: 'image/png',
      bytes: Buffer.from([0, 255]),
    })
  })
})
