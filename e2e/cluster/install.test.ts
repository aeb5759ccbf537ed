import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { valueAt } from '../../packages/translate/src/resources/json.ts'
import { type Bed, startBed } from './bed/bed.ts'
import { versionOf, withoutBed, withoutHelm } from './bed/programs.ts'
import { DEPLOY, helm, NAMESPACE } from './chart.ts'
import { ownImages } from './installed.ts'

const INSTALL = join(DEPLOY, 'install.yaml')
/** The number of our kinds. */
const OWN_CRDS = readdirSync(join(DEPLOY, 'crds')).length
const TIMEOUT = '--timeout=300s'
const page = readFileSync(new URL('../../docs/install.md', import.meta.url), 'utf8')

describe('installed objects, with a real API server', { skip: withoutBed }, () => {
  let bed: Bed
  before(async () => {
    bed = await startBed({ parts: 'api', gatewayApi: 'standard' })
  })
  after(async () => bed.stop())

  it('is of the Gateway API that the page names', () => {
    assert.ok(page.includes(`/releases/download/${versionOf('conformance', 'sigs.k8s.io/gateway-api')}/`))
  })

  it('is taken as it is, and then nothing differs', async () => {
    await patiently(() => bed.kubectl('apply', '-f', INSTALL))
    const again = (await patiently(() => bed.kubectl('apply', '-f', INSTALL))).trim().split('\n')
    assert.equal(again.length, readFileSync(INSTALL, 'utf8').match(/^kind: /gm)?.length)
    assert.deepEqual(
      again.filter((line) => !line.endsWith(' unchanged')),
      [],
    )
  })

  it('gets a registry by the customization of the page', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'portico-install-'))
    t.after(() => rmSync(folder, { recursive: true }))
    copyFileSync(INSTALL, join(folder, 'install.yaml'))
    writeFileSync(join(folder, 'kustomization.yaml'), exampleOf('kind: Kustomization\n'))
    const printed = await bed.kubectl('kustomize', folder)
    assert.match(printed, /^ +image: registry\.example\/portico-controller:\d/m)
    assert.match(printed, /- name: PROXY_IMAGE\n +value: registry\.example\/portico\n/)
  })

  it('lets the controller do what it has to, and nothing more', async () => {
    const wrong: string[] = []
    for (const [expected, asked] of [
      ['yes', MAY],
      ['no', MAY_NOT],
    ] as const) {
      for (const question of asked) {
        const found = await isAllowed(bed, question)
        if (found !== (expected === 'yes')) wrong.push(`${question}: expected ${expected}`)
      }
    }
    assert.deepEqual(wrong, [])
    // kubectl says the same.
    const as = `--as=system:serviceaccount:${NAMESPACE}:portico-controller`
    assert.equal((await bed.kubectl('auth', 'can-i', 'list', 'httproutes', '-A', as)).trim(), 'yes')
    await assert.rejects(bed.kubectl('auth', 'can-i', 'create', 'pods/exec', '-A', as))
  })

  it('goes as it came', async () => {
    await bed.kubectl('delete', '--wait=false', '-f', INSTALL)
    assert.equal((await bed.kubectl('get', 'clusterroles,gatewayclasses', '-o', 'name')).includes('portico'), false)
  })
})

describe('the charts in a cluster', { skip: withoutBed || withoutHelm }, () => {
  let bed: Bed
  before(async () => {
    bed = await startBed({ gatewayApi: 'standard', images: ownImages() })
  })
  after(async () => bed.stop())

  const helmHere = async (...args: string[]): Promise<string> => {
    const { ok, stdout, stderr } = await helm('--kubeconfig', bed.kubeconfig, ...args)
    assert.ok(ok, stderr)
    return stdout
  }
  const crds = ['portico-crds', 'helm/portico-crds']
  const controller = ['portico', 'helm/portico', '--namespace', NAMESPACE, '--wait', '--timeout', '5m']
  const get = (...args: string[]): Promise<string> => bed.kubectl('get', '-n', NAMESPACE, '-o', 'name', ...args)

  it('install two controllers, whose class has parameters', async () => {
    await patiently(() => helmHere('upgrade', '--install', ...crds))
    await bed.kubectl('create', 'namespace', NAMESPACE)
    await bed.apply({
      apiVersion: 'portico.dev/v1alpha1',
      kind: 'GwParameters',
      metadata: { name: 'defaults', namespace: NAMESPACE },
      spec: { deployment: { metadata: { labels: { tier: 'edge' } } } },
    })
    const values = ['replicas=2', 'gatewayClass.parametersRef.name=defaults', 'networkPolicy.enabled=true']
    const said = await helmHere('install', ...controller, ...values.flatMap((value) => ['--set', value]))
    assert.match(said, /Gateways of the class portico are served/)
    assert.match(await get('poddisruptionbudgets'), /portico-controller/)
    await bed.apply(exampleOf('kind: Gateway\n'))
    await bed.kubectl('wait', '--for=condition=Programmed', TIMEOUT, 'gateway/edge')
    assert.equal(await bed.kubectl('get', 'deployments', '-l', 'tier=edge', '-o', 'name'), 'deployment.apps/edge\n')
  })

  it('are upgraded and uninstalled, and the kinds and the data planes stay', async () => {
    await patiently(() => helmHere('upgrade', ...crds))
    await helmHere('upgrade', ...controller, '--reuse-values', '--set', 'logging.level=debug')
    await helmHere('uninstall', 'portico', '--namespace', NAMESPACE, '--wait')
    await helmHere('uninstall', 'portico-crds')
    assert.equal(await get('deployments,poddisruptionbudgets,networkpolicies,roles'), '')
    assert.equal((await get('crds')).split('\n').filter((name) => name.includes('portico.dev')).length, OWN_CRDS)
    assert.equal(await hello(bed), 'hello from the edge\n')
  })
})

