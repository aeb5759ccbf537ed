import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { GatewayAddress } from '../../packages/controller/src/deploy/addresses.ts'
import type { DesiredState } from '../../packages/controller/src/deploy/deployer.ts'
import { valueAt } from '../../packages/translate/src/resources/json.ts'
import { kubeCluster } from '../../packages/controller/src/deploy/kube-cluster.ts'
import type { Parameters } from '../../packages/controller/src/deploy/parameters.ts'
import { type Outcome, reconcile } from '../../packages/controller/src/deploy/reconcile.ts'
import type { DeploySettings } from '../../packages/controller/src/deploy/render.ts'
import { readDeployCases, desiredOf } from '../../packages/controller/src/testing/deploy-cases.ts'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { shippedProgram } from '../../packages/gateway/src/testing/shipped-program.ts'
import { type Bed, startBed } from './bed/bed.ts'
import { withoutBed } from './bed/programs.ts'

const settings = { image: { registry: 'registry.example' }, version: '1.2.3' }
const PATIENCE_SECONDS = 300
const PROGRAM = shippedProgram('gateway')
const NOTHING = { applied: [], removed: [], problems: [], failures: [] }

describe('objects deployed for a Gateway, with a real API server', { skip: withoutBed }, () => {
  let bed: Bed
  before(async () => {
    bed = await startBed({ parts: 'api', gatewayApi: 'none' })
  })
  after(async () => bed.stop())

  const run = (desired: DesiredState, given: DeploySettings = settings): Promise<Outcome> =>
    reconcile(kubeCluster(bed.client), desired, given)

  /** The desired deployment in a namespace of its own, which is created. */
  const placed = async (desired: DesiredState, namespace: string): Promise<DesiredState> => {
    await bed.kubectl('create', 'namespace', namespace)
    const gateway = {
      ...desired.gateway,
      metadata: { ...desired.gateway.metadata, namespace, uid: `uid-of-${namespace}` },
    }
    return { ...desired, gateway }
  }

  const plain = (spec: Parameters = {}): DesiredState => {
    const gateway = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'edge' },
      spec: {},
    }
    return { gateway, className: 'portico', ports: [80], levels: [{ from: 'shop/own', spec }] }
  }

  it('every case is taken, and then nothing differs', async () => {
    let count = 0
    for (const { name, resources, settings } of readDeployCases()) {
      const asked = desiredOf(resources)
      if (!asked.ok) continue
      const desired = await placed(asked.desired, name)
      const first = await run(desired, settings)
      // Cases whose parameters are wrong are held against their texts elsewhere.
      if (first.applied.length === 0) continue
      assert.deepEqual([first.problems, first.failures], [[], []], name)
      const { applied, removed, problems, failures } = await run(desired, settings)
      assert.deepEqual({ applied, removed, problems, failures }, NOTHING, name)
      count++
    }
    assert.ok(count > 30, `only ${count} cases were taken`)
  })

  it('quantities that the server writes in its own way do not differ', async () => {
    const resources = { limits: { cpu: '1500m', memory: '2048Mi' }, requests: { cpu: 1, memory: '0.5Gi' } }
    const desired = await placed(plain({ resources }), 'quantities')
    await run(desired)
    assert.deepEqual((await run(desired)).applied, [])
  })

  it('manual changes are reverted, unneeded objects are removed, and additions of others stay', async () => {
    const desired = await placed(
      plain({ podDisruptionBudget: {}, deployment: { spec: { minReadySeconds: 5 } } }),
      'changes',
    )
    assert.equal((await run(desired)).applied.length, 6)
    await bed.kubectl('-n', 'changes', 'label', 'deployment', 'edge', 'team=shop')
    await bed.kubectl('-n', 'changes', 'set', 'image', 'deployment/edge', 'portico=other')
    assert.deepEqual((await run(desired)).applied, ['Deployment changes/edge'])
    const { applied, removed } = await run({ ...plain(), gateway: desired.gateway })
    assert.deepEqual([applied, removed], [['Deployment changes/edge'], ['PodDisruptionBudget changes/edge']])
    const printed = await bed.kubectl('-n', 'changes', 'get', 'deployment', 'edge', '-o', 'json')
    const deployment: unknown = JSON.parse(printed)
    assert.equal(valueAt(deployment, 'metadata', 'labels', 'team'), 'shop')
    assert.equal(valueAt(deployment, 'spec', 'minReadySeconds'), undefined)
    assert.deepEqual((await run({ ...plain(), gateway: desired.gateway })).applied, [])
  })

  it('an object that the server rejects is a problem of the parameters', async () => {
    const wrong = {
      'an autoscaler without a limit': { horizontalPodAutoscaler: {} },
      'an unknown field': { deployment: { spec: { colour: 'blue' } } },
      'a value of another type': { deployment: { spec: { replicas: 'three' } } },
      'an invalid value': { service: { spec: { type: 'Fancy' } } },
    }
    for (const [index, [name, spec]] of Object.entries(wrong).entries()) {
      const { problems, failures } = await run(await placed(plain(spec), `refused-${index}`))
      assert.deepEqual([problems.length, failures], [1, []], `${name}: ${failures.join()}`)
    }
  })

  it('parameters keep their nulls and directives on the way through the server', async () => {
    const crd = new URL('../../deploy/crds/portico.dev_gwparameters.yaml', import.meta.url)
    await bed.apply(readFileSync(crd, 'utf8'))
    await bed.kubectl(
      'wait',
      '--for=condition=Established',
      `--timeout=${PATIENCE_SECONDS}s`,
      'crd/gwparameters.portico.dev',
    )
    const container = { name: 'portico', startupProbe: null, env: [{ name: 'POD_NAME', $patch: 'delete' }] }
    const spec = {
      deployment: { spec: { template: { spec: { containers: [container], securityContext: { $patch: 'delete' } } } } },
    }
    await bed.kubectl('create', 'namespace', 'parameters')
    await bed.apply({
      apiVersion: 'portico.dev/v1alpha1',
      kind: 'GwParameters',
      metadata: { name: 'own', namespace: 'parameters' },
      spec,
    })
    const kept = await bed.kubectl('-n', 'parameters', 'get', 'gwparameters', 'own', '-o', 'json')
    assert.deepEqual(valueAt(JSON.parse(kept), 'spec'), spec)
  })

  it('an object of another owner with the same name is left alone', async () => {
    const desired = await placed(plain(), 'taken')
    await bed.kubectl('-n', 'taken', 'create', 'service', 'clusterip', 'edge', '--tcp=80')
    const { failures, applied } = await run(desired)
    assert.deepEqual(failures, ['Service taken/edge already exists and is not owned by this Gateway'])
    assert.equal(applied.length, 4)
  })
})

