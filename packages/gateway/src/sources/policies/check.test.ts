import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../file.ts'
import { printProblems } from '../print-problems.ts'

const objects = {
  backends: [{ name: 'users', labels: { tier: 'gold' }, static: { host: '127.0.0.1', port: 9 } }],
  binds: [
    {
      port: 8080,
      listeners: [
        {
          name: 'web',
          routes: [
            { name: 'api', ruleName: 'read', labels: { team: 'a' }, backends: [{ backend: 'users' }] },
            { name: 'api', ruleName: 'write', backends: [{ backend: 'users' }] },
          ],
        },
      ],
    },
  ],
}

function load(policies: object[]) {
  return loadConfig(JSON.stringify({ ...objects, policies }), { file: 'gateway.yaml', dir: '.', env: {} })
}

function problemsOf(policies: object[]): string {
  const result = load(policies)
  return result.ok ? '' : printProblems(result.problems)
}

function warningsOf(policies: object[]): string {
  const result = load(policies)
  assert.ok(result.ok, result.ok ? '' : printProblems(result.problems))
  return printProblems(result.warnings)
}

const timeouts = { timeouts: { request: '1s' } }
const gateway = { kind: 'Gateway', name: 'default' }

const refused: [string, object, RegExp][] = [
  ['a policy without targets', { name: 'p', traffic: timeouts }, /found none of the keys/],
  [
    'targets by name and by labels at once',
    { name: 'p', targetRefs: [gateway], targetSelectors: [{ kind: 'Route', matchLabels: {} }] },
    /found `targetRefs` and `targetSelectors`/,
  ],
  ['a gateway of another name', { name: 'p', targetRefs: [{ ...gateway, name: 'other' }] }, /no gateway named `other`/],
  [
    'a listener that is not there',
    { name: 'p', targetRefs: [{ ...gateway, sectionName: 'wep' }], traffic: timeouts },
    /no listener named `wep`[^]*did you mean `web`/,
  ],
  ['a route that is not there', { name: 'p', targetRefs: [{ kind: 'Route', name: 'apy' }] }, /no route named `apy`/],
  [
    'a rule that is not there',
    { name: 'p', targetRefs: [{ kind: 'Route', name: 'api', sectionName: 'delete' }] },
    /no rule named `delete`/,
  ],
  ['a backend that is not there', { name: 'p', targetRefs: [{ kind: 'Backend', name: 'x' }] }, /no backend named `x`/],
  [
    'a part of a backend that has none',
    { name: 'p', targetRefs: [{ kind: 'Backend', name: 'users', sectionName: 'x' }] },
    /no part of the backend named `x`/,
  ],
  [
    'connections of a route',
    { name: 'p', targetRefs: [{ kind: 'Route', name: 'api' }], frontend: { http: {} } },
    /found `frontend` for a route, expected the whole gateway/,
  ],
  [
    'connections of one listener',
    { name: 'p', targetRefs: [{ ...gateway, sectionName: 'web' }], frontend: { http: {} } },
    /found `frontend` for a gateway section/,
  ],
  [
    'requests of a backend',
    { name: 'p', targetRefs: [{ kind: 'Backend', name: 'users' }], traffic: timeouts },
    /found `traffic` for a backend/,
  ],
  [
    'PreRouting for a route',
    { name: 'p', targetRefs: [{ kind: 'Route', name: 'api' }], traffic: { phase: 'PreRouting' } },
    /found PreRouting for a route/,
  ],
  [
    'a policy that cannot run before routing',
    { name: 'p', targetRefs: [gateway], traffic: { phase: 'prerouting', ...timeouts } },
    /found `timeouts` in phase PreRouting, expected only .*`authorization`/,
  ],
  [
    'filters that only routes have',
    { name: 'p', targetRefs: [gateway], traffic: { urlRewrite: {} } },
    /unknown key `urlRewrite`/,
  ],
  ['17 targets', { name: 'p', targetRefs: Array.from({ length: 17 }, () => gateway) }, /list of 1 to 16 items/],
  [
    '17 selectors',
    { name: 'p', targetSelectors: Array.from({ length: 17 }, () => ({ kind: 'Route', matchLabels: {} })) },
    /list of 1 to 16 items/,
  ],
]
for (const [name, policy, expected] of refused) {
  test(`refused: ${name}`, () => assert.match(problemsOf([policy]), expected))
}

test('two policies of one name are refused', () => {
  const policy = { name: 'p', targetRefs: [gateway], traffic: timeouts }
  assert.match(problemsOf([policy, policy]), /found policy `p` a second time/)
})

test('a selector that finds nothing gets a warning', () => {
  const selector = { kind: 'Route', matchLabels: { team: 'z' } }
  assert.match(
    warningsOf([{ name: 'p', targetSelectors: [selector], traffic: timeouts }]),
    /no route with these labels/,
  )
})

test('a field that a second policy sets again for one object gets a warning with its location', () => {
  const policies = [
    { name: 'first', targetRefs: [gateway], traffic: timeouts },
    { name: 'second', targetRefs: [gateway], traffic: timeouts },
  ]
  assert.match(warningsOf(policies), /found `timeouts` for an object whose `timeouts` policy `first` sets/)
  const joined = policies.map(({ name }) => ({
    name,
    targetRefs: [gateway],
    traffic: { authorization: { rules: ['true'] } },
  }))
  assert.equal(warningsOf(joined), '')
})

test('a policy is attached once to each object that it names or selects', () => {
  const result = load([
    {
      name: 'p',
      targetSelectors: [
        { kind: 'Route', matchLabels: { team: 'a' } },
        { kind: 'route', matchLabels: {}, sectionName: 'write' },
        { kind: 'Route', matchLabels: { team: 'a' } },
      ],
      traffic: timeouts,
    },
    { name: 'b', targetSelectors: [{ kind: 'Backend', matchLabels: { tier: 'gold' } }], backend: { tcp: {} } },
    { name: 'l', targetRefs: [{ ...gateway, sectionName: 'web' }], traffic: timeouts },
  ])
  assert.ok(result.ok)
  const keys = result.ir.policies.map((policy) => policy.key).filter((key) => key.startsWith('policy/'))
  assert.deepEqual(keys.toSorted(), [
    'policy/b@backend/backend/users',
    'policy/l@listener/bind/8080/web',
    'policy/p@route/bind/8080/web/api',
    'policy/p@rule/bind/8080/web/api/write',
  ])
})