describe('a whole installation', { skip: withoutBed }, () => {
  let bed: Bed
  before(async () => {
    bed = await startBed({ gatewayApi: 'standard', images: ownImages() })
  })
  after(async () => bed.stop())

  it('serves the first Gateway of the page', async () => {
    await patiently(() => bed.kubectl('apply', '-f', INSTALL))
    await bed.kubectl('-n', NAMESPACE, 'rollout', 'status', 'deployment/portico-controller', TIMEOUT)
    await bed.kubectl('wait', '--for=condition=Accepted', TIMEOUT, 'gatewayclass/portico')
    await bed.kubectl('label', 'namespace', 'default', 'pod-security.kubernetes.io/enforce=restricted')
    await bed.apply(exampleOf('kind: Gateway\n'))
    await bed.kubectl('wait', '--for=condition=Programmed', TIMEOUT, 'gateway/edge')
    assert.equal(await hello(bed), 'hello from the edge\n')
  })

  it('goes with its class first, and its data planes go on', async () => {
    const service = ['-n', NAMESPACE, 'get', 'service', 'portico-controller']
    const own = await bed.kubectl(...service, '-o', 'jsonpath={.spec.clusterIP}')
    const metrics = `http://127.0.0.1:${await bed.reach(own, 9979)}/metrics`
    await bed.kubectl('delete', 'gatewayclass', 'portico')
    const isClassless = async (): Promise<boolean> =>
      /^portico_controller_gateways 0$/m.test(await (await fetch(metrics)).text())
    await eventually('the class is gone for the controller', isClassless, 120_000)
    await bed.kubectl('-n', NAMESPACE, 'delete', 'deployment', 'portico-controller', '--wait=true')
    assert.match(await bed.kubectl('get', 'deployments', '-o', 'name'), /deployment\.apps\/edge/)
    assert.equal(await hello(bed), 'hello from the edge\n')
  })
})

/** The response of the first Gateway of the page. */
async function hello(bed: Bed): Promise<string> {
  const address = await bed.kubectl('get', 'gateway', 'edge', '-o', 'jsonpath={.status.addresses[0].value}')
  const answer = await fetch(`http://127.0.0.1:${await bed.reach(address, 80)}/hello`)
  assert.equal(answer.status, 200)
  return answer.text()
}

/** The YAML of the page that has this in it. */
function exampleOf(text: string): string {
  const examples = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, example = '']) => example)
  return examples.find((example) => example.includes(text)) ?? assert.fail(`no example with ${text}`)
}

/** The kinds have many rules: on a machine that does much else the server checks them for longer than it gives a request. */
async function patiently(act: () => Promise<string>): Promise<string> {
  for (let left = 5; ; left--) {
    try {
      return await act()
    } catch (error) {
      if (left === 0 || !/timeout|deadline/i.test(String(error))) throw error
    }
  }
}

/** `verb group/resource[/part] [namespace[/name]]`. */
async function isAllowed(bed: Bed, question: string): Promise<boolean> {
  const [verb = '', what = '', where = ''] = question.split(' ')
  const [group = '', resource = '', subresource] = what.split('/')
  const [namespace, name] = where.split('/')
  const resourceAttributes = { verb, group, resource, subresource, namespace, name }
  const answer = await bed.client.ask({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: `system:serviceaccount:${NAMESPACE}:portico-controller`,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, 'system:authenticated'],
        resourceAttributes,
      },
    },
  })
  return valueAt(answer, 'status', 'allowed') === true
}

