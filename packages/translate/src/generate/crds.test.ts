import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { inResource, toCrdSchema, validate } from '@portico/gateway/schema'
import type { JsonObject } from '@portico/gateway/schema'
import * as fc from 'fast-check'
import { ownKinds } from '../resources/own-kinds.ts'
import type { Resource } from '../resources/resource.ts'
import { admission } from '../testing/admission.ts'
import { INEXPRESSIBLE, mutants } from '../testing/mutants.ts'
import { ownFixtures } from '../testing/own-fixtures.ts'
import { crdFiles, crdOf, schemaOf } from './crds.ts'

const root = new URL('../../../../', import.meta.url)

test('the printed definitions are fresh; otherwise run `npm run generate`', () => {
  const files = crdFiles()
  for (const [path, content] of files) {
    assert.ok(existsSync(new URL(path, root)), `${path} is missing`)
    assert.equal(readFileSync(new URL(path, root), 'utf8'), content, `${path} is stale`)
  }
  for (const name of readdirSync(new URL('deploy/crds/', root))) {
    assert.ok(files.has(`deploy/crds/${name}`), `deploy/crds/${name} belongs to nothing`)
  }
})

test('definitions fit into the annotation that `kubectl apply` keeps them in, with room to grow', () => {
  const limit = 256 * 1_024
  for (const own of ownKinds) {
    const size = Buffer.byteLength(JSON.stringify(crdOf(own)))
    assert.ok(size < 0.8 * limit, `${own.kind} has ${size} of ${limit} bytes`)
  }
})

test('definitions contain nothing that the API server drops: applying them again changes nothing', () => {
  for (const own of ownKinds) assert.ok(!JSON.stringify(crdOf(own)).includes('"properties":{}'), own.kind)
})

test('every field has a description, and every list, map and string a limit', () => {
  const missing: string[] = []
  const visit = (schema: JsonObject, path: string): void => {
    if (typeof schema['description'] !== 'string') missing.push(`${path}: description`)
    if (schema['type'] === 'array' && schema['maxItems'] === undefined) missing.push(`${path}: maxItems`)
    if (schema['additionalProperties'] !== undefined && schema['maxProperties'] === undefined) {
      missing.push(`${path}: maxProperties`)
    }
    const isText = schema['type'] === 'string' && schema['enum'] === undefined && schema['format'] === undefined
    if (isText && schema['maxLength'] === undefined) missing.push(`${path}: maxLength`)
    for (const [name, child] of Object.entries((schema['properties'] ?? {}) as Record<string, JsonObject>)) {
      visit(child, `${path}.${name}`)
    }
    const rest = (schema['items'] ?? schema['additionalProperties']) as JsonObject | undefined
    if (rest !== undefined) visit(rest, `${path}[]`)
  }
  for (const own of ownKinds) {
    const { spec, status } = schemaOf(own)['properties'] as { spec: JsonObject; status: JsonObject }
    visit(spec, `${own.kind}.spec`)
    visit(status, `${own.kind}.status`)
  }
  assert.deepEqual(missing, [])
})

for (const own of ownKinds) {
  describe(own.kind, () => {
    const admit = admission(toCrdSchema(own.spec))
    const ofKind = ({ resource }: { resource: Resource }): boolean => resource.kind === own.kind
    const fixtures = [...ownFixtures('valid'), ...ownFixtures('invalid')].filter(ofKind)

    const compare = (resource: Resource): void => {
      const refusals = admit(resource.spec)
      const read = validate(inResource(own.spec), resource.spec)
      const said = JSON.stringify({ spec: resource.spec, refusals, problems: read.ok ? [] : read.problems })
      if (read.ok) assert.deepEqual(refusals, [], `only the API server refuses ${said}`)
      else if (read.problems.some(({ code }) => !INEXPRESSIBLE.has(code))) {
        assert.notDeepEqual(refusals, [], `only validation refuses ${said}`)
      }
    }

    test('fixtures are admitted, or rejected with the expected message', () => {
      for (const { resource, expected } of fixtures) {
        const refusals = admit(resource.spec)
        const name = resource.metadata.name
        if (expected === null) assert.deepEqual(refusals, [], name)
        else assert.notDeepEqual(refusals, [], name)
        compare(resource)
      }
    })

    test('definitions and validation accept the same resources', () => {
      fc.assert(fc.property(mutants(fixtures.map(({ resource }) => resource)), compare), { seed: 11, numRuns: 1_000 })
    })
  })
}
