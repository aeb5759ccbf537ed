import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { it } from 'node:test'
import { groupByKind, type Resource } from '@portico/translate'
import { parseAllDocuments } from 'yaml'
import { listAt, textAt, valueAt } from '@portico/translate/json'
import { apiByKind } from './deploy/objects.ts'
import { options } from './options.ts'
import { parseCommand } from './settings.ts'
import { PODS, watchedKinds } from './watch/watched-kinds.ts'

const text = readFileSync(new URL('../../../deploy/install.yaml', import.meta.url), 'utf8')
const install = parseAllDocuments(text.slice(text.indexOf('# Source: portico/templates'))).map(
  (document) => document.toJS() as Resource,
)

it('install.yaml contains the current definitions; otherwise run `npm run install-yaml`', () => {
  const folder = new URL('../../../deploy/crds/', import.meta.url)
  const files = readdirSync(folder)
  assert.equal(files.length, 5)
  for (const file of files)
    assert.ok(text.includes(readFileSync(new URL(file, folder), 'utf8').trim()), `${file} is stale`)
})

it('the controller has the rights it needs, and no others', () => {
  assert.deepEqual(rightsOf('ClusterRole'), [...neededEverywhere()].toSorted())
  // The namespace of the controller need not be one of the namespaces that it serves.
  assert.deepEqual(rightsOf('Role'), [
    '/secrets create',
    '/secrets/portico-controller-ca get',
    '/secrets/portico-controller-ca update',
    'coordination.k8s.io/leases create',
    'coordination.k8s.io/leases/portico-controller get',
    'coordination.k8s.io/leases/portico-controller update',
    'discovery.k8s.io/endpointslices list',
    'discovery.k8s.io/endpointslices watch',
    'portico.dev/gwparameters list',
    'portico.dev/gwparameters watch',
  ])
})

it('the controller reads every variable of its Deployment, and listens on the ports of its probes', () => {
  const [container] = listAt(find('Deployment').spec, 'template', 'spec', 'containers')
  const env = listAt(container, 'env').map((one) => [textAt(one, 'name') ?? '', textAt(one, 'value') ?? 'x'])
  const ofAllocator = ['MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_', 'MALLOC_TRIM_THRESHOLD_']
  const known = new Set<string>([...Object.values(options).map(({ variable }) => variable), 'POD_NAME', ...ofAllocator])
  assert.deepEqual(
    env.map(([name = '']) => name).filter((name) => !known.has(name)),
    [],
  )
  const command = parseCommand([], Object.fromEntries(env) as Record<string, string>)
  assert.ok(command.kind === 'run')
  const { streamAddress, healthAddress, controllerAddress } = command.settings
  const portOf = (name: string): string =>
    String(
      listAt(container, 'ports').flatMap((one) => (valueAt(one, 'name') === name ? valueAt(one, 'containerPort') : [])),
    )
  assert.ok(streamAddress.endsWith(`:${portOf('stream')}`), streamAddress)
  assert.ok(healthAddress.endsWith(`:${portOf('metrics')}`), healthAddress)
  assert.equal(controllerAddress, `${find('Service').metadata.name}.x.svc:9978`)
})

/** Rights as `group/resource verb`. */
function neededEverywhere(): Set<string> {
  const needed = new Set([
    'authentication.k8s.io/tokenreviews create',
    '/events create',
    '/events patch',
    'gateway.networking.k8s.io/gateways/finalizers update',
    'portico.dev/gwparameters/finalizers update',
  ])
  const add = (resource: string, ...verbs: string[]): void => verbs.forEach((verb) => needed.add(`${resource} ${verb}`))
  for (const { kind, plural } of [...watchedKinds, PODS]) {
    const resource = `${groupByKind[kind]}/${plural}`
    add(resource, 'list', 'watch')
    if (!withoutStatus.has(kind)) {
      add(resource, 'get')
      add(`${resource}/status`, 'patch')
    }
  }
  for (const { group, plural } of Object.values(apiByKind))
    add(`${group}/${plural}`, 'get', 'list', 'watch', 'create', 'patch', 'delete')
  return needed
}

const withoutStatus: ReadonlySet<string> = new Set([
  'ReferenceGrant',
  'Service',
  'ServiceImport',
  'EndpointSlice',
  'Secret',
  'ConfigMap',
  'ClusterTrustBundle',
  'Pod',
  'Namespace',
  'GwParameters',
])

function find(kind: string): Resource {
  return install.find((object) => object.kind === kind) ?? assert.fail(kind)
}

function rightsOf(kind: 'ClusterRole' | 'Role'): string[] {
  const role = find(kind)
  const rights = listAt(role, 'rules').flatMap((rule) => {
    const names = listAt(rule, 'resourceNames').map((name) => `/${String(name)}`)
    return listAt(rule, 'apiGroups').flatMap((group) =>
      listAt(rule, 'resources').flatMap((resource) =>
        (names.length === 0 ? [''] : names).flatMap((name) =>
          listAt(rule, 'verbs').map((verb) => `${String(group)}/${String(resource)}${name} ${String(verb)}`),
        ),
      ),
    )
  })
  assert.equal(textAt(role, 'metadata', 'name'), 'portico-controller')
  return rights.toSorted()
}
