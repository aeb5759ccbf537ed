import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Resource } from '@portico/translate'
import { ControllerCount } from './controller-count.ts'

function slice(service: string, ...ready: boolean[]): Resource {
  const metadata = { namespace: 'portico-system', name: 'x', labels: { 'kubernetes.io/service-name': service } }
  const endpoints = ready.map((is, index) => ({ addresses: [`10.0.0.${index}`], conditions: { ready: is } }))
  return { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, ...{ endpoints } }
}

describe('the count of controllers', () => {
  it('is of those that are ready, in all slices of their Service', () => {
    const count = new ControllerCount('portico-system/portico-controller')
    count.take('portico-system/other', slice('other', true, true))
    count.take('portico-system/a', slice('portico-controller', true, false))
    assert.equal(count.hasOthers, false)
    count.take('portico-system/b', slice('portico-controller', true))
    assert.equal(count.hasOthers, true)
    count.take('portico-system/b', undefined)
    assert.equal(count.hasOthers, false)
  })
})
