import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printPath } from '@portico/gateway/schema'
import { ownFixtures } from '../testing/own-fixtures.ts'
import { ownKinds, readSpec } from './own-kinds.ts'
import type { Resource } from './resource.ts'

function problemsOf(resource: Resource): string[] {
  const own = ownKinds.find(({ kind }) => kind === resource.kind)
  assert.ok(own !== undefined, resource.kind)
  const read = readSpec(own.spec, resource)
  return read.ok
    ? []
    : read.problems.map(({ path, found, expected }) => `${printPath(path)}: ${found}, expected ${expected}`)
}

for (const { resource } of ownFixtures('valid')) {
  test(`valid: ${resource.kind} ${resource.metadata.name}`, () => assert.deepEqual(problemsOf(resource), []))
}

for (const { resource, expected } of ownFixtures('invalid')) {
  test(`invalid: ${resource.kind} ${resource.metadata.name}`, () => {
    const problems = problemsOf(resource)
    assert.ok(
      expected !== null && problems.some((problem) => problem.startsWith(expected.validation)),
      problems.join('\n'),
    )
  })
}

test('all problems of a resource are reported at once', () => {
  const spec = { static: { host: 'a b', port: 0 }, policies: { tcp: { connectTimeout: '1' }, ttp: {} } }
  const metadata = { name: 'a', namespace: 'b' }
  const problems = problemsOf({ apiVersion: 'portico.dev/v1alpha1', kind: 'GwBackend', metadata, spec })
  assert.deepEqual(problems.map((problem) => problem.slice(0, problem.indexOf(':'))).toSorted(), [
    'spec.policies.tcp.connectTimeout',
    'spec.policies.ttp',
    'spec.static.host',
    'spec.static.port',
  ])
})
