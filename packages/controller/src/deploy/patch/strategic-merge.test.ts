import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject } from '@portico/translate/json'
import { strategicMerge } from './strategic-merge.ts'

describe('a strategic merge patch', () => {
  const cases: Record<string, { original: JsonObject; patch: JsonObject; expected: JsonObject }> = {
    'scalars overwrite, maps merge, null removes': {
      original: { replicas: 1, paused: true, a: { x: 1, y: 2 } },
      patch: { replicas: 3, paused: null, a: { y: 3, z: 4 } },
      expected: { replicas: 3, a: { x: 1, y: 3, z: 4 } },
    },
    'a null within what is new is left out': {
      original: {},
      patch: { strategy: { type: 'Recreate', rollingUpdate: null } },
      expected: { strategy: { type: 'Recreate' } },
    },
    'items of a list with a key are found by it, and appended when they are new': pod(
      {
        containers: [
          { name: 'a', image: '1' },
          { name: 'b', image: '1' },
        ],
      },
      { containers: [{ name: 'c' }, { name: 'b', image: '2', tty: true }] },
      { containers: [{ name: 'a', image: '1' }, { name: 'b', image: '2', tty: true }, { name: 'c' }] },
    ),
    'lists within items have keys too': container(
      {
        env: [{ name: 'A', value: '1' }],
        ports: [{ containerPort: 80, name: 'x' }],
        volumeMounts: [{ mountPath: '/a', name: 'v' }],
      },
      {
        env: [
          { name: 'A', value: '2' },
          { name: 'B', value: '3' },
        ],
        ports: [{ containerPort: 80, hostPort: 80 }],
        volumeMounts: [{ mountPath: '/a', readOnly: true }],
      },
      {
        env: [
          { name: 'A', value: '2' },
          { name: 'B', value: '3' },
        ],
        ports: [{ containerPort: 80, name: 'x', hostPort: 80 }],
        volumeMounts: [{ mountPath: '/a', name: 'v', readOnly: true }],
      },
    ),
    'a key is its value and its type': pod(
      { hostAliases: [{ ip: '1' }] },
      { hostAliases: [{ ip: 1, hostnames: ['a'] }] },
      { hostAliases: [{ ip: '1' }, { ip: 1, hostnames: ['a'] }] },
    ),
    'lists without a key are replaced': container({ args: ['a', 'b'] }, { args: ['c'] }, { args: ['c'] }),
    'tolerations merge by key': pod(
      { tolerations: [{ key: 'gpu', effect: 'NoSchedule' }, { operator: 'Exists' }] },
      {
        tolerations: [
          { key: 'gpu', value: 'a100' },
          { operator: 'Exists', effect: 'NoExecute' },
          { key: 'new', operator: 'Exists' },
        ],
      },
      {
        tolerations: [
          { key: 'gpu', effect: 'NoSchedule', value: 'a100' },
          { operator: 'Exists', effect: 'NoExecute' },
          { key: 'new', operator: 'Exists' },
        ],
      },
    ),
    'new tolerations of one key and several effects stay several': pod(
      { tolerations: [{ key: 'x' }] },
      {
        tolerations: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', effect: 'NoExecute' },
        ],
      },
      { tolerations: [{ key: 'x' }, { key: 'a', effect: 'NoSchedule' }, { key: 'a', effect: 'NoExecute' }] },
    ),
    'a toleration is deleted by its key': pod(
      { tolerations: [{ key: 'a' }, { key: 'b' }, {}] },
      { tolerations: [{ key: 'a', $patch: 'delete' }, { $patch: 'delete' }] },
      { tolerations: [{ key: 'b' }] },
    ),
    '`$patch: delete` removes a map': pod(
      { securityContext: { runAsUser: 1 }, affinity: {} },
      { securityContext: { $patch: 'delete' }, dnsConfig: { $patch: 'delete' } },
      { affinity: {} },
    ),
    '`$patch: delete` removes an item': container(
      { env: [{ name: 'A' }, { name: 'B' }] },
      {
        env: [
          { name: 'A', $patch: 'delete' },
          { name: 'none', $patch: 'delete' },
        ],
      },
      { env: [{ name: 'B' }] },
    ),
    '`$patch: replace` replaces a map, also one that is not there': pod(
      { securityContext: { runAsUser: 1 } },
      { securityContext: { $patch: 'replace', fsGroup: 2 }, affinity: { $patch: 'replace', podAffinity: {} } },
      { securityContext: { fsGroup: 2 }, affinity: { podAffinity: {} } },
    ),
    '`$patch: replace` as an item replaces a list': pod(
      { containers: [{ name: 'a', image: '1' }, { name: 'b' }] },
      { containers: [{ $patch: 'replace' }, { name: 'a', tty: true }] },
      { containers: [{ name: 'a', tty: true }] },
    ),
    '`$patch: replace` as an item empties a list': pod(
      { volumes: [{ name: 'a' }], tolerations: [{ key: 'a' }] },
      { volumes: [{ $patch: 'replace' }], tolerations: [{ $patch: 'replace' }] },
      { volumes: [], tolerations: [] },
    ),
    '`$patch: replace` may stand in a list that is replaced anyway': container(
      { args: ['a'], envFrom: [{ prefix: 'a' }] },
      { envFrom: [{ $patch: 'replace' }, { prefix: 'b', secretRef: null }] },
      { args: ['a'], envFrom: [{ prefix: 'b' }] },
    ),
    '`$patch: merge` says what holds anyway': pod(
      { securityContext: { runAsUser: 1 }, containers: [{ name: 'a', tty: true }] },
      { securityContext: { $patch: 'merge', fsGroup: 2 }, containers: [{ $patch: 'merge', name: 'a', image: 'i' }] },
      { securityContext: { runAsUser: 1, fsGroup: 2 }, containers: [{ name: 'a', tty: true, image: 'i' }] },
    ),
    '`$deleteFromPrimitiveList` takes scalars out': container(
      { args: ['a', 'b', 'a'], command: ['c'] },
      { '$deleteFromPrimitiveList/args': ['a'], '$deleteFromPrimitiveList/none': ['a'] },
      { args: ['b'], command: ['c'] },
    ),
    '`$setElementOrder` orders what it names': container(
      { env: [{ name: 'A' }, { name: 'B' }, { name: 'C' }] },
      { '$setElementOrder/env': [{ name: 'D' }, { name: 'C' }, { name: 'A' }], env: [{ name: 'D' }] },
      { env: [{ name: 'D' }, { name: 'B' }, { name: 'C' }, { name: 'A' }] },
    ),
    '`$retainKeys` leaves the rest out': {
      original: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
      patch: { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
      expected: { strategy: { type: 'Recreate' } },
    },
    '`$retainKeys` makes another volume of one': pod(
      { volumes: [{ name: 'v', emptyDir: {} }] },
      { volumes: [{ name: 'v', $retainKeys: ['name', 'secret'], secret: { secretName: 's' } }] },
      { volumes: [{ name: 'v', secret: { secretName: 's' } }] },
    ),
    'directives do not stay in what is new': pod(
      {},
      {
        volumes: [
          { name: 'v', $retainKeys: ['name'] },
          { name: 'w', $patch: 'delete' },
        ],
        '$setElementOrder/volumes': [],
      },
      { volumes: [{ name: 'v' }] },
    ),
    'another type of value is taken as it is': {
      original: { strategy: ['odd'], template: 'odd' },
      patch: { strategy: { type: 'Recreate' }, template: ['x'] },
      expected: { strategy: { type: 'Recreate' }, template: ['x'] },
    },
  }

  for (const [name, { original, patch, expected }] of Object.entries(cases))
    it(name, () => {
      const before = structuredClone([original, patch])
      assert.deepEqual(strategicMerge('Deployment', { spec: original }, { spec: patch }), {
        ok: true,
        value: { spec: expected },
      })
      assert.deepEqual([original, patch], before, 'what was given is not changed')
    })

  it('each kind has its own lists', () => {
    const ports = { ports: [{ port: 80, name: 'a' }] }
    assert.deepEqual(strategicMerge('Service', { spec: ports }, { spec: { ports: [{ port: 80, nodePort: 30080 }] } }), {
      ok: true,
      value: { spec: { ports: [{ port: 80, name: 'a', nodePort: 30080 }] } },
    })
    const selector = { matchLabels: { a: '1' } }
    assert.deepEqual(
      strategicMerge(
        'PodDisruptionBudget',
        { spec: { selector } },
        { spec: { selector: { matchLabels: { b: '2' } } } },
      ),
      {
        ok: true,
        value: { spec: { selector: { matchLabels: { b: '2' } } } },
      },
    )
    const metrics = { metrics: [{ type: 'Resource' }] }
    assert.deepEqual(
      strategicMerge('HorizontalPodAutoscaler', { spec: metrics }, { spec: { metrics: [{ type: 'Pods' }] } }),
      {
        ok: true,
        value: { spec: { metrics: [{ type: 'Pods' }] } },
      },
    )
    const finalizers = { finalizers: ['a/b'] }
    assert.deepEqual(
      strategicMerge(
        'ServiceAccount',
        { metadata: finalizers, secrets: [{ name: 'a' }] },
        { metadata: { finalizers: ['c/d', 'a/b'] }, secrets: [{ name: 'b' }] },
      ),
      { ok: true, value: { metadata: { finalizers: ['a/b', 'c/d'] }, secrets: [{ name: 'a' }, { name: 'b' }] } },
    )
  })
})

