import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Resource } from '@portico/translate'
import { PeerAddresses } from './peer-addresses.ts'

const SERVICE = 'portico-system/portico-controller'

function slice(service: string, pods: Readonly<Record<string, string>>, more: object = {}): Resource {
  const metadata = { namespace: 'portico-system', name: 'x', labels: { 'kubernetes.io/service-name': service } }
  const endpoints = Object.entries(pods).map(([name, address]) => ({
    addresses: [address],
    conditions: { ready: false },
    targetRef: { kind: 'Pod', name },
  }))
  const ports = [
    { name: 'metrics', port: 9979 },
    { name: 'stream', port: 9978 },
  ]
  return { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, ...{ endpoints, ports, ...more } }
}

describe('the addresses of other controllers', () => {
  it('come from all slices of their Service, ready or not, without the own address', () => {
    const addresses = new PeerAddresses(SERVICE, 'a')
    assert.equal(addresses.take('portico-system/other', slice('other', { x: '10.0.0.9' })), false)
    assert.equal(
      addresses.take('portico-system/1', slice('portico-controller', { a: '10.0.0.1', b: '10.0.0.2' })),
      true,
    )
    assert.deepEqual([...addresses.all], ['10.0.0.2:9978'])
    const six = slice('portico-controller', { b: 'fd00::2' }, { addressType: 'IPv6' })
    assert.equal(addresses.take('portico-system/2', six), true)
    assert.deepEqual([...addresses.all], ['10.0.0.2:9978', '[fd00::2]:9978'])
    assert.equal(addresses.take('portico-system/1', undefined), true)
    assert.deepEqual([...addresses.all], ['[fd00::2]:9978'])
  })

  it('are empty for a slice without the port', () => {
    const addresses = new PeerAddresses(SERVICE, 'a')
    addresses.take('portico-system/1', slice('portico-controller', { b: '10.0.0.2' }, { ports: [] }))
    assert.deepEqual([...addresses.all], [])
  })
})
