import assert from 'node:assert/strict'
import { test } from 'node:test'
import { displayContent } from './content.ts'
import { estimatedTokens } from './tool-size.ts'

test('pictures are shown where they can be nothing else', () => {
  const image = (mimeType: unknown, data: unknown = 'iVBORw0KGgo=') => displayContent({ type: 'image', mimeType, data })
  assert.deepEqual(image('image/png'), {
    kind: 'image',
    source: 'data:image/png;base64,iVBORw0KGgo=',
    type: 'image/png',
  })
  for (const type of ['image/svg+xml', 'text/html', 'image/png;x', 'image/png,<svg>', '', null])
    assert.equal(image(type).kind, 'other', String(type))
  for (const data of ['" onload="x', 'a,b', 'javascript:1', '<svg>', 7])
    assert.equal(image('image/png', data).kind, 'other')
})

test('every item of a result can be shown', () => {
  assert.deepEqual(displayContent({ type: 'text', text: '<b>' }), { kind: 'text', text: '<b>' })
  assert.equal(displayContent({ type: 'resource_link', uri: 'javascript:1', name: 'x' }).kind, 'link')
  assert.equal(displayContent({ type: 'resource', resource: { uri: 'a:b', text: 'x' } }).kind, 'resource')
  assert.match(
    JSON.stringify(displayContent({ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' })),
    /audio\/wav, 3 bytes/,
  )
  for (const item of [null, undefined, 7, [], {}, { type: 'text' }, { type: 'resource' }, { type: { a: 1 } }])
    assert.equal(displayContent(item).kind, 'other', JSON.stringify(item))
})

test('the size of a tool is that of what a model reads of it', () => {
  assert.equal(estimatedTokens({ name: 'echo' }), Math.ceil('{"name":"echo"}'.length / 4))
  assert.ok(estimatedTokens({ name: 'a', description: 'x'.repeat(400), inputSchema: { type: 'object' } }) > 100)
})
