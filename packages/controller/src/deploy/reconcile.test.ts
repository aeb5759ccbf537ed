import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Resource } from '@portico/translate'
import { KubeError } from '../kube/kube-error.ts'
import { isObject } from '@portico/http/json'
import { type JsonObject, listAt, textAt, valueAt } from '@portico/translate/json'
import type { DeployedObject, DeployedKind } from './objects.ts'
import type { Parameters } from './parameters.ts'
import { APPLIED_ANNOTATION, nameOf } from './plan.ts'
import { type Cluster, type Outcome, reconcile } from './reconcile.ts'

const gateway: Resource = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: 'edge', namespace: 'shop', uid: 'u1' },
  spec: {},
}
const settings = { image: { registry: 'registry.example' }, version: '1.0.0' }
const EVERYTHING = [
  'ServiceAccount shop/edge',
  'ConfigMap shop/edge',
  'Secret shop/edge-session-key',
  'Service shop/edge',
  'Deployment shop/edge',
]

describe('a Gateway in its cluster', () => {
  it('gets its objects in a usable order, and is then left alone', async () => {
    const cluster = new FakeCluster()
    assert.deepEqual((await run(cluster)).applied, EVERYTHING)
    for (let again = 0; again < 3; again++) {
      const { applied, removed, problems, failures } = await run(cluster)
      assert.deepEqual(
        { applied, removed, problems, failures },
        { applied: [], removed: [], problems: [], failures: [] },
      )
    }
  })

  it('gets only the objects that changed', async () => {
    const cluster = new FakeCluster()
    await run(cluster)
    assert.deepEqual((await run(cluster, {}, [80, 443])).applied, ['Service shop/edge'])
    assert.deepEqual((await run(cluster, { logging: { level: 'debug' } }, [80, 443])).applied, [
      'ConfigMap shop/edge',
      'Deployment shop/edge',
    ])
    assert.deepEqual((await run(cluster, { logging: { level: 'debug' } }, [80, 443])).applied, [])
  })

  it('keeps its Pods when only the version of the controller changes', async () => {
    const cluster = new FakeCluster()
    const template = (): unknown => valueAt(cluster.find('Deployment', 'edge')?.spec, 'template')
    await run(cluster, { image: { tag: 'pinned' } })
    const before = structuredClone(template())
    const desired = {
      gateway,
      className: 'portico',
      ports: [80],
      levels: [{ from: 'shop/own', spec: { image: { tag: 'pinned' } } }],
    }
    const { applied } = await reconcile(cluster, desired, { ...settings, version: '2.0.0' })
    assert.deepEqual(applied, EVERYTHING)
    assert.deepEqual(template(), before)
  })

  it('is repaired when somebody changes our fields, not when somebody adds fields', async () => {
    const cluster = new FakeCluster()
    await run(cluster, { deployment: { spec: { replicas: 2 } } })
    cluster.edit('Deployment', 'edge', (object) => ({
      ...object,
      status: { replicas: 1 },
      metadata: withLabel(object, 'a'),
    }))
    cluster.edit('Service', 'edge', ({ spec, ...object }) => ({
      ...object,
      spec: { ...Object(spec), clusterIP: '10.0.0.1' },
    }))
    assert.deepEqual((await run(cluster, { deployment: { spec: { replicas: 2 } } })).applied, [])
    cluster.edit('Deployment', 'edge', ({ spec, ...object }) => ({ ...object, spec: { ...Object(spec), replicas: 5 } }))
    cluster.edit('ConfigMap', 'edge', (object) => ({ ...object, data: {} }))
    assert.deepEqual((await run(cluster, { deployment: { spec: { replicas: 2 } } })).applied, [
      'ConfigMap shop/edge',
      'Deployment shop/edge',
    ])
  })

  it('takes quantities as the server writes them', async () => {
    const cluster = new FakeCluster()
    const resources = { limits: { cpu: '1000m', memory: '1024Mi' }, requests: { cpu: 0.5, memory: '1e9' } }
    await run(cluster, { resources })
    const written = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m', memory: '1G' } }
    cluster.editContainer((container) => ({ ...container, resources: written }))
    assert.deepEqual((await run(cluster, { resources })).applied, [])
    cluster.editContainer((container) => ({
      ...container,
      resources: { ...written, limits: { cpu: '2', memory: '1Gi' } },
    }))
    assert.deepEqual((await run(cluster, { resources })).applied, ['Deployment shop/edge'])
  })

  it('drops a field that is no longer wanted', async () => {
    const cluster = new FakeCluster()
    await run(cluster, { deployment: { spec: { paused: true } } })
    assert.deepEqual((await run(cluster)).applied, ['Deployment shop/edge'])
    assert.equal(valueAt(cluster.find('Deployment', 'edge')?.spec, 'paused'), undefined)
  })

  it('deletes objects that are no longer wanted, and only its own', async () => {
    const cluster = new FakeCluster()
    const parameters = { podDisruptionBudget: {}, horizontalPodAutoscaler: { spec: { maxReplicas: 3 } } }
    await run(cluster, parameters)
    const foreign = { ...cluster.find('PodDisruptionBudget', 'edge') } as unknown as DeployedObject
    cluster.put({ ...foreign, metadata: { ...foreign.metadata, name: 'of-the-user', ownerReferences: [] } })
    const { applied, removed } = await run(cluster)
    assert.deepEqual([applied, removed], [[], ['PodDisruptionBudget shop/edge', 'HorizontalPodAutoscaler shop/edge']])
    assert.ok(cluster.find('PodDisruptionBudget', 'of-the-user'))
  })

  it('starts no Pods with a foreign service account of the same name', async () => {
    const cluster = new FakeCluster()
    cluster.put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'edge', namespace: 'shop' } })
    const { applied, failures } = await run(cluster)
    assert.deepEqual(failures, ['ServiceAccount shop/edge already exists and is not owned by this Gateway'])
    assert.deepEqual([applied.includes('Deployment shop/edge'), applied.includes('Service shop/edge')], [false, true])
    assert.equal(cluster.find('Deployment', 'edge'), undefined)
  })

  it('does not change foreign objects of the same name', async () => {
    const cluster = new FakeCluster()
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'edge', namespace: 'shop' },
      spec: { type: 'ClusterIP' },
    }
    cluster.put(service)
    const { applied, failures } = await run(cluster)
    assert.deepEqual(failures, ['Service shop/edge already exists and is not owned by this Gateway'])
    assert.deepEqual(
      applied,
      EVERYTHING.filter((name) => name !== 'Service shop/edge'),
    )
    assert.deepEqual(cluster.find('Service', 'edge'), service)
  })

  it('waits until objects of a deleted Gateway of the same name are gone', async () => {
    const cluster = new FakeCluster()
    await run(cluster)
    cluster.edit('Deployment', 'edge', (object) => ({
      ...object,
      metadata: { ...object.metadata, deletionTimestamp: 'now' },
    }))
    assert.deepEqual((await run(cluster)).failures, ['Deployment shop/edge is being deleted'])
    const next = { ...gateway, metadata: { ...gateway.metadata, uid: 'u2' } }
    const { applied, removed, failures } = await reconcile(
      cluster,
      { gateway: next, className: 'portico', ports: [80], levels: [] },
      settings,
    )
    assert.deepEqual([applied, removed, failures.length], [[], [], 5])
  })

  it('is not changed while its parameters are invalid', async () => {
    const cluster = new FakeCluster()
    await run(cluster, { podDisruptionBudget: {} })
    cluster.balance('203.0.113.7')
    const { applied, removed, problems, addresses } = await run(cluster, { service: { spec: { ports: [{}] } } })
    assert.deepEqual([applied, removed, problems.length], [[], [], 1])
    assert.deepEqual(addresses, [{ type: 'IPAddress', value: '203.0.113.7' }])
  })

  it('reports what the server rejects, applies the rest, and removes nothing', async () => {
    const cluster = new FakeCluster()
    await run(cluster, { podDisruptionBudget: {} })
    cluster.refuse('HorizontalPodAutoscaler', 422, 'spec.maxReplicas: Required value')
    const refused = await run(cluster, { horizontalPodAutoscaler: {}, logging: { level: 'debug' } })
    assert.deepEqual(refused.problems, [
      'HorizontalPodAutoscaler shop/edge: PATCH: 422 spec.maxReplicas: Required value',
    ])
    assert.deepEqual([refused.applied, refused.removed], [['ConfigMap shop/edge', 'Deployment shop/edge'], []])
    cluster.refuse(
      'HorizontalPodAutoscaler',
      500,
      'failed to create typed patch object (edge): .spec.x: field not declared',
    )
    const unknown = await run(cluster, { horizontalPodAutoscaler: { spec: { x: 1 } }, logging: { level: 'debug' } })
    assert.deepEqual([unknown.problems.length, unknown.failures], [1, []])
    cluster.refuse('HorizontalPodAutoscaler', 503, 'not now')
    const failed = await run(cluster, { horizontalPodAutoscaler: {}, logging: { level: 'debug' } })
    assert.deepEqual(
      [failed.problems, failed.failures],
      [[], ['HorizontalPodAutoscaler shop/edge: PATCH: 503 not now']],
    )
  })

  it('reports ports that are not available', async () => {
    assert.deepEqual((await run(new FakeCluster(), {}, [80, 15021])).skippedPorts, [15021])
  })
})

