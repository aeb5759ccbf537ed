import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { groupByKind, type Resource } from '@portico/translate'
import { parseAllDocuments } from 'yaml'
import { listAt, textAt } from './deploy/json.ts'
import { apiByKind } from './deploy/objects.ts'
import { watchedKinds } from './watch/watched-kinds.ts'

const text = readFileSync(new URL('../../../deploy/install.yaml', import.meta.url), 'utf8')
const install = parseAllDocuments(text.slice(text.indexOf('# Source: portico/templates'))).map(
  (document) => document.toJS() as Resource,
)

it('the controller may do what it does, and nothing else', () => {
  assert.deepEqual(rightsOf('ClusterRole'), [...neededEverywhere()].toSorted())
  assert.deepEqual(rightsOf('Role'), [
    '/secrets/portico-controller-ca update',
    'coordination.k8s.io/leases create',
    'coordination.k8s.io/leases/portico-controller get',
    'coordination.k8s.io/leases/portico-controller update',
  ])
})

/** Each as `group/resource verb`. */
function neededEverywhere(): Set<string> {
  const needed = new Set([
    'authentication.k8s.io/tokenreviews create',
    '/events create',
    '/events patch',
    'gateway.networking.k8s.io/gateways/finalizers update',
  ])
  const add = (resource: string, ...verbs: string[]): void => verbs.forEach((verb) => needed.add(`${resource} ${verb}`))
  for (const { kind, plural } of watchedKinds) {
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
  'EndpointSlice',
  'Secret',
  'ConfigMap',
  'Namespace',
  'GwParameters',
])

function rightsOf(kind: 'ClusterRole' | 'Role'): string[] {
  const role = install.find((object) => object.kind === kind)
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
