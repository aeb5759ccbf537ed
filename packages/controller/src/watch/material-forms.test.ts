import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contentsOf, partOf, versionOf } from './material-forms.ts'

const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'keys',
    namespace: 'shop',
    labels: { team: 'a' },
    uid: 'u1',
    resourceVersion: '7',
    annotations: { applied: 'data: c2VjcmV0' },
    managedFields: [],
  },
  data: { key: 'c2VjcmV0' },
}
const KEPT = { name: 'keys', namespace: 'shop', labels: { team: 'a' }, uid: 'u1', resourceVersion: '7' }

test('an object that nothing refers to is kept without its contents and annotations', () => {
  const part = partOf(SECRET)
  assert.deepEqual(part, { apiVersion: 'v1', kind: 'Secret', metadata: KEPT, isPartial: true })
  assert.doesNotMatch(JSON.stringify(part), /c2VjcmV0/)
})

test('an object that is referred to is kept with its contents', () => {
  const contents = contentsOf(SECRET)
  assert.deepEqual(contents, { apiVersion: 'v1', kind: 'Secret', metadata: KEPT, data: SECRET.data })
})

test('members that an object lacks are not added', () => {
  const bare = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bare' } }
  assert.deepEqual(Object.keys(partOf(bare).metadata), ['name'])
  assert.deepEqual(Object.keys(contentsOf(bare)), ['apiVersion', 'kind', 'metadata'])
})

test('versions are numbers, and an object without one is older than all others', () => {
  assert.equal(versionOf(SECRET), 7)
  assert.equal(versionOf({ ...SECRET, metadata: { name: 'keys' } }), 0)
})
