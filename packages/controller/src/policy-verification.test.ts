import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Ir } from '@portico/gateway/ir'
import { runPolicyTests } from '@portico/gateway/policy-tests/run'
import type { Resource } from '@portico/translate'
import { listAt, textAt, valueAt } from '@portico/translate/json'
import { type ControllerScene, findCondition, route, slice, useController } from './testing/controller-scene.ts'
import { eventually } from './testing/eventually.ts'
import type { PolicyVerifierOptions } from './verify/policy-verifier.ts'

/** Tests run in this thread, on a copy of the configs, which they change. */
const testPolicy: PolicyVerifierOptions['test'] = (job) => runPolicyTests(structuredClone(job))

const POLICY = '/apis/portico.dev/v1alpha1/namespaces/shop/gwpolicies/readers'
const CONFIG_MAP = '/api/v1/namespaces/shop/configmaps/readers'

const PASSING = `world: { upstreams: { "cart.shop.svc.cluster.local:80": { body: ok } } }
tests:
- name: guests may not write
  given: { address: 10.0.0.1 }
  send: POST /
  expect: { status: 403 }
`

/** The first version has a generation of 1. */
function policy(generation: number, methods: string, verify: object | null = TESTS): Resource {
  const authorization = { policy: { matchExpressions: [`request.method in ${methods}`] } }
  const targetRefs = [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'cart' }]
  return {
    apiVersion: 'portico.dev/v1alpha1',
    kind: 'GwPolicy',
    metadata: { namespace: 'shop', name: 'readers', generation },
    spec: { targetRefs, traffic: { authorization }, ...(verify !== null && { verify }) },
  }
}

const TESTS = { tests: { configMap: { name: 'readers', key: 'tests.yaml' } } }
const READ = '["GET"]'
const ALL = '["GET", "POST"]'

function tests(text: string): Resource {
  const metadata = { namespace: 'shop', name: 'readers' }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'tests.yaml': text } }
}

function verified({ api }: ControllerScene): string {
  const found = findCondition(api, POLICY, 'Verified')
  return `${textAt(found, 'status')} ${textAt(found, 'reason')} ${String(valueAt(found, 'observedGeneration'))}`
}

function message({ api }: ControllerScene): string {
  return textAt(findCondition(api, POLICY, 'Verified'), 'message') ?? ''
}

/** The methods that the published config allows; null when it has no rules. */
function allowed({ published }: ControllerScene): string | null {
  return /request\.method in (\[.*?\])/.exec(rulesIn(published.at(-1)).replaceAll('\\"', '"'))?.[1] ?? null
}

function rulesIn(ir: Ir | undefined): string {
  return JSON.stringify((ir?.policies ?? []).map(({ traffic }) => traffic?.authorization ?? null))
}

/** Puts a new spec and keeps the status, as the API server does. */
function edit({ api }: ControllerScene, next: Resource): void {
  api.put({ ...next, status: api.get(POLICY)?.status })
}

async function useVerified(t: Parameters<typeof useController>[0]): Promise<ControllerScene> {
  const scene = await useController(t, { testPolicy })
  scene.api.put(tests(PASSING))
  scene.api.put(policy(1, READ))
  scene.controller.lead()
  scene.start()
  await eventually('the first spec is verified', () => verified(scene) === 'True Verified 1')
  await eventually('and in force', () => allowed(scene) === READ)
  return scene
}