describe('invalid strategic merge patches', () => {
  const cases: Record<string, [JsonObject, string]> = {
    'an item without its key': [
      { containers: [{ image: 'x' }] },
      'containers[0]: lacks `name`, the merge key of this list',
    ],
    'an item that is not a map': [{ volumes: ['x'] }, 'volumes[0]: is not a map'],
    'a key that is not a scalar': [{ volumes: [{ name: {} }] }, 'volumes[0]: lacks `name`, the merge key of this list'],
    'another `$patch`': [
      { dnsConfig: { $patch: 'remove' } },
      'dnsConfig: `$patch` is "remove", expected `delete`, `replace` or `merge`',
    ],
    'another directive': [{ dnsConfig: { $retainkeys: [] } }, 'dnsConfig: unknown directive `$retainkeys`'],
    'an item that replaces its list and has more': [
      { containers: [{ $patch: 'replace', name: 'a' }] },
      'containers[0]: `$patch: replace` must be the only field of its item: it replaces the whole list',
    ],
    'a deletion in a list without a key': [
      { readinessGates: [{ $patch: 'delete', conditionType: 'a' }] },
      'readinessGates[0]: this list is replaced as a whole, because its items have no merge key',
    ],
    'a field that is not retained': [
      { dnsConfig: { $retainKeys: ['a'], b: 1 } },
      'dnsConfig: `b` is set, but missing in `$retainKeys`',
    ],
    'a directive that is not a list': [{ '$setElementOrder/volumes': {} }, '`$setElementOrder/volumes` is not a list'],
  }
  for (const [name, [patch, problem]] of Object.entries(cases))
    it(name, () => {
      const place = problem.startsWith('`') ? 'spec.template.spec: ' : 'spec.template.spec.'
      const { spec } = pod({}, patch, {}).patchOfAll
      assert.deepEqual(strategicMerge('Deployment', {}, { spec }), { ok: false, problems: [place + problem] })
    })

  it('all problems are reported at once', () => {
    const patched = strategicMerge('Service', {}, { spec: { ports: [{}, { port: [] }], selector: { $x: 1 } } })
    assert.equal(patched.ok ? 0 : patched.problems.length, 3)
  })

  it('an empty patch', () => {
    assert.deepEqual(strategicMerge('Service', {}, { $patch: 'delete' }), {
      ok: false,
      problems: ['`$patch: delete` would delete the whole object'],
    })
  })
})

