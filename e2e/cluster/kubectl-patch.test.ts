import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { isObject } from '@portico/http/json'
import { type JsonObject, textAt } from '@portico/translate/json'
import type { PatchedKind } from '../../packages/controller/src/deploy/patch/rules.ts'
import { strategicMerge } from '../../packages/controller/src/deploy/patch/strategic-merge.ts'

/** kubectl is the oracle, except where the comment of `strategicMerge` documents a difference. */

const apiVersions: Record<PatchedKind, string> = {
  Deployment: 'apps/v1',
  DaemonSet: 'apps/v1',
  Service: 'v1',
  ServiceAccount: 'v1',
  PodDisruptionBudget: 'policy/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
}

const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
const kubectl = findKubectl()
const skip = kubectl === null ? 'there is no kubectl, neither in PATH nor in the cache of the bed' : false

describe('kubectl patch --local gives the same result', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-patch-'))
  after(() => rmSync(folder, { recursive: true }))

  const expectSame = (kind: PatchedKind, original: JsonObject, patch: JsonObject): void => {
    const object = { apiVersion: apiVersions[kind], kind, metadata: { name: 'a' }, ...original }
    const ours = strategicMerge(kind, object, patch)
    const theirs = patchByKubectl(object, patch, folder)
    if (!ours.ok)
      return assert.ok('problem' in theirs, `${ours.problems.join()}: kubectl has ${JSON.stringify(theirs)}`)
    assert.ok('value' in theirs, `kubectl says ${JSON.stringify(theirs)} of ${JSON.stringify({ object, patch })}`)
    assert.deepEqual(tidy(ours.value), tidy(theirs.value), JSON.stringify({ object, patch }))
  }

  const pod = (spec: JsonObject): JsonObject => ({ spec: { template: { spec } } })
  const cases: Record<string, [PatchedKind, JsonObject, JsonObject]> = {
    'lists of a pod': [
      'Deployment',
      pod({
        containers: [{ name: 'a', image: '1', args: ['x'] }],
        volumes: [{ name: 'v', emptyDir: {} }],
        imagePullSecrets: [{ name: 's' }],
        hostAliases: [{ ip: '10.0.0.1', hostnames: ['a'] }],
        topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 1 }],
        schedulingGates: [{ name: 'g' }],
        resourceClaims: [{ name: 'c', resourceClaimName: 'x' }],
        readinessGates: [{ conditionType: 'a' }],
        initContainers: [{ name: 'i', command: ['a'] }],
      }),
      pod({
        containers: [{ name: 'a', args: ['y'] }, { name: 'b' }],
        volumes: [{ name: 'v', emptyDir: { medium: 'Memory' } }, { name: 'w' }],
        imagePullSecrets: [{ name: 't' }],
        hostAliases: [{ ip: '10.0.0.1', hostnames: ['b'] }],
        topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 2 }, { topologyKey: 'node' }],
        schedulingGates: [{ name: 'h' }],
        resourceClaims: [
          { name: 'c', $retainKeys: ['name', 'resourceClaimTemplateName'], resourceClaimTemplateName: 't' },
        ],
        readinessGates: [{ conditionType: 'b' }],
        initContainers: [{ name: 'i', command: null, tty: true }],
      }),
    ],
    'lists of a container': [
      'Deployment',
      pod({
        containers: [
          {
            name: 'a',
            env: [{ name: 'A', value: '1' }],
            envFrom: [{ prefix: 'a' }],
            ports: [{ containerPort: 80 }],
            volumeMounts: [{ mountPath: '/a', name: 'v' }],
            volumeDevices: [{ devicePath: '/a', name: 'v' }],
            resources: { limits: { cpu: '1' }, claims: [{ name: 'a' }] },
          },
        ],
      }),
      pod({
        containers: [
          {
            name: 'a',
            env: [
              { name: 'A', $patch: 'delete' },
              { name: 'B', valueFrom: { fieldRef: { fieldPath: 'x' } } },
            ],
            envFrom: [{ prefix: 'b' }],
            ports: [{ containerPort: 80, name: 'p' }, { containerPort: 81 }],
            volumeMounts: [{ mountPath: '/a', readOnly: true }],
            volumeDevices: [{ devicePath: '/a', $patch: 'delete' }],
            resources: { limits: { cpu: null, memory: '1Gi' }, claims: [{ name: 'b' }] },
          },
        ],
      }),
    ],
    'strategy and selector of a Deployment': [
      'Deployment',
      {
        spec: {
          strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
          selector: { matchLabels: { a: '1' } },
        },
      },
      { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' }, selector: { matchLabels: { b: '2' } } } },
    ],
    'maps that are replaced': [
      'Deployment',
      pod({ securityContext: { runAsUser: 1 }, nodeSelector: { a: '1' } }),
      pod({ securityContext: { $patch: 'replace', fsGroup: 1 }, nodeSelector: { b: '2' } }),
    ],
    'a list that is replaced': [
      'Deployment',
      pod({ containers: [{ name: 'a' }, { name: 'b' }] }),
      pod({ containers: [{ $patch: 'replace' }, { name: 'c' }] }),
    ],
    'scalars that are taken out': [
      'Deployment',
      { ...pod({ containers: [{ name: 'a', args: ['x', 'y'] }] }), metadata: { name: 'a', finalizers: ['a', 'b'] } },
      {
        ...pod({ containers: [{ name: 'a', '$deleteFromPrimitiveList/args': ['x'] }] }),
        metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] },
      },
    ],
    'ports of a Service': [
      'Service',
      {
        spec: {
          ports: [
            { port: 80, name: 'a' },
            { port: 443, name: 'b' },
          ],
          selector: { a: '1' },
          externalIPs: ['10.0.0.1'],
        },
      },
      {
        spec: {
          ports: [
            { port: 80, $patch: 'delete' },
            { port: 443, nodePort: 3 },
          ],
          selector: { b: '2' },
          externalIPs: ['10.0.0.2'],
        },
      },
    ],
    'secrets of a ServiceAccount': [
      'ServiceAccount',
      { secrets: [{ name: 'a' }], imagePullSecrets: [{ name: 'a' }] },
      { secrets: [{ name: 'b' }], imagePullSecrets: [{ name: 'b' }] },
    ],
    'the selector of a PodDisruptionBudget': [
      'PodDisruptionBudget',
      { spec: { selector: { matchLabels: { a: '1' } }, minAvailable: 1 } },
      { spec: { selector: { matchLabels: { b: '2' } }, minAvailable: null, maxUnavailable: '50%' } },
    ],
    'metrics of a HorizontalPodAutoscaler': [
      'HorizontalPodAutoscaler',
      { spec: { metrics: [{ type: 'Resource' }], behavior: { scaleUp: { policies: [{ type: 'Pods', value: 1 }] } } } },
      { spec: { metrics: [{ type: 'Pods' }], behavior: { scaleUp: { policies: [{ type: 'Percent', value: 2 }] } } } },
    ],
    'an item without its key': [
      'Deployment',
      pod({ containers: [{ name: 'a' }] }),
      pod({ containers: [{ image: 'a' }] }),
    ],
    'a `$patch` that is none': ['Deployment', pod({ hostNetwork: true }), pod({ $patch: 'remove' })],
    'a field that is not retained': [
      'Deployment',
      { spec: { strategy: {} } },
      { spec: { strategy: { $retainKeys: [], type: 'a' } } },
    ],
  }
  for (const [name, [kind, original, patch]] of Object.entries(cases)) it(name, () => expectSame(kind, original, patch))

  it('an explicit order of items', () => {
    const names = fc.uniqueArray(fc.constantFrom(...LETTERS), { minLength: 1 })
    const env = (items: readonly string[]): JsonObject[] => items.map((name) => ({ name }))
    fc.assert(
      fc.property(names, names, fc.array(fc.constantFrom(...LETTERS)), (before, order, given) => {
        const patch = env(order.filter((name) => given.includes(name)))
        const fields = { name: 'c', '$setElementOrder/env': env(order), ...(patch.length > 0 ? { env: patch } : {}) }
        const object = {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          ...pod({ containers: [{ name: 'c', env: env(before) }] }),
        }
        const ours = strategicMerge('Deployment', object, pod({ containers: [fields] }))
        const theirs = patchByKubectl(object, pod({ containers: [fields] }), folder)
        assert.deepEqual(ours.ok ? ours.value : ours, 'value' in theirs ? theirs.value : theirs)
      }),
      { numRuns: 100 },
    )
  })

  it('random patches', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd')
    const text = fc.constantFrom('1', '2', '3')
    const limits = fc.dictionary(fc.constantFrom('cpu', 'memory'), text, { noNullPrototype: true })
    const erasing = fc.dictionary(fc.constantFrom('cpu', 'memory'), fc.option(text), { noNullPrototype: true })
    const replacing = limits.map((limits): JsonObject => ({ ...limits, $patch: 'replace' }))
    const list = (item: fc.Arbitrary<JsonObject>) => fc.uniqueArray(item, { selector: (item) => textAt(item, 'name') })
    const env = fc.record({ name, value: text }, { noNullPrototype: true })
    const deleted = name.map((name): JsonObject => ({ name, $patch: 'delete' }))
    const container = (env: fc.Arbitrary<JsonObject>, limits: fc.Arbitrary<JsonObject>) =>
      fc.record(
        { name, env: list(env), args: fc.array(text), resources: fc.record({ limits }, { noNullPrototype: true }) },
        { noNullPrototype: true },
      )
    const pods = list(container(env, limits)).map((containers) => pod({ containers }))
    const patched = fc.oneof(
      { weight: 4, arbitrary: container(fc.oneof(env, deleted), fc.oneof(erasing, replacing)) },
      deleted,
    )
    const patches = list(patched).map((containers) => pod({ containers }))
    fc.assert(
      fc.property(pods, patches, (original, patch) => expectSame('Deployment', original, patch)),
      { numRuns: 200 },
    )
  })
})