describe('a GwPolicy with tests', () => {
  it('applies when its tests pass; a spec that fails them leaves the last one in force', async (t) => {
    const scene = await useVerified(t)
    assert.equal(message(scene), '1 test passed at Gateway shop/web')
    edit(scene, policy(2, ALL))
    await eventually('it is rejected', () => verified(scene) === 'False TestsFailed 2')
    assert.match(
      message(scene),
      /^at Gateway shop\/web: ConfigMap shop\/readers tests\.yaml:3:9: the test "guests may not write" failed: POST \/: status: expected 403, found 200.*; generation 1 stays in force$/,
    )
    assert.equal(allowed(scene), READ)
    const [ancestor] = listAt(scene.api.get(POLICY)?.status, 'ancestors')
    assert.deepEqual(
      listAt(ancestor, 'conditions').map((each) => valueAt(each, 'observedGeneration')),
      [1, 1],
    )
    edit(scene, policy(3, '["GET", "HEAD"]'))
    await eventually('the next one is verified', () => verified(scene) === 'True Verified 3')
    await eventually('and in force', () => allowed(scene) === '["GET", "HEAD"]')
    edit(scene, policy(4, ALL, null))
    await eventually('without tests it applies at once', () => allowed(scene) === ALL)
    await eventually('and has no verification', () => valueAt(scene.api.get(POLICY)?.status, 'verified') === undefined)
    assert.equal(findCondition(scene.api, POLICY, 'Verified'), undefined)
  })

  it('leaves changes of others alone while it is rejected, and is tested again when a config changes', async (t) => {
    const scene = await useVerified(t)
    edit(scene, policy(2, ALL))
    await eventually('it is rejected', () => verified(scene) === 'False TestsFailed 2')
    scene.api.put(slice('10.0.0.8'))
    await eventually('the address is published', () => JSON.stringify([...scene.reached]).includes('10.0.0.8'))
    scene.api.put(route('/other'))
    await eventually('the route is published', () => JSON.stringify(scene.published.at(-1)).includes('/other'))
    assert.equal(allowed(scene), READ)
    await eventually('the tests ran again', () => /expected 403, found 404/.test(message(scene)))
    scene.api.put(tests(PASSING.replace('403', '404')))
    await eventually('other tests pass', () => verified(scene) === 'True Verified 2')
    await eventually('it is in force', () => allowed(scene) === ALL)
  })

  it('is closed until its first tests have passed, and the status says why they cannot run', async (t) => {
    const scene = await useController(t, { testPolicy })
    scene.api.put(policy(1, READ))
    scene.controller.lead()
    scene.start()
    await eventually('they are missing', () => verified(scene) === 'False TestsNotFound 1')
    assert.equal(
      message(scene),
      'ConfigMap shop/readers not found; no spec is in force, and fields that guard access are closed',
    )
    assert.equal(rulesIn(scene.published.at(-1)).includes('"expression":"true"'), true)
    scene.api.put(tests('tests:\n- { name: broken, sends: GET / }\n'))
    await eventually('they are broken', () => verified(scene) === 'False TestsInvalid 1')
    assert.match(message(scene), /^ConfigMap shop\/readers tests\.yaml:2:\d+: .*sends/)
    scene.api.put(tests(PASSING))
    await eventually('they pass', () => verified(scene) === 'True Verified 1')
    await eventually('it is in force', () => allowed(scene) === READ)
    scene.api.drop(CONFIG_MAP)
    await eventually('they are gone', () => verified(scene) === 'False TestsNotFound 1')
    assert.equal(allowed(scene), READ)
  })

  it('keeps the spec of before when tests are added to a policy', async (t) => {
    const scene = await useController(t, { testPolicy })
    scene.api.put(policy(1, READ, null))
    scene.controller.lead()
    scene.start()
    await eventually('it is in force', () => allowed(scene) === READ)
    const before = scene.published.length
    edit(scene, policy(2, ALL))
    await eventually('the tests are missing', () => verified(scene) === 'False TestsNotFound 2')
    assert.match(message(scene), /generation 1 stays in force$/)
    assert.equal(scene.published.length, before)
    scene.api.put(tests(PASSING))
    await eventually('they fail', () => verified(scene) === 'False TestsFailed 2')
    assert.equal(allowed(scene), READ)
  })

  it('keeps its spec over a restart, and a follower runs no tests', async (t) => {
    const first = await useVerified(t)
    edit(first, policy(2, ALL))
    await eventually('it is rejected', () => verified(first) === 'False TestsFailed 2')
    const restarted = await useController(t, { testPolicy })
    restarted.api.put(tests(PASSING))
    restarted.api.put({ ...policy(2, ALL), status: first.api.get(POLICY)?.status })
    restarted.start()
    await eventually('it is published', () => restarted.published.length > 0)
    assert.equal(allowed(restarted), READ)
    assert.equal(verified(restarted), 'False TestsFailed 2')
    restarted.api.put(tests(PASSING.replace('403', '200')))
    restarted.controller.lead()
    await eventually('the leader tests', () => verified(restarted) === 'True Verified 2')
  })
})