describe('untrusted patches', () => {
  it('names of Object.prototype are ordinary names', () => {
    const patch: JsonObject = JSON.parse(
      '{"spec":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"selector":{"toString":"a","__proto__":{"x":1}}}}',
    )
    const patched = strategicMerge('Service', { spec: { selector: { app: 'a' } } }, patch)
    assert.ok(patched.ok)
    assert.equal(Reflect.get({}, 'polluted'), undefined)
    assert.equal(
      JSON.stringify(patched.value),
      '{"spec":{"selector":{"app":"a","toString":"a","__proto__":{"x":1}},"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}',
    )
    assert.deepEqual(strategicMerge('Service', {}, JSON.parse('{"spec":{"ports":[{"__proto__":{"port":80}}]}}')), {
      ok: false,
      problems: ['spec.ports[0]: lacks `port`, the merge key of this list'],
    })
  })

  it('depth is bounded, in maps and in lists', () => {
    const depth = 200_000
    for (const [open, close] of [
      ['{"a":', '}'],
      ['[', ']'],
    ] as const) {
      const text = `{"spec":${open.repeat(2_000)}1${close.repeat(2_000)}}`
      const patched = strategicMerge('Deployment', {}, JSON.parse(text))
      assert.match(patched.ok ? '' : (patched.problems[0] ?? ''), /: nested deeper than 100 levels$/)
    }
    let nested: unknown = 1
    for (let level = 0; level < depth; level++) nested = [nested]
    assert.equal(strategicMerge('Deployment', {}, { spec: { a: nested } }).ok, false)
  })

  it('large lists are merged in one pass', () => {
    const env = Array.from({ length: 50_000 }, (_, index) => ({ name: `V${index}`, value: '1' }))
    const { original, patch } = container({ env }, { env: env.map(({ name }) => ({ name, value: '2' })) }, {})
    const patched = strategicMerge('Deployment', { spec: original }, { spec: patch })
    assert.ok(patched.ok)
    assert.equal(JSON.stringify(patched.value).split('"value":"2"').length - 1, env.length)
  })
})