/** The kubectl of the e2e cluster when it is built, otherwise that of the machine. */
function findKubectl(): string | null {
  const { PORTICO_BED_CACHE, XDG_CACHE_HOME, PATH = '' } = process.env
  const cache = PORTICO_BED_CACHE ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'portico-bed')
  const inPath = PATH.split(':').map((folder) => join(folder, 'kubectl'))
  return [...globSync(join(cache, 'kubernetes-*/kubectl')), ...inPath].find((file) => existsSync(file)) ?? null
}

function patchByKubectl(
  object: JsonObject,
  patch: JsonObject,
  folder: string,
): { value: unknown } | { problem: string } {
  const file = join(folder, 'object.json')
  writeFileSync(file, JSON.stringify(object))
  const args = ['patch', '--local', '--type=strategic', '-f', file, '-p', JSON.stringify(patch), '-o', 'json']
  const { status, stdout, stderr } = spawnSync(kubectl ?? '', args, {
    encoding: 'utf8',
    env: { KUBECONFIG: '/dev/null', HOME: folder },
  })
  return status === 0 ? { value: JSON.parse(stdout) } : { problem: stderr }
}

/** Sorts lists of maps and drops empty values: kubectl puts new items first, and leaves nulls and directives in them. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) {
    const id = (item: unknown): string => JSON.stringify(item)
    const items = value.filter((item) => textAt(item, '$patch') !== 'delete')
    return value.every(isObject) ? items.map(tidy).toSorted((a, b) => (id(a) < id(b) ? -1 : 1)) : value
  }
  if (!isObject(value)) return value
  const members = Object.entries(value).filter(([name, member]) => member !== null && !name.startsWith('$'))
  return Object.fromEntries(
    members.map(([name, member]) => [name, tidy(member)] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}