describe('the session key of a Gateway', () => {
  const key = (cluster: FakeCluster): string =>
    Buffer.from(textAt(cluster.find('Secret', 'edge-session-key')?.data, 'key') ?? '', 'base64').toString()

  it('is generated once and kept', async () => {
    const [one, other] = [new FakeCluster(), new FakeCluster()]
    await run(one)
    await run(other)
    const made = key(one)
    assert.match(made, /^[0-9a-f]{64}$/)
    assert.notEqual(key(other), made)
    await run(one, { logging: { level: 'debug' } })
    assert.equal(key(one), made)
  })

  it('may be replaced by the user, which replaces the Pods', async () => {
    const cluster = new FakeCluster()
    await run(cluster)
    const keys = `${'ab'.repeat(32)},${key(cluster)}`
    cluster.edit('Secret', 'edge-session-key', (object) => ({
      ...object,
      data: { key: Buffer.from(keys).toString('base64') },
    }))
    assert.deepEqual((await run(cluster)).applied, ['Secret shop/edge-session-key', 'Deployment shop/edge'])
    assert.equal(key(cluster), keys)
    assert.deepEqual((await run(cluster)).applied, [])
  })

  it('is rejected when it is invalid, without being printed', async () => {
    const cluster = new FakeCluster()
    await run(cluster)
    cluster.edit('Secret', 'edge-session-key', (object) => ({
      ...object,
      data: { key: Buffer.from('hunter2').toString('base64') },
    }))
    const { problems, applied } = await run(cluster)
    assert.deepEqual(problems, ['Secret shop/edge-session-key: `key` is not 1 to 8 keys of 64 hexadecimal digits'])
    assert.deepEqual(applied, [])
  })

  it('is removed when the user sets one', async () => {
    const cluster = new FakeCluster()
    await run(cluster)
    const { applied, removed } = await run(cluster, { env: [{ name: 'SESSION_KEY', value: 'mine' }] })
    assert.deepEqual([applied, removed], [['Deployment shop/edge'], ['Secret shop/edge-session-key']])
  })
})

