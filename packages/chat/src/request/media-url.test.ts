import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { knownMediaType, mediaSourceOf, mediaUrlOf } from './media-url.ts'

test('a data URL holds the bytes', () => {
  assert.deepEqual(mediaSourceOf('data:image/png;base64,aGk='), { kind: 'data', mediaType: 'image/png', data: 'aGk=' })
  assert.deepEqual(mediaSourceOf('DATA:Image/PNG;name=a;Base64,aGk='), {
    kind: 'data',
    mediaType: 'image/png',
    data: 'aGk=',
  })
})

test('media types have the names that providers know', () => {
  for (const type of ['image/jpg', 'IMAGE/JPG', 'image/pjpeg', 'image/jpeg']) {
    assert.deepEqual(mediaSourceOf(`data:${type};base64,aGk=`), { kind: 'data', mediaType: 'image/jpeg', data: 'aGk=' })
  }
  assert.equal(knownMediaType(' Image/X-PNG ; q=1'), 'image/png')
})

test('a data URL may be text with escapes', () => {
  assert.deepEqual(mediaSourceOf('data:,a%20b'), { kind: 'data', mediaType: 'text/plain', data: 'YSBi' })
})

test('anything else is an address', () => {
  for (const url of ['https://example.com/a,b.png', 'data:image/png', 'data:,%zz', 'gs://bucket/x']) {
    assert.deepEqual(mediaSourceOf(url), { kind: 'url', url })
  }
})

test('a data URL survives a round trip', () => {
  fc.assert(
    fc.property(fc.base64String(), fc.constantFrom('image/png', 'application/pdf'), (data, mediaType) => {
      const source = { kind: 'data', mediaType, data } as const
      assert.deepEqual(mediaSourceOf(mediaUrlOf(source)), source)
    }),
  )
  fc.assert(fc.property(fc.string(), (url) => void mediaSourceOf(url)))
})