const GATEWAY_KINDS = [
  'gatewayclasses',
  'gateways',
  'listenersets',
  'httproutes',
  'grpcroutes',
  'tlsroutes',
  'tcproutes',
  'udproutes',
  'backendtlspolicies',
].map((plural) => `gateway.networking.k8s.io/${plural}`)
const OWN_KINDS = [
  'portico.dev/gwbackends',
  'portico.dev/gwfilters',
  'portico.dev/gwmodels',
  'portico.dev/gwpolicies',
  'gateway.networking.x-k8s.io/xlistenersets',
  'gateway.networking.x-k8s.io/xbackends',
  'gateway.networking.x-k8s.io/xbackendtrafficpolicies',
  'gateway.networking.x-k8s.io/xtelemetrypolicies',
  'inference.networking.k8s.io/inferencepools',
]
const DEPLOYED_KINDS = [
  '/serviceaccounts',
  '/configmaps',
  '/secrets',
  '/services',
  'apps/daemonsets',
  'apps/deployments',
  'policy/poddisruptionbudgets',
  'autoscaling/horizontalpodautoscalers',
]
const READ_KINDS = [
  '/namespaces',
  'discovery.k8s.io/endpointslices',
  'gateway.networking.k8s.io/referencegrants',
  'multicluster.x-k8s.io/serviceimports',
  'portico.dev/gwparameters',
]
const each = (verbs: readonly string[], kinds: readonly string[], where = ''): string[] =>
  kinds.flatMap((kind) => verbs.map((verb) => `${verb} ${kind}${where}`))

const MAY = [
  // Pods say which endpoints are workloads of a mesh.
  ...each(['list', 'watch'], ['/pods']),
  ...each(['list', 'watch'], [...GATEWAY_KINDS, ...OWN_KINDS, ...READ_KINDS]),
  ...each(
    ['patch'],
    [...GATEWAY_KINDS, ...OWN_KINDS].map((kind) => `${kind}/status`),
    ' shop',
  ),
  ...each(['get', 'list', 'watch', 'create', 'patch', 'delete'], DEPLOYED_KINDS, ' shop'),
  ...each(['create', 'patch'], ['/events'], ' shop'),
  'create authentication.k8s.io/tokenreviews',
  'update gateway.networking.k8s.io/gateways/finalizers shop',
  'update portico.dev/gwparameters/finalizers shop',
  `create coordination.k8s.io/leases ${NAMESPACE}`,
  ...each(['get', 'update'], ['coordination.k8s.io/leases'], ` ${NAMESPACE}/portico-controller`),
  ...each(['get', 'update'], ['/secrets'], ` ${NAMESPACE}/portico-controller-ca`),
]

const MAY_NOT = [
  // Resources of users, which the controller must not write.
  ...each(['create', 'update', 'patch', 'delete'], [...GATEWAY_KINDS, ...OWN_KINDS, ...READ_KINDS], ' shop'),
  ...each(
    ['update'],
    [...GATEWAY_KINDS, ...OWN_KINDS].map((kind) => `${kind}/status`),
    ' shop',
  ),
  ...each(['update', 'deletecollection'], DEPLOYED_KINDS, ' shop'),
  'update /secrets kube-system/bootstrap',
  `update /secrets ${NAMESPACE}/another`,
  // Ways to other machines and to other rights.
  ...each(['get', 'create', 'delete'], ['/pods'], ' kube-system'),
  ...each(['get', 'list', 'watch', 'create', 'delete'], ['/nodes', '/persistentvolumes'], ' kube-system'),
  ...each(['create', 'get'], ['/pods/exec', '/pods/attach', '/pods/portforward', '/nodes/proxy'], ' kube-system'),
  ...each(['get'], ['/pods/log'], ' kube-system'),
  'create /serviceaccounts/token kube-system',
  ...each(['impersonate'], ['/users', '/groups', '/serviceaccounts']),
  ...each(
    ['get', 'create', 'update', 'patch', 'bind', 'escalate'],
    ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'].map((name) => `rbac.authorization.k8s.io/${name}`),
  ),
  ...each(['create', 'update', 'patch', 'delete'], ['apiextensions.k8s.io/customresourcedefinitions']),
  ...each(['create', 'update'], ['admissionregistration.k8s.io/validatingwebhookconfigurations']),
  ...each(['create', 'patch'], ['apps/statefulsets', 'batch/jobs', 'batch/cronjobs'], ' shop'),
  // Its Lease and its authority are in its own namespace.
  ...each(['create', 'get', 'update'], ['coordination.k8s.io/leases'], ' shop'),
  ...each(['get', 'update'], ['coordination.k8s.io/leases'], ' kube-system/kube-controller-manager'),
  ...each(['list', 'delete'], ['coordination.k8s.io/leases'], ` ${NAMESPACE}`),
]