describe('addresses of a Gateway', () => {
  const cases: Record<string, [JsonObject, Outcome['addresses']]> = {
    'none yet': [{ spec: { type: 'LoadBalancer', clusterIPs: ['10.0.0.1'] } }, []],
    'of a load balancer': [
      {
        spec: { type: 'LoadBalancer' },
        status: {
          loadBalancer: {
            ingress: [{ ip: '203.0.113.7' }, { hostname: 'a.example', ip: '203.0.113.8' }, {}, { ip: '203.0.113.7' }],
          },
        },
      },
      [
        { type: 'IPAddress', value: '203.0.113.7' },
        { type: 'Hostname', value: 'a.example' },
      ],
    ],
    'of the cluster': [
      { spec: { type: 'ClusterIP', clusterIPs: ['10.0.0.1', 'fd00::1'] } },
      [
        { type: 'IPAddress', value: '10.0.0.1' },
        { type: 'IPAddress', value: 'fd00::1' },
        { type: 'IPAddress', value: '198.51.100.1' },
      ],
    ],
    'of a Service without': [
      { spec: { type: 'ClusterIP', clusterIPs: ['None'] } },
      [{ type: 'IPAddress', value: '198.51.100.1' }],
    ],
  }
  for (const [name, [service, expected]] of Object.entries(cases))
    it(name, async () => {
      const cluster = new FakeCluster()
      const asking = { ...gateway, spec: { addresses: [{ value: '198.51.100.1' }] } }
      const type = textAt(service, 'spec', 'type') ?? ''
      const levels = [{ from: 'shop/own', spec: { service: { spec: { type } } } }]
      const again = () => reconcile(cluster, { gateway: asking, className: 'portico', ports: [80], levels }, settings)
      await again()
      cluster.edit('Service', 'edge', (object) => ({
        ...object,
        ...service,
        spec: { ...Object(object.spec), ...Object(service['spec']) },
      }))
      assert.deepEqual((await again()).addresses, expected)
    })
})

