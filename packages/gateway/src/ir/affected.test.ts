import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { affectedBy } from './affected.ts'
import { applyChange, changeBetween } from './change.ts'
import { indexPolicies, type PolicyIndex } from './merge.ts'
import { PoliciesByTarget } from './policies-by-target.ts'
import type { AttachedPolicy, Backend, Ir, Listener, PolicyTarget, Route } from './resources.ts'
import { SharingMap } from '../collections/sharing-map.ts'

/** Unless all cases are wanted, a share of them runs. */
const SHARE = process.env['PROPERTIES'] === 'full' ? 1 : 0.1

test('a route that a change does not affect is made of the same as before', () => {
  let [unaffected, affected] = [0, 0]
  fc.assert(
    fc.property(configs, configs, (one, other) => {
      const [before, after] = [one, other].map(irOf) as [Ir, Ir]
      const changed = applyChange(before, changeBetween(before, after)!)
      const index = {
        byTarget: PoliciesByTarget.of(after.policies),
        backendsByKey: SharingMap.of(after.backends.map((backend) => [backend.key, backend])),
      }
      const is = affectedBy(changed, index)
      const byTarget = PoliciesByTarget.of(before.policies).after(changed)
      for (const target of TARGETS) {
        const key = target.kind === 'gateway' ? '' : target.key
        assert.deepEqual(byTarget.at(target.kind, key), index.byTarget.at(target.kind, key))
      }
      const contentsBefore = contentsOf(before)
      for (const [key, content] of contentsOf(after)) {
        const route = after.routes.find((each) => each.key === key)!
        if (is.route(route)) affected++
        else {
          unaffected++
          assert.equal(content, contentsBefore.get(key))
        }
      }
    }),
    { seed: 7, numRuns: 3_000 * SHARE, interruptAfterTimeLimit: 60_000 },
  )
  assert.ok(unaffected > 100 * SHARE, `${unaffected} unaffected`)
  assert.ok(affected > 1_000 * SHARE, `${affected} affected`)
})

test('one changed route of many affects itself alone', () => {
  const config = { hosts: [1, 1, 1], routes: [0, 1, 2], names: ['a', 'a', 'a'], policies: [] }
  const [before, after] = [irOf(config), irOf({ ...config, names: ['a', 'b', 'a'] })]
  const changed = applyChange(before, changeBetween(before, after)!)
  const index = { byTarget: PoliciesByTarget.of([]), backendsByKey: SharingMap.of<Backend>([]) }
  assert.deepEqual(
    after.routes.filter((route) => affectedBy(changed, index).route(route)).map(({ key }) => key),
    ['l1/r1'],
  )
})

interface Config {
  /** Port of each backend. */
  hosts: number[]
  /** Backend of each route. */
  routes: number[]
  /** Something that a route holds itself. */
  names: string[]
  policies: { at: number; names: number | null }[]
}

const configs: fc.Arbitrary<Config> = fc.record({
  hosts: fc.array(fc.constantFrom(1, 1, 1, 2), { minLength: 3, maxLength: 3 }),
  routes: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }),
  names: fc.array(fc.constantFrom('a', 'a', 'a', 'b'), { minLength: 3, maxLength: 3 }),
  policies: fc.array(fc.record({ at: fc.constantFrom(0, 1, 1, 2, 3, 3, 4, 5, 6), names: fc.option(fc.nat(2)) }), {
    maxLength: 3,
  }),
})

function irOf({ hosts, routes, names, policies }: Config): Ir {
  const listeners = ['l0', 'l1'].map((key): Listener => ({
    key,
    bind: 'b',
    name: key,
    hostname: key,
    protocol: 'HTTP',
    tls: null,
  }))
  return {
    binds: [{ key: 'b', port: 1, address: '' }],
    listeners,
    routes: routes.map((backend, index): Route => {
      const key = `l${index % 2}/r${index}`
      const backends = [{ key: `${key}/backend/0`, backend: `backend/${backend}`, weight: 1 }]
      const labels = { name: names[index]! }
      return {
        key,
        listener: `l${index % 2}`,
        name: `r${index}`,
        rule: '',
        labels,
        hostnames: [],
        matches: [],
        backends,
      }
    }),
    backends: hosts.map((port, index) => ({
      key: `backend/${index}`,
      name: `${index}`,
      target: { kind: 'static', host: 'h', port },
    })),
    policies: policies.map(({ at, names: named }, index): AttachedPolicy => {
      const content = named === null ? { plain: index } : { deep: [{ ref: `backend/${named}` }] }
      return {
        key: `policy/${index}`,
        target: TARGETS[at]!,
        frontend: null,
        traffic: content as AttachedPolicy['traffic'],
        phase: 'PostRouting',
        backend: content as AttachedPolicy['backend'],
      }
    }),
  }
}

const TARGETS: PolicyTarget[] = [
  { kind: 'gateway' },
  { kind: 'listener', key: 'l0' },
  { kind: 'route', key: 'l1/r1' },
  { kind: 'backend', key: 'backend/0' },
  { kind: 'backend', key: 'backend/1/section/x' },
  { kind: 'rule', key: 'l0/r0' },
  { kind: 'backend', key: 'l0/r2/backend/0' },
]

/** Everything that each route is made of, as text, with all backends that are named on the way. */
function contentsOf(ir: Ir): Map<string, string> {
  const policies = indexPolicies(PoliciesByTarget.of(ir.policies), new Set())
  return new Map(
    ir.routes.map((route) => {
      const parent = `${route.listener}/${route.name}`
      const entries = route.backends.map(({ key, backend }) => [
        ir.backends.find((each) => each.key === backend),
        policies.backend({ listener: route.listener, route: route.key, parent, backend, entry: key }),
      ])
      const traffic = policies.traffic({ listener: route.listener, key: route.key, parent })
      return [route.key, withNamed(JSON.stringify([route, traffic, entries]), ir, policies)]
    }),
  )
}

function withNamed(content: string, ir: Ir, policies: PolicyIndex): string {
  const texts = [content]
  const seen = new Set<string>()
  for (const text of texts) {
    for (const [, key] of text.matchAll(/"(backend\/\d)"/g)) {
      if (seen.has(key!)) continue
      seen.add(key!)
      const own = policies.backend({ listener: '', route: '', parent: '', backend: key!, entry: key! })
      texts.push(JSON.stringify([ir.backends.find((each) => each.key === key), own]))
    }
  }
  return texts.join()
}
