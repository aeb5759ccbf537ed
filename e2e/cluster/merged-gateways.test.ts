import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { listAt, textAt, valueAt } from '../../packages/translate/src/resources/json.ts'
import { type Bed, startBed } from './bed/bed.ts'
import { withoutBed } from './bed/programs.ts'
import { install, ownImages } from './installed.ts'

const PATIENCE_MS = 300_000
const TENANTS = ['shop', 'bank'] as const

describe('Gateways that share a data plane, in a cluster', { skip: withoutBed }, () => {
  let bed: Bed
  before(async () => {
    bed = await startBed({ images: ownImages() })
    await install(bed)
    for (const namespace of ['infra', ...TENANTS]) await bed.kubectl('create', 'namespace', namespace)
  })
  after(async () => bed.stop())

  const statusOf = async (namespace: string): Promise<unknown> =>
    valueAt(JSON.parse(await bed.kubectl('-n', namespace, 'get', 'gateway', 'web', '-o', 'json')), 'status')
  const addressOf = async (namespace: string): Promise<string | undefined> =>
    textAt(listAt(await statusOf(namespace), 'addresses')[0], 'value')
  const isProgrammed = async (namespace: string): Promise<boolean> =>
    listAt(await statusOf(namespace), 'conditions').some(
      (one) => textAt(one, 'type') === 'Programmed' && textAt(one, 'status') === 'True',
    )
  const ask = async (address: string, tenant: string): Promise<string> =>
    (await bed.exec(['curl', '-s', '-m', '5', '-H', `host: ${tenant}.test`, `http://${address}/`])).stdout
  const deployments = async (): Promise<string[]> =>
    (await bed.kubectl('get', 'deployments', '-A', '-l', 'app.kubernetes.io/managed-by=portico', '-o', 'name'))
      .split('\n')
      .filter((line) => line.includes('/'))
      .filter((line) => !line.includes('portico-controller'))

  it('serve the hostnames of each at one address, and apart again when the parameters change', async () => {
    await bed.apply(
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...plane(true), ...TENANTS.flatMap(tenant)] }),
    )
    for (const each of TENANTS) await eventually(`${each} is programmed`, () => isProgrammed(each), PATIENCE_MS)
    const [shop = '', bank = ''] = await Promise.all(TENANTS.map(addressOf))
    assert.equal(shop, bank)
    for (const each of TENANTS) assert.equal(await ask(shop, each), `hello of ${each}`)
    assert.equal((await deployments()).length, 1)
    await bed.apply(JSON.stringify(plane(false)[0]))
    await eventually(
      'each has its own address',
      async () => {
        const all = await Promise.all(TENANTS.map(addressOf))
        return all[0] !== all[1] && all.every((address) => address !== shop)
      },
      PATIENCE_MS,
    )
    for (const each of TENANTS) {
      const address = (await addressOf(each)) ?? ''
      await eventually(
        `${each} serves`,
        async () => (await ask(address, each).catch(() => '')) === `hello of ${each}`,
        PATIENCE_MS,
      )
    }
    await eventually('the shared data plane is gone', async () => (await deployments()).length === 2, PATIENCE_MS)
  })
})

function plane(mergeGateways: boolean): object[] {
  return [
    {
      apiVersion: 'portico.dev/v1alpha1',
      kind: 'GwParameters',
      metadata: { namespace: 'infra', name: 'edge' },
      spec: { mergeGateways },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: 'shared' },
      spec: {
        controllerName: 'portico.dev/gateway',
        parametersRef: { group: 'portico.dev', kind: 'GwParameters', namespace: 'infra', name: 'edge' },
      },
    },
  ]
}

/** A Gateway with one hostname, and a route whose policy responds. */
function tenant(namespace: string): object[] {
  const at = (name: string) => ({ namespace, name })
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP', hostname: `${namespace}.test` }]
  const target = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'app' }
  return [
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: at('web'),
      spec: { gatewayClassName: 'shared', listeners },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: at('app'),
      spec: { parentRefs: [{ name: 'web' }], rules: [{}] },
    },
    {
      apiVersion: 'portico.dev/v1alpha1',
      kind: 'GwPolicy',
      metadata: at('hello'),
      spec: { targetRefs: [target], traffic: { directResponse: { status: 200, body: `hello of ${namespace}` } } },
    },
  ]
}