describe('addresses of a Gateway that requests scopes', () => {
  const any = { routability: '' }
  const ofCluster = { routability: 'Cluster' }
  const balanced = { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } }
  const clusterIp = { type: 'IPAddress', value: '10.0.0.1', routability: 'Cluster' } as const
  const cases: Record<string, [requests: object[], status: object, type: string, Outcome['addresses']]> = {
    'the cluster alone': [[ofCluster], {}, 'ClusterIP', [clusterIp]],
    'another value of the cluster': [[{ ...ofCluster, value: '10.0.0.9' }], {}, 'ClusterIP', []],
    'a scope that nobody has': [[{ routability: 'example.com/wan' }], {}, 'ClusterIP', []],
    'a hostname of the cluster': [[{ ...ofCluster, type: 'Hostname' }], {}, 'ClusterIP', []],
    'both, before the load balancer answers': [[any, ofCluster], {}, 'LoadBalancer', [clusterIp]],
    both: [
      [any, ofCluster],
      balanced,
      'LoadBalancer',
      [clusterIp, { type: 'IPAddress', value: '203.0.113.7', routability: '' }],
    ],
  }
  for (const [name, [addresses, status, type, expected]] of Object.entries(cases))
    it(name, async () => {
      const cluster = new FakeCluster()
      const asking = { ...gateway, spec: { addresses } }
      const again = () =>
        reconcile(cluster, { gateway: asking, className: 'portico', ports: [80], levels: [] }, settings)
      await again()
      cluster.edit('Service', 'edge', (object) => {
        assert.equal(textAt(object, 'spec', 'type'), type)
        return { ...object, status, spec: { ...Object(object.spec), clusterIPs: ['10.0.0.1'] } }
      })
      assert.deepEqual((await again()).addresses, expected)
    })
})

describe('a Gateway that switches its kind of workload', () => {
  const asDaemonSet: Parameters = { workload: { kind: 'DaemonSet' } }
  const rolledOut = { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 }
  const setStatus = (cluster: FakeCluster, kind: DeployedKind, status: object): void =>
    cluster.edit(kind, 'edge', (object): Resource => ({ ...object, ...{ status } }))

  it('keeps the Deployment until every Pod of the DaemonSet serves', async () => {
    const cluster = new FakeCluster()
    await run(cluster)
    const { applied, removed, kept } = await run(cluster, asDaemonSet)
    assert.deepEqual([applied, removed, kept], [['DaemonSet shop/edge'], [], ['Deployment shop/edge']])
    for (const status of [
      { ...rolledOut, desiredNumberScheduled: 0, updatedNumberScheduled: 0, numberAvailable: 0 },
      { ...rolledOut, numberAvailable: 1 },
      { ...rolledOut, updatedNumberScheduled: 1 },
    ]) {
      setStatus(cluster, 'DaemonSet', status)
      assert.deepEqual((await run(cluster, asDaemonSet)).kept, ['Deployment shop/edge'], JSON.stringify(status))
    }
    setStatus(cluster, 'DaemonSet', rolledOut)
    const last = await run(cluster, asDaemonSet)
    assert.deepEqual([last.removed, last.kept], [['Deployment shop/edge'], []])
  })

  it('keeps the DaemonSet until every Pod of the Deployment serves', async () => {
    const cluster = new FakeCluster()
    const asDeployment: Parameters = { deployment: { spec: { replicas: 2 } } }
    await run(cluster, asDaemonSet)
    setStatus(cluster, 'DaemonSet', rolledOut)
    assert.deepEqual((await run(cluster, asDeployment)).kept, ['DaemonSet shop/edge'])
    setStatus(cluster, 'Deployment', { updatedReplicas: 2, availableReplicas: 1 })
    assert.deepEqual((await run(cluster, asDeployment)).kept, ['DaemonSet shop/edge'])
    setStatus(cluster, 'Deployment', { updatedReplicas: 2, availableReplicas: 2 })
    assert.deepEqual((await run(cluster, asDeployment)).removed, ['DaemonSet shop/edge'])
  })

  it('keeps the Deployment while the status of the DaemonSet belongs to an earlier template', async () => {
    const cluster = new FakeCluster()
    await run(cluster)
    await run(cluster, asDaemonSet)
    cluster.edit('DaemonSet', 'edge', (object) => ({ ...object, metadata: { ...object.metadata, generation: 2 } }))
    setStatus(cluster, 'DaemonSet', { ...rolledOut, observedGeneration: 1 })
    assert.deepEqual((await run(cluster, asDaemonSet)).kept, ['Deployment shop/edge'])
  })
})

