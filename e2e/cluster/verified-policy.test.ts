import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { crdFiles } from '../../packages/translate/src/generate/crds.ts'
import { type Bed, startBed } from './bed/bed.ts'
import { withoutCrds } from './bed/programs.ts'
import { startController } from './own-controller.ts'

const PATIENCE_MS = 60_000
const GROUP = 'gateway.networking.k8s.io'
const root = new URL('../../', import.meta.url)

describe('a GwPolicy with tests before a real API server', { skip: withoutCrds }, () => {
  let bed: Bed
  let end = async (): Promise<void> => undefined
  before(async () => {
    bed = await startBed({ parts: 'api' })
    await bed.apply(...[...crdFiles().keys()].map((path) => readFileSync(new URL(path, root), 'utf8')))
    await bed.kubectl('wait', '--for=condition=Established', '--timeout=120s', 'crd', '--all')
    await bed.apply(...resources(), policy('GET'))
    end = await startController(bed)
  })
  after(async () => {
    await end()
    await bed.stop()
  })

  const statusOf = (path: string): Promise<string> =>
    bed.kubectl('get', 'gwpolicy', 'readers', '-o', `jsonpath=${path}`)

  const becomes = async (wanted: string): Promise<void> => {
    let found = ''
    await eventually(
      wanted,
      async () => (found = await statusOf('{range .status.conditions[*]}{.type}={.status}/{.reason}{end}')) === wanted,
      PATIENCE_MS,
    ).catch((error: unknown) => assert.fail(`${String(error)}; found ${found}`))
  }

  it('is verified when its tests pass', async () => {
    await becomes('Verified=True/Verified')
    assert.equal(await statusOf('{.status.verified.generation}'), '1')
  })

  it('keeps the spec that passed when the tests of a new one fail, also after a restart of the controller', async () => {
    await bed.apply(policy('POST'))
    await becomes('Verified=False/TestsFailed')
    const message = await statusOf('{.status.conditions[0].message}')
    assert.match(
      message,
      /the test "guests may read" failed: .*expected 200, found 403.*; generation 1 stays in force$/s,
    )
    await end()
    end = await startController(bed)
    await becomes('Verified=False/TestsFailed')
    assert.equal(await statusOf('{.status.verified.generation}'), '1')
    assert.match(await statusOf('{.status.verified.spec}'), /request\.method == \\?"GET\\?"/)
  })

  it('applies again when its tests are mended', async () => {
    await bed.apply(testsOf('POST'))
    await becomes('Verified=True/Verified')
    assert.equal(await statusOf('{.status.verified.generation}'), '2')
  })
})

function object(apiVersion: string, kind: string, name: string, rest: object): object {
  return { apiVersion, kind, metadata: { name, namespace: 'default' }, ...rest }
}

/** A policy that allows one method. */
function policy(method: string): object {
  const authorization = { policy: { matchExpressions: [`request.method == "${method}"`] } }
  return object('portico.dev/v1alpha1', 'GwPolicy', 'readers', {
    spec: {
      targetRefs: [{ group: GROUP, kind: 'HTTPRoute', name: 'cart' }],
      traffic: { authorization },
      verify: { tests: { configMap: { name: 'readers' } } },
    },
  })
}

/** Tests that pass for a policy which allows this method. */
function testsOf(method: string): object {
  const tests = [
    'world: { upstreams: { "cart.default.svc.cluster.local:80": { body: ok } } }',
    'tests:',
    `- { name: guests may read, send: ${method} /cart, expect: { status: 200 } }`,
  ]
  return object('v1', 'ConfigMap', 'readers', { data: { 'tests.yaml': tests.join('\n') } })
}

function resources(): object[] {
  return [
    {
      apiVersion: `${GROUP}/v1`,
      kind: 'GatewayClass',
      metadata: { name: 'portico' },
      spec: { controllerName: 'portico.dev/gateway' },
    },
    object(`${GROUP}/v1`, 'Gateway', 'web', {
      spec: { gatewayClassName: 'portico', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
    }),
    object('v1', 'Service', 'cart', { spec: { ports: [{ port: 80 }] } }),
    object(`${GROUP}/v1`, 'HTTPRoute', 'cart', {
      spec: { parentRefs: [{ name: 'web' }], rules: [{ backendRefs: [{ name: 'cart', port: 80 }] }] },
    }),
    testsOf('GET'),
  ]
}
