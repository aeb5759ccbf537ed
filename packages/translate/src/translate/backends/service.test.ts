import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownKey } from './referred-objects.ts'
import { placeOfService, serviceKey } from './service.ts'

test('a GwBackend in the namespace `service` is not a Service', () => {
  assert.equal(placeOfService(ownKey('service/catalog')), null)
  assert.equal(placeOfService(serviceKey('shop/catalog/80')), 'shop/catalog/80')
  assert.equal(placeOfService(serviceKey('shop/catalog/53:udp')), 'shop/catalog/53:udp')
})
