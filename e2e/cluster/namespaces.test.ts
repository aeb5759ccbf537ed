import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { type Bed, startBed } from './bed/bed.ts'
import { withoutBed, withoutHelm } from './bed/programs.ts'
import { helm, NAMESPACE } from './chart.ts'
import { ownImages, rolledOut } from './installed.ts'

const TIMEOUT = '--timeout=300s'
const PATIENCE_MS = 120_000
const ROLE = 'portico-controller-gateways'

/** A Gateway with a route that answers by itself. */
const gateway = (namespace: string): string => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: ${namespace} }
spec:
  gatewayClassName: portico
  listeners: [{ name: http, port: 80, protocol: HTTP }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: hello, namespace: ${namespace} }
spec:
  parentRefs: [{ name: edge }]
  rules: [{ matches: [{ path: { type: PathPrefix, value: / } }] }]
---
apiVersion: portico.dev/v1alpha1
kind: GwPolicy
metadata: { name: hello, namespace: ${namespace} }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: hello }]
  traffic:
    directResponse: { status: 200, body: "hello from ${namespace}" }
`

describe('a controller with rights in some namespaces', { skip: withoutBed || withoutHelm }, () => {
  let bed: Bed
  before(async () => {
    bed = await startBed({ gatewayApi: 'standard', images: ownImages() })
    for (const name of [NAMESPACE, 'shop', 'bank', 'other']) await bed.kubectl('create', 'namespace', name)
    await helmHere('upgrade', '--install', 'portico-crds', 'helm/portico-crds')
    const place = ['--namespace', NAMESPACE, '--wait', '--timeout', '5m']
    await helmHere('install', 'portico', 'helm/portico', ...place, '--set-json', 'namespaces=["shop","bank"]')
  })
  after(async () => bed.stop())

  const helmHere = async (...args: string[]): Promise<void> => {
    const { ok, stderr } = await helm('--kubeconfig', bed.kubeconfig, ...args)
    assert.ok(ok, stderr)
  }
  const conditionOf = (namespace: string, type: string): Promise<string> => {
    const [start, end] = [`{.status.conditions[?(@.type=="${type}")]`, '}']
    const path = `jsonpath=${start}.status${end} ${start}.reason${end} ${start}.message${end}`
    return bed.kubectl('-n', namespace, 'get', 'gateway', 'edge', '-o', path)
  }
  const hello = async (namespace: string): Promise<string> => {
    const path = 'jsonpath={.status.addresses[0].value}'
    const address = await bed.kubectl('-n', namespace, 'get', 'gateway', 'edge', '-o', path)
    return (await fetch(`http://127.0.0.1:${await bed.reach(address, 80)}/`)).text()
  }
  const may = async (...question: string[]): Promise<boolean> => {
    const as = `--as=system:serviceaccount:${NAMESPACE}:portico-controller`
    return bed.kubectl('auth', 'can-i', ...question, as).then(
      () => true,
      () => false,
    )
  }

  it('serves the Gateway of a namespace of the list, and tells that of another why it does not', async () => {
    await bed.apply(gateway('other'))
    await bed.apply(gateway('shop'))
    await bed.kubectl('-n', 'shop', 'wait', '--for=condition=Programmed', TIMEOUT, 'gateway/edge')
    assert.equal(await hello('shop'), 'hello from shop')
    const told = async (): Promise<boolean> => (await conditionOf('other', 'Accepted')).startsWith('False')
    await eventually('the other Gateway is told', told, PATIENCE_MS)
    const message = 'The controller has no rights in namespace other: it is not in the list of namespaces'
    assert.equal(await conditionOf('other', 'Accepted'), `False NamespaceNotServed ${message}`)
    assert.equal(await conditionOf('other', 'Programmed'), `False NamespaceNotServed ${message}`)
    assert.equal(await bed.kubectl('-n', 'other', 'get', 'deployments,services,secrets', '-o', 'name'), '')
  })

  it('may do nothing elsewhere', async () => {
    assert.equal(await may('create', 'deployments.apps', '-n', 'shop'), true)
    for (const verb of ['get', 'list', 'create', 'patch', 'delete']) {
      for (const kind of ['secrets', 'serviceaccounts', 'deployments.apps']) {
        assert.equal(await may(verb, kind, '-n', 'other'), false, `${verb} ${kind}`)
        assert.equal(await may(verb, kind, '-A'), false, `${verb} ${kind} everywhere`)
      }
    }
    assert.equal(await may('list', 'secrets', '-n', NAMESPACE), false)
  })

  it('goes on without a namespace of the list whose rights are gone, and serves it when they are back', async () => {
    const { rules } = JSON.parse(await bed.kubectl('-n', 'bank', 'get', 'role', ROLE, '-o', 'json')) as {
      rules: object
    }
    await bed.kubectl('-n', 'bank', 'delete', 'role', ROLE)
    await bed.kubectl('-n', NAMESPACE, 'rollout', 'restart', 'deployment/portico-controller')
    await rolledOut(bed, NAMESPACE, 'portico-controller')
    await bed.apply(gateway('bank'))
    const isDenied = async (): Promise<boolean> =>
      /^False NamespaceNotServed The controller lacks rights in namespace bank: .*403/.test(
        await conditionOf('bank', 'Accepted'),
      )
    await eventually('the Gateway of bank is told', isDenied, PATIENCE_MS)
    // Others are served as before, and follow changes.
    await bed.apply(gateway('shop').replace('hello from shop', 'changed'))
    await eventually('a change is live', async () => (await hello('shop')) === 'changed', PATIENCE_MS)
    await bed.apply({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: ROLE, namespace: 'bank' },
      rules,
    })
    await bed.kubectl('-n', 'bank', 'wait', '--for=condition=Programmed', TIMEOUT, 'gateway/edge')
    assert.equal(await hello('bank'), 'hello from bank')
  })
})
