import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Namer } from '../names.ts'
import { forClient } from './for-client.ts'
import { mergeAcknowledged, splitListen } from './subscriptions.ts'
import { hostileObject, messageOf, requestOf } from './test-messages.ts'

const namer = new Namer(['a', 'b'], 'Conditional')
const acknowledged = (notifications: object) =>
  messageOf(
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { notifications } }),
  )

test('each target is asked for lists, and for what is its own', () => {
  const request = requestOf('subscriptions/listen', {
    _meta: { x: 1 },
    notifications: { toolsListChanged: true, resourceSubscriptions: ['a+f:x', 'b+f:y', 'other+f:z', 'f:w'] },
  })
  const split = splitListen(request, ['a', 'b'], (kind, exposed) => namer.owner(kind, exposed))
  assert.deepEqual(split.get('a')?.value.params, {
    _meta: { x: 1 },
    notifications: { toolsListChanged: true, resourceSubscriptions: ['f:x'] },
  })
  assert.deepEqual(split.get('b')?.value.params, {
    _meta: { x: 1 },
    notifications: { toolsListChanged: true, resourceSubscriptions: ['f:y'] },
  })
})

test('the acknowledgments of targets are merged', () => {
  const [a, b] = ['a', 'b'].map((target) =>
    forClient(acknowledged({ toolsListChanged: target === 'b', resourceSubscriptions: ['f:x'] }), '', target, namer),
  )
  assert.deepEqual(mergeAcknowledged([a!, b!]).value.params, {
    notifications: { toolsListChanged: true, resourceSubscriptions: ['a+f:x', 'b+f:x'] },
  })
})

test('hostile filters are never an error', () => {
  fc.assert(
    fc.property(hostileObject, hostileObject, (first, second) => {
      splitListen(requestOf('subscriptions/listen', { notifications: first }), ['a', 'b'], (kind, name) =>
        namer.owner(kind, name),
      )
      splitListen(requestOf('subscriptions/listen', first), ['a'], () => null)
      mergeAcknowledged([acknowledged(first), acknowledged(second)])
    }),
    { seed: 5, numRuns: 500 },
  )
})
