import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createAuthority } from '../../packages/gateway/src/testing/certificates.ts'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { type Bed, startBed } from './bed/bed.ts'
import { CRDS, withoutCrds } from './bed/programs.ts'
import { startController } from './own-controller.ts'

const PATIENCE_MS = 60_000
const GROUP = 'gateway.networking.k8s.io'
const X_GROUP = 'gateway.networking.x-k8s.io'
const EXPERIMENTAL = join(CRDS, 'v1.7.0', 'experimental')
/** The last release with XListenerSets. */
const X_LISTENER_SETS = join(CRDS, 'v1.4.1', 'experimental', `${X_GROUP}_xlistenersets.yaml`)

describe('experimental kinds before a real API server', { skip: withoutCrds }, () => {
  let bed: Bed
  let end = async (): Promise<void> => undefined
  before(async () => {
    bed = await startBed({ parts: 'api', gatewayApi: 'none', trustBundles: true })
    const names = readdirSync(EXPERIMENTAL).filter((name) => name.startsWith('gateway.'))
    const files = [...names.map((name) => join(EXPERIMENTAL, name)), X_LISTENER_SETS]
    await bed.apply(...files.map((file) => readFileSync(file, 'utf8')))
    await bed.kubectl('wait', '--for=condition=Established', '--timeout=120s', 'crd', '--all')
    await bed.apply(...resources())
    end = await startController(bed)
  })
  after(async () => {
    await end()
    await bed.stop()
  })

  const conditions = async (kind: string, name: string, path: string): Promise<string> =>
    bed.kubectl('get', kind, name, '-o', `jsonpath={range ${path}}{.type}={.status}/{.reason} {end}`)

  const becomes = async (kind: string, name: string, path: string, wanted: string): Promise<void> => {
    let found = ''
    await eventually(
      `${kind} ${name}: ${wanted}`,
      async () => (found = await conditions(kind, name, path)).includes(wanted),
      PATIENCE_MS,
    ).catch((error: unknown) => assert.fail(`${String(error)}; found ${found}`))
  }

  it('have statuses that their definitions accept', async () => {
    await becomes('xbackend', 'pods', '.status.ancestors[*].conditions[*]', 'Accepted=True/Accepted ResolvedRefs=True')
    await becomes('xbackend', 'external', '.status.ancestors[*].conditions[*]', 'Accepted=False/UnsupportedValue')
    await becomes('xtelemetrypolicy', 'traces', '.status.ancestors[*].conditions[*]', 'Accepted=True/Accepted')
    await becomes('xlistenerset', 'more', '.status.conditions[*]', 'Accepted=True/Accepted')
  })

  it('tell the scope of the addresses of a Gateway', async () => {
    await becomes('gateway', 'web', '.status.conditions[*]', 'AddressesAssigned=True/Assigned')
    const ip = await bed.kubectl('get', 'service', 'web', '-o', 'jsonpath={.spec.type} {.spec.clusterIP}')
    const address = 'jsonpath={range .status.addresses[*]}{.routability} {.value}{end}'
    assert.equal(await bed.kubectl('get', 'gateway', 'web', '-o', address), ip.replace('ClusterIP', 'Cluster'))
  })

  it('a ClusterTrustBundle is read in the version that the server has', async () => {
    await becomes(
      'backendtlspolicy',
      'orders',
      '.status.ancestors[*].conditions[*]',
      'Accepted=True/Accepted ResolvedRefs=True',
    )
    await bed.kubectl('delete', 'clustertrustbundle', 'roots')
    await becomes('backendtlspolicy', 'orders', '.status.ancestors[*].conditions[*]', 'ResolvedRefs=False')
  })

  it('are written once: a status that the server has stored is not written again', async () => {
    const versions = async (): Promise<string> =>
      bed.kubectl(
        'get',
        'xbackends,xtelemetrypolicies,xlistenersets',
        '-o',
        'jsonpath={.items[*].metadata.resourceVersion}',
      )
    const known = await versions()
    await bed.apply(route('later', [{ name: 'orders', port: 80 }]))
    await becomes('httproute', 'later', '.status.parents[*].conditions[*]', 'Accepted=True')
    assert.equal(await versions(), known)
  })
})

function object(group: string, version: string, kind: string, name: string, spec: object): object {
  return { apiVersion: `${group}${version}`, kind, metadata: { name, namespace: 'default' }, spec }
}

function route(name: string, backendRefs: object[]): object {
  const rules = backendRefs.map((ref) => ({ backendRefs: [ref] }))
  return object(`${GROUP}/`, 'v1', 'HTTPRoute', name, { parentRefs: [{ name: 'web' }], rules })
}

function resources(): object[] {
  const x = (kind: string, name: string, spec: object): object => object(`${X_GROUP}/`, 'v1alpha1', kind, name, spec)
  const ref = (name: string): object => ({ group: X_GROUP, kind: 'XBackend', name })
  return [
    {
      apiVersion: `${GROUP}/v1`,
      kind: 'GatewayClass',
      metadata: { name: 'portico' },
      spec: { controllerName: 'portico.dev/gateway' },
    },
    object(`${GROUP}/`, 'v1', 'Gateway', 'web', {
      gatewayClassName: 'portico',
      addresses: [{ routability: 'Cluster' }],
      allowedListeners: { namespaces: { from: 'Same' } },
      listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
    }),
    object('', 'v1', 'Service', 'orders', { ports: [{ port: 80 }] }),
    x('XListenerSet', 'more', {
      parentRef: { name: 'web' },
      listeners: [{ name: 'more', port: 81, protocol: 'HTTP' }],
    }),
    x('XBackend', 'pods', {
      type: 'EndpointSelector',
      endpointSelector: { matchLabels: { app: 'orders' } },
      port: { number: 8080 },
      sessionPersistence: { type: 'Cookie', cookie: { name: 'orders' } },
    }),
    x('XBackend', 'external', {
      type: 'ExternalHostname',
      externalHostname: { hostname: 'not-listed.example' },
      port: { number: 443 },
    }),
    x('XTelemetryPolicy', 'traces', {
      targetRefs: [{ group: GROUP, kind: 'Gateway', name: 'web' }],
      tracing: {
        mode: 'Enabled',
        provider: { backendRef: { name: 'orders', port: 80 } },
        samplingRate: { numerator: 5 },
      },
    }),
    route('orders', [ref('pods'), ref('external'), { name: 'orders', port: 80 }]),
    {
      apiVersion: 'certificates.k8s.io/v1beta1',
      kind: 'ClusterTrustBundle',
      metadata: { name: 'roots' },
      spec: { trustBundle: createAuthority().cert },
    },
    object(`${GROUP}/`, 'v1', 'BackendTLSPolicy', 'orders', {
      targetRefs: [{ group: '', kind: 'Service', name: 'orders' }],
      validation: {
        hostname: 'orders.internal',
        caCertificateRefs: [{ group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: 'roots' }],
      },
    }),
  ]
}