function run(cluster: FakeCluster, spec: Parameters = {}, ports = [80]): Promise<Outcome> {
  return reconcile(cluster, { gateway, className: 'portico', ports, levels: [{ from: 'shop/own', spec }] }, settings)
}

function withLabel({ metadata }: Resource, label: string): Resource['metadata'] {
  return { ...metadata, labels: { ...metadata.labels, [label]: label } }
}

/** Stores applied objects like a server: with defaults, and with fields that others added at the top of the spec. */
class FakeCluster implements Cluster {
  readonly #objects = new Map<string, Resource>()
  readonly #refusals = new Map<DeployedKind, Error>()

  async list(kind: DeployedKind, namespace: string, labels: Readonly<Record<string, string>>): Promise<Resource[]> {
    return [...this.#objects.values()].filter(
      (object) =>
        object.kind === kind &&
        object.metadata.namespace === namespace &&
        Object.entries(labels).every(([name, value]) => object.metadata.labels?.[name] === value),
    )
  }

  async get(kind: DeployedKind, namespace: string, name: string): Promise<Resource | undefined> {
    return this.#objects.get(`${kind} ${namespace}/${name}`)
  }

  async apply(object: DeployedObject): Promise<Resource> {
    const refusal = this.#refusals.get(object.kind)
    if (refusal !== undefined) throw refusal
    assert.ok(object.metadata.annotations?.[APPLIED_ANNOTATION])
    const before: unknown = Reflect.get(this.#objects.get(nameOf(object)) ?? {}, 'status')
    this.put(withDefaults({ ...structuredClone(object), ...(before !== undefined && { status: before }) }))
    return this.#objects.get(nameOf(object)) ?? assert.fail()
  }

  async remove(object: Resource): Promise<void> {
    this.#objects.delete(nameOf(object))
  }

  put(object: Resource | DeployedObject): void {
    this.#objects.set(nameOf(object), object)
  }

  find(kind: DeployedKind, name: string): Resource | undefined {
    return this.#objects.get(`${kind} shop/${name}`)
  }

  edit(kind: DeployedKind, name: string, change: (object: Resource) => Resource): void {
    this.put(change(this.find(kind, name) ?? assert.fail(`there is no ${kind} ${name}`)))
  }

  editContainer(change: (container: JsonObject) => JsonObject): void {
    this.edit('Deployment', 'edge', (object) => {
      const copy: Resource = structuredClone(object)
      const [container] = listAt(copy.spec, 'template', 'spec', 'containers')
      assert.ok(isObject(container))
      Object.assign(container, change(container))
      return copy
    })
  }

  balance(ip: string): void {
    const status = { loadBalancer: { ingress: [{ ip }] } }
    this.edit('Service', 'edge', (object): Resource => ({ ...object, ...{ status } }))
  }

  refuse(kind: DeployedKind, status: number, message: string): void {
    this.#refusals.set(kind, new KubeError('PATCH', { status, message }))
  }
}

/** Adds some of a server's defaults, at every depth. */
function withDefaults<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => withDefaults(item)) as T
  if (!isObject(value)) return value
  const entries = Object.entries(value)
    // Servers drop empty maps and lists.
    .filter(([name, member]) => name === 'emptyDir' || !isObject(member) || Object.keys(member).length > 0)
    .map(([name, member]) => [name, withDefaults(member)])
  return Object.fromEntries(
    ['image' in value ? ['imagePullPolicy', 'Always'] : [], ...entries].filter(([name]) => name),
  ) as T
}
