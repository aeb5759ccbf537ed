import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { podOf, useFakeCluster } from '../testing/fake-cluster.ts'
import { adminPortOf } from './admin-port.ts'
import { type LiveResource, openCluster } from './cluster.ts'
import { gatewayNameOf } from '../gateway-name.ts'
import { nearNames } from './near-names.ts'

const NOWHERE = { namespace: null, context: null, kubeconfig: null }
const IN_POD = { HOME: '/nowhere', KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }

describe('clusters', () => {
  it('default to that of the Pod without a kubeconfig, unless one is named', () => {
    const own = openCluster(NOWHERE, IN_POD)
    assert.equal(own.namespace, 'default')
    own.close()
    assert.equal(openCluster({ ...NOWHERE, namespace: 'shop' }, IN_POD).namespace, 'shop')
    assert.throws(() => openCluster({ ...NOWHERE, context: 'prod' }, IN_POD), /there is no kubeconfig/)
    assert.throws(() => openCluster({ ...NOWHERE, kubeconfig: '/nowhere/config' }, IN_POD), /\/nowhere\/config/)
    assert.throws(() => openCluster(NOWHERE, { HOME: '/nowhere' }), /there is no kubeconfig/)
  })

  it('are read page by page', async (t) => {
    const kind = { group: '', version: 'v1', kind: 'Service', plural: 'services', namespaced: true }
    const path = '/api/v1/namespaces/shop/services'
    const cluster = await useFakeCluster(t, {
      objects: {
        [path]: (query: URLSearchParams) => ({
          apiVersion: 'v1',
          metadata: query.get('continue') === null ? { continue: 'from-b' } : {},
          items: [{ metadata: { name: query.get('continue') ?? 'a' } }],
        }),
      },
    })
    const opened = openCluster({ ...NOWHERE, kubeconfig: cluster.kubeconfig }, {})
    t.after(() => opened.close())
    const service = (name: string) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name } })
    assert.deepEqual(await opened.list(kind, { namespace: 'shop' }), [service('a'), service('from-b')])
    assert.deepEqual(cluster.asked, [`GET ${path}?limit=500`, `GET ${path}?limit=500&continue=from-b`])
  })
})

describe('the admin port of a Pod', () => {
  const pod = podOf('web-1') as LiveResource
  const mounted = { ...pod, spec: { volumes: [{ name: 'config', configMap: { name: 'web' } }] } }

  it('comes from its config file, or is the default without the right to read it', async (t) => {
    const path = '/api/v1/namespaces/shop/configmaps/web'
    const file = (adminAddr: string) => ({ data: { 'gateway.yaml': `config: { adminAddr: "${adminAddr}" }` } })
    const portOf = async (objects: Record<string, unknown>, forbidden: string[] = []): Promise<number> => {
      const { kubeconfig } = await useFakeCluster(t, { objects, forbidden })
      const cluster = openCluster({ ...NOWHERE, kubeconfig }, {})
      t.after(() => cluster.close())
      return adminPortOf(cluster, mounted)
    }
    assert.equal(await portOf({ [path]: file('localhost:16000') }), 16_000)
    assert.equal(await portOf({}), 15_000)
    assert.equal(await portOf({}, [path]), 15_000)
    await assert.rejects(portOf({ [path]: file('off') }), /the admin server of Pod shop\/web-1 is off/)
    await assert.rejects(portOf({ [path]: file('unix:/run/admin') }), /cannot be forwarded/)
  })
})

describe('names', () => {
  it('that are close are found, the closest first', () => {
    assert.deepEqual(nearNames('web', ['db', 'wep', 'web-edge', 'payments']), ['web-edge', 'wep'])
    assert.deepEqual(nearNames('orders', ['order', 'oders', 'users', 'payments']), ['oders', 'order'])
    assert.deepEqual(nearNames('web', []), [])
  })

  it('as arguments are read in the forms of kubectl', () => {
    for (const kind of ['gateway', 'gateways', 'gtw', 'gateway.gateway.networking.k8s.io']) {
      assert.equal(gatewayNameOf(`${kind}/web.1`), 'web.1')
    }
    for (const text of ['web', 'gateway/', 'gateway/Web', 'gateway/a/b', 'gateway/../x', 'httproute/a']) {
      assert.equal(gatewayNameOf(text), null)
    }
  })
})
