import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { allPolicies } from '../../policies/index.ts'
import { configFile } from '../../sources/schema.ts'
import { toCrdSchema } from './crd.ts'
import { printFields } from './docs.ts'
import { toJsonSchema } from './json-schema.ts'
import { fieldOf } from '../kit.ts'
import type { JsonObject, Schema } from '../kit.ts'
import { validate } from '../validate.ts'
import { fullConfig } from '../../testing/fixtures/full-config.ts'

const check = new Ajv2020({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allErrors: false,
  code: { optimize: false },
}).compile(toJsonSchema(configFile))

/**
 * Problems that JSON Schema cannot express: grammars of texts, bounds of quantities written as text, names that must
 * differ.
 */
const inexpressible = new Set(['bad_format', 'out_of_range', 'not_allowed', 'bad_expression', 'duplicate'])

/** JSON Schema cannot express which item of a list is the last one either. */
const LAST_FALLBACK = 'the fallback at the end'

function compareVerdicts(input: unknown): void {
  const result = validate(configFile, input)
  const verdict = check(input)
  if (result.ok) assert.ok(verdict, `JSON Schema refuses ${JSON.stringify(input)}: ${JSON.stringify(check.errors)}`)
  else if (result.problems.some((problem) => !inexpressible.has(problem.code) && problem.expected !== LAST_FALLBACK)) {
    assert.ok(!verdict, `JSON Schema accepts ${JSON.stringify(input)}: ${JSON.stringify(result.problems)}`)
  }
}

test('JSON Schema and validation agree on a file that uses every field', () => {
  const result = validate(configFile, fullConfig())
  assert.deepEqual(result.ok ? [] : result.problems, [])
  compareVerdicts(fullConfig())
})

test('JSON Schema and validation agree on mutated files', () => {
  const paths = pathsOf(fullConfig())
  const junk = fc.constantFrom<unknown>(
    null,
    -1,
    0,
    1.5,
    99_999_999,
    true,
    '',
    'x',
    '0',
    'strict',
    [],
    ['a'],
    {},
    { a: 1 },
  )
  const change = fc.record({ path: fc.constantFrom(...paths), kind: fc.constantFrom('replace', 'delete', 'add'), junk })
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
      const input: unknown = fullConfig()
      for (const { path, kind, junk: value } of changes) mutate(input, path, kind, value)
      compareVerdicts(input)
    }),
    { seed: 7, numRuns: 1_500 },
  )
})

test('every field of the file has a description', () => {
  const missing: string[] = []
  walk(configFile, '', (path, schema) => {
    if (fieldOf(schema).description === '') missing.push(path)
  })
  assert.deepEqual(missing, [])
})

test('every list and text has a maximum', () => {
  walk(configFile, '', (path, schema) => {
    const { node } = fieldOf(schema)
    if (node.kind === 'list') assert.ok(Number.isFinite(node.max), path)
    const types = node.kind === 'scalar' ? [node.json['type']].flat() : []
    if (types.includes('string')) {
      assert.ok(
        node.kind === 'scalar' && (node.json['maxLength'] !== undefined || node.json['enum'] !== undefined),
        path,
      )
    }
  })
})

test('custom resource schemas are structural', () => {
  for (const policy of allPolicies) assertStructural(toCrdSchema(policy.schema), `${policy.section}.${policy.name}`)
})

test('custom resource schemas say rules in CEL and leave out what belongs to files', () => {
  const tls = toCrdSchema(allPolicies.find((policy) => policy.section === 'backend' && policy.name === 'tls')!.schema)
  assert.deepEqual(
    (tls['x-kubernetes-validations'] as JsonObject[])[0]?.['rule'],
    '!has(self.verifySubjectAltNames) || !has(self.insecureSkipVerify)',
  )
  const reference = (tls['properties'] as JsonObject)['mtlsCertificateRef'] as JsonObject
  assert.deepEqual([reference['type'], reference['maxItems']], ['array', 1])
  const root = toCrdSchema(configFile)
  assert.ok(!JSON.stringify(root).includes('"urlRewrite":'))
  assert.ok(JSON.stringify(root).includes('"x-kubernetes-int-or-string":true'))
})

test('reference tables show types, defaults and rules', () => {
  const tls = allPolicies.find((policy) => policy.section === 'backend' && policy.name === 'tls')!
  assert.match(printFields(tls.schema), /At most one of `verifySubjectAltNames` or `insecureSkipVerify` may be set\./)
  const keepalive = allPolicies.find((policy) => policy.section === 'frontend' && policy.name === 'tcp')!
  assert.match(printFields(keepalive.schema), /\| `keepalive\.retries` \| integer, 1-64 \| `9` \|/)
})

/** The rules of the API server for structural schemas. */
function assertStructural(schema: JsonObject, path: string): void {
  for (const key of ['$ref', 'oneOf', 'anyOf', 'not', 'patternProperties', 'dependentRequired', 'const']) {
    assert.ok(!(key in schema), `${path}: ${key}`)
  }
  // Only patterns may be inside `allOf`.
  for (const part of (schema['allOf'] ?? []) as JsonObject[]) assert.deepEqual(Object.keys(part), ['pattern'], path)
  assert.ok(
    !('additionalProperties' in schema && 'properties' in schema),
    `${path}: additionalProperties with properties`,
  )
  const isOpen =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true
  assert.equal(typeof schema['type'] === 'string', !isOpen, `${path}: a type, or that there are several`)
  if (typeof schema['pattern'] === 'string') assert.ok(!/\(\?[=!<]/.test(schema['pattern']), `${path}: look-around`)
  for (const [name, child] of Object.entries((schema['properties'] ?? {}) as JsonObject)) {
    assertStructural(child as JsonObject, `${path}.${name}`)
  }
  if (schema['type'] === 'array') assertStructural(schema['items'] as JsonObject, `${path}[]`)
}

function walk(schema: Schema, path: string, visit: (path: string, schema: Schema) => void): void {
  visit(path, schema)
  const { node } = fieldOf(schema)
  if (node.kind === 'list') walk(node.item, `${path}[]`, visit)
  if (node.kind === 'object')
    for (const [name, child] of Object.entries(node.fields)) walk(child, `${path}.${name}`, visit)
}

function pathsOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path]
  const children = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return [path, ...children.flatMap(([key, child]) => pathsOf(child, [...path, key]))].filter(
    (found) => found.length > 0,
  )
}

function mutate(root: unknown, path: readonly (string | number)[], kind: string, junk: unknown): void {
  let parent = root as Record<string | number, unknown> | null
  for (const step of path.slice(0, -1)) {
    const next: unknown = parent?.[step]
    parent = typeof next === 'object' ? (next as Record<string | number, unknown> | null) : null
  }
  if (parent === null || parent === undefined) return
  const last = path.at(-1)!
  if (kind === 'replace') parent[last] = junk
  else if (Array.isArray(parent) && kind === 'delete') parent.splice(Number(last), 1)
  else if (Array.isArray(parent)) parent.push(junk)
  else if (kind === 'delete') delete parent[last]
  else parent[`${last}x`] = junk
}
