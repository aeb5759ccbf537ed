import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findEntries, type PaletteEntry } from './palette-entries.ts'

const entry = (kind: string, name: string): PaletteEntry => ({
  kind,
  name,
  isMono: true,
  action: { kind: 'page', to: '/' },
})
const entries = [
  entry('page', 'Requests'),
  entry('route', 'old-chat'),
  entry('route', 'chat'),
  entry('backend', 'chat'),
]
const names = (text: string): string[] => findEntries(entries, text).map(({ kind, name }) => `${kind} ${name}`)

test('every word counts, and the beginning of a name counts most', () => {
  assert.deepEqual(names('CHAT'), ['route chat', 'backend chat', 'route old-chat'])
  assert.deepEqual(names('chat backend'), ['backend chat'])
  assert.deepEqual(names('nothing'), [])
  assert.equal(names('').length, entries.length)
  const model: PaletteEntry = { ...entry('model', 'fast'), where: 'support' }
  assert.deepEqual(findEntries([...entries, model], 'fast support'), [model])
})

test('an id of a request is found without a list', () => {
  assert.deepEqual(names(' 0123456789abcde '), ['request 0123456789abcde'])
})
