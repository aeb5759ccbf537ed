import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourceOf } from './resource.ts'

const own = { 'service.name': 'portico', 'service.version': '1' }

test('the standard variables win over what the gateway says of itself', () => {
  assert.deepEqual(resourceOf({}, own), own)
  assert.deepEqual(resourceOf({ OTEL_SERVICE_NAME: '', OTEL_RESOURCE_ATTRIBUTES: '' }, own), own)
  assert.deepEqual(resourceOf({ OTEL_RESOURCE_ATTRIBUTES: 'service.name=shop, team = a%2Cb' }, own), {
    ...own,
    'service.name': 'shop',
    team: 'a,b',
  })
  const both = resourceOf({ OTEL_SERVICE_NAME: 'edge', OTEL_RESOURCE_ATTRIBUTES: 'service.name=shop,__proto__=1' }, own)
  assert.equal(both['service.name'], 'edge')
  assert.equal(Object.hasOwn(both, '__proto__'), true)
})
