import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namedBackends } from './named-backends.ts'

test('backends that a config names count, with those that they name themselves', () => {
  const contents = new Map([
    ['backend/idp', JSON.stringify([{ key: 'backend/idp' }, { tunnel: { backendRef: { name: 'backend/proxy' } } }])],
    ['backend/proxy', JSON.stringify([{ key: 'backend/proxy' }])],
    ['host/unix:/a "b"', 'socket'],
    ['backend/other', 'other'],
  ])
  const config = { deep: [{ name: 'backend/idp' }, 'host/unix:/a "b"', 'backend/missing', 'my backend/other'] }
  const described = namedBackends(JSON.stringify(config), (key) => contents.get(key) ?? null)
  assert.equal(described, [contents.get('backend/idp'), 'socket', contents.get('backend/proxy')].join())
  assert.equal(
    namedBackends('{}', () => assert.fail('nothing is named')),
    '',
  )
})
