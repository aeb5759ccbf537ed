import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { inResource, toCrdSchema, validate } from '@portico/gateway/schema'
import type { JsonObject } from '@portico/gateway/schema'
import * as fc from 'fast-check'
import { ownKinds } from '../resources/own-kinds.ts'
import type { Resource } from '../resources/resource.ts'
import { admission } from '../testing/admission.ts'
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

test('definitions fit into the annotation that `kubectl apply` keeps them in', () => {
  for (const own of ownKinds) assert.ok(JSON.stringify(crdOf(own)).length < 256 * 1_024, own.kind)
})

test('every field has a description, and every list, map and text a bound', () => {
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

/** What a schema cannot say: grammars of texts, sizes of what has any form, and bounds of quantities that are texts. */
const inexpressible = new Set(['bad_format', 'out_of_range', 'bad_expression', 'not_allowed'])

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
      else if (read.problems.some(({ code }) => !inexpressible.has(code))) {
        assert.notDeepEqual(refusals, [], `only validation refuses ${said}`)
      }
    }

    test('fixtures are admitted, or refused in the expected words', () => {
      for (const { resource, expected } of fixtures) {
        const refusals = admit(resource.spec)
        const name = resource.metadata.name
        if (expected === null) assert.deepEqual(refusals, [], name)
        else assert.notDeepEqual(refusals, [], name)
        compare(resource)
      }
    })

    test('what the definition admits validation accepts, and the other way round', () => {
      const values = fixtures.flatMap(({ resource }) => partsOf(resource.spec))
      const junk = fc.constantFrom<unknown>(
        -1,
        0,
        1,
        70_000,
        true,
        '',
        'x',
        '1s',
        '0',
        [],
        ['a'],
        {},
        { a: 1 },
        ...values,
      )
      const kind = fc.constantFrom('replace', 'delete', 'add', 'graft')
      const change = fc.record({ place: fc.nat(), kind, name: fc.nat(), junk })
      fc.assert(
        fc.property(
          fc.constantFrom(...fixtures),
          fc.array(change, { minLength: 1, maxLength: 3 }),
          ({ resource }, changes) => {
            const copy = structuredClone(resource)
            for (const each of changes) mutate(copy, each, values)
            compare(copy)
          },
        ),
        { seed: 11, numRuns: 1_000 },
      )
    })
  })
}

/** Everything in it that is not a plain value. */
function partsOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return [value, ...Object.values(value).flatMap(partsOf)]
}

interface Change {
  place: number
  kind: string
  name: number
  junk: unknown
}

/** Changes one member of one part of the spec; `graft` puts a member of another part into it. */
function mutate(resource: Resource, { place, kind, name, junk }: Change, others: readonly unknown[]): void {
  const parts = partsOf(resource.spec)
  const part = parts[place % Math.max(parts.length, 1)] as Record<string, unknown> | unknown[] | undefined
  if (part === undefined) return
  const keys = Object.keys(part)
  const key = keys[name % Math.max(keys.length, 1)] ?? 'x'
  const value: unknown = structuredClone(junk)
  if (Array.isArray(part)) {
    if (kind === 'delete') part.splice(Number(key), 1)
    else if (kind === 'replace') part[Number(key) || 0] = value
    else part.push(value)
    return
  }
  if (kind === 'delete') delete part[key]
  else if (kind === 'graft') {
    const other = others[name % others.length] as Record<string, unknown>
    const from = Object.keys(other)[place % Math.max(Object.keys(other).length, 1)]
    if (from !== undefined && !Array.isArray(other)) part[from] = structuredClone(other[from])
  } else part[kind === 'add' ? `${key}x` : key] = value
}