describe('the Pods of a Gateway', { skip: withoutBed }, () => {
  let bed: Bed
  before(async () => {
    bed = await startBed({ gatewayApi: 'none', images: { portico: { command: [process.execPath, PROGRAM] } } })
  })
  after(async () => bed.stop())

  const gateway = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'edge', namespace: 'shop', uid: 'uid-of-edge' },
    spec: {},
  }
  const common: Parameters = {
    shutdown: { min: 20, max: 90 },
    rawConfig: {
      binds: [{ port: 80, listeners: [{ routes: [{ policies: { directResponse: { status: 207 } } }] }] }],
    },
    service: { spec: { ports: [{ port: 80, name: 'own', targetPort: 80 }] } },
  }

  const deploy = async (spec: Parameters): Promise<Outcome> => {
    const levels = [{ from: 'shop/own', spec: { ...common, ...spec } }]
    const outcome = await reconcile(
      kubeCluster(bed.client),
      { gateway, className: 'portico', ports: [8080], levels },
      settings,
    )
    assert.deepEqual([outcome.problems, outcome.failures], [[], []])
    return outcome
  }

  const waitForRollout = (workload: string): Promise<string> =>
    bed.kubectl('-n', 'shop', 'rollout', 'status', workload, `--timeout=${PATIENCE_SECONDS}s`)

  /** The local port that forwards to port 80 of the Gateway. */
  const reachGateway = async (): Promise<number> => {
    let address: GatewayAddress | undefined
    await eventually('an address', async () => {
      address = (await deploy({}))?.addresses?.[0]
      return address !== undefined
    })
    assert.equal(address?.type, 'IPAddress')
    return bed.reach(address?.value ?? '', 80)
  }

  /** The statuses of requests that are sent one after the other during `act`. */
  const statusesDuring = async (port: number, act: () => Promise<void>): Promise<number[]> => {
    // A fresh connection each; 0 for one that failed.
    const statusOf = (): Promise<number> =>
      fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } }).then(
        ({ status }) => status,
        () => 0,
      )
    assert.equal(await statusOf(), 207)
    const statuses: number[] = []
    const over = new AbortController()
    const asking = (async () => {
      while (!over.signal.aborted) statuses.push(await statusOf())
    })()
    try {
      await act()
    } finally {
      over.abort()
      await asking
    }
    return statuses
  }

  it('run as they are rendered, serve, and are replaced by a change without a lost request', async () => {
    await bed.kubectl('create', 'namespace', 'shop')
    await deploy({})
    await waitForRollout('deployment/edge')
    const statuses = await statusesDuring(await reachGateway(), async () => {
      await deploy({ logging: { level: 'debug' } })
      await waitForRollout('deployment/edge')
    })
    assert.deepEqual(new Set(statuses), new Set([207]))
  })

  it('switch to a DaemonSet, are replaced there, and switch back without a lost request', async () => {
    await deploy({})
    await waitForRollout('deployment/edge')
    const pods = (): Promise<string> => bed.kubectl('-n', 'shop', 'get', 'pods', '-o', 'name')
    const switchTo = async (spec: Parameters, earlier: string): Promise<void> => {
      assert.deepEqual((await deploy(spec)).kept, [`${earlier} shop/edge`])
      await eventually(
        `the ${earlier} is gone`,
        async () => (await deploy(spec)).removed.includes(`${earlier} shop/edge`),
        PATIENCE_SECONDS * 1_000,
      )
      // Its Pods end while requests are sent, which is when requests could fail.
      await eventually(
        `the Pods of the ${earlier} are gone`,
        async () => (await pods()).trim().split('\n').length === 1,
        PATIENCE_SECONDS * 1_000,
      )
    }
    const asDaemonSet: Parameters = { workload: { kind: 'DaemonSet' } }
    const statuses = await statusesDuring(await reachGateway(), async () => {
      await switchTo(asDaemonSet, 'Deployment')
      await deploy({ ...asDaemonSet, logging: { level: 'debug' } })
      await waitForRollout('daemonset/edge')
      await switchTo({}, 'DaemonSet')
    })
    assert.deepEqual(new Set(statuses), new Set([207]))
  })
})