describe('for all patches', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd')
  const scalar = fc.oneof(fc.integer(), fc.string(), fc.boolean())
  const item = fc.record({ name, value: scalar, other: fc.dictionary(name, scalar) }, { requiredKeys: ['name'] })
  const env = fc.uniqueArray(item, { selector: ({ name }) => name })
  const labels = fc.dictionary(name, scalar)
  const containers = fc.uniqueArray(
    fc.record({ name, env, args: fc.array(scalar), labels }, { requiredKeys: ['name'] }),
    {
      selector: ({ name }) => name,
    },
  )
  const deployment = containers
    .map((containers) => ({ spec: { template: { spec: { containers } } } }))
    // Objects of fast-check have no prototype.
    .map((made): JsonObject => JSON.parse(JSON.stringify(made)))
  const merge = (original: JsonObject, patch: JsonObject): JsonObject => {
    const patched = strategicMerge('Deployment', original, patch)
    return patched.ok ? patched.value : assert.fail(patched.problems.join())
  }

  it('an empty patch changes nothing, and every patch is idempotent', () => {
    fc.assert(
      fc.property(deployment, deployment, (original, patch) => {
        assert.deepEqual(merge(original, {}), original)
        const once = merge(original, patch)
        assert.deepEqual(merge(once, patch), once)
      }),
      { numRuns: 1_000 },
    )
  })

  it('deleting the additions of a patch restores the original', () => {
    fc.assert(
      fc.property(containers, containers, (before, added) => {
        const news = added.filter(({ name }) => before.every((item) => item.name !== name))
        const of = (containers: unknown): JsonObject => ({ spec: { template: { spec: { containers } } } })
        const deletions = news.map(({ name }) => ({ name, $patch: 'delete' }))
        assert.deepEqual(merge(merge(of(before), of(news)), of(deletions)), merge(of(before), {}))
      }),
      { numRuns: 1_000 },
    )
  })

  it('no input makes it throw, and no directive remains', () => {
    const key = fc.oneof(
      name,
      fc.constantFrom(
        'containers',
        'spec',
        'template',
        '__proto__',
        '$patch',
        '$retainKeys',
        '$setElementOrder/containers',
        '$deleteFromPrimitiveList/containers',
        'name',
      ),
    )
    const { any } = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 6 },
        scalar,
        fc.constantFrom(null, 'delete', 'replace', 'merge'),
        tie('list'),
        tie('map'),
      ),
      list: fc.array(tie('any'), { maxLength: 4 }),
      map: fc.dictionary(key, tie('any'), { maxKeys: 5 }),
    }))
    const spec = fc.record({ spec: fc.record({ template: any, x: any }) })
    fc.assert(
      fc.property(spec, spec, (original, patch) => {
        const patched = strategicMerge('Deployment', JSON.parse(JSON.stringify(original).replaceAll('"$', '"')), patch)
        if (!patched.ok) assert.ok(patched.problems.length > 0)
        else assert.doesNotMatch(JSON.stringify(patched.value), /"\$[^"]*":/)
      }),
      { numRuns: 5_000 },
    )
  })
})

/** A case for the Pod of a Deployment. */
function pod(original: JsonObject, patch: JsonObject, expected: JsonObject) {
  const of = (spec: JsonObject): JsonObject => ({ template: { spec } })
  return { original: of(original), patch: of(patch), expected: of(expected), patchOfAll: { spec: of(patch) } }
}

function container(original: JsonObject, patch: JsonObject, expected: JsonObject) {
  const of = (fields: JsonObject): JsonObject => ({ containers: [{ name: 'c', ...fields }] })
  return pod(of(original), of(patch), of(expected))
}
