import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import type { Json, JsonObject } from '../../schema/kit.ts'
import type { OpenApiOperation } from './operation.ts'
import { readOpenApi } from './read-document.ts'

function documentWith(operation: object, more: { [key: string]: unknown } = {}): object {
  const { item = {}, path = '/a', method = 'get', ...rest } = more
  const paths = { [path as string]: { ...(item as object), [method as string]: { operationId: 'op', ...operation } } }
  return { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths, ...rest }
}

function read(document: unknown): OpenApiOperation[] {
  const result = readOpenApi(document)
  assert.ok('tools' in result, JSON.stringify(result))
  return result.tools.operations
}

function faultsOf(document: unknown): string[] {
  const result = readOpenApi(document)
  assert.ok('faults' in result, 'the document was accepted')
  return result.faults
}

const bodyOf = (schema: object, more: object = {}): object =>
  documentWith({ requestBody: { content: { 'application/json': { schema } } } }, { method: 'post', ...more })

function bodySchema(document: unknown): Json | undefined {
  return (read(document)[0]!.tool.inputSchema.properties as JsonObject)['body']
}

const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }

describe('operations', () => {
  it('become tools with arguments by place', () => {
    const item = { parameters: [id, { name: 'q', in: 'query', schema: { type: 'string' } }] }
    const parameters = [
      { name: 'q', in: 'query', required: true, description: 'Words.', schema: { type: 'integer' } },
      { name: 'X-A', in: 'header', schema: {} },
      { name: 'Authorization', in: 'header', schema: {} },
    ]
    const document = documentWith(
      { summary: 'Short', parameters },
      { item, path: '/a/{id}.json', servers: [{ url: 'https://h.test/{v}/', variables: { v: { default: 'v2' } } }] },
    )
    const [operation] = read(document)
    assert.deepEqual(operation!.path, ['/v2', '/a/', { parameter: 'id' }, '.json'])
    const group = { type: 'object', additionalProperties: false }
    assert.deepEqual(operation!.tool, {
      name: 'op',
      title: 'Short',
      description: 'Short',
      inputSchema: {
        ...group,
        properties: {
          path: { ...group, properties: { id: { type: 'string' } }, required: ['id'] },
          query: { ...group, properties: { q: { type: 'integer', description: 'Words.' } }, required: ['q'] },
          header: { ...group, properties: { 'X-A': {} } },
        },
        required: ['path', 'query'],
      },
    })
  })

  it('are described by the best text there is', () => {
    const long = 'x'.repeat(65)
    const tool = (texts: object) => read(documentWith(texts))[0]!.tool
    assert.deepEqual([tool({}).title, tool({}).description], [undefined, 'op'])
    assert.deepEqual([tool({ summary: long }).title, tool({ summary: long }).description], [undefined, long])
    assert.equal(tool({ summary: 's', description: 'd' }).description, 'd')
  })

  it('have bodies of JSON, or of bytes', () => {
    const body = (content: object, method = 'post') =>
      read(documentWith({ requestBody: { content } }, { method }))[0]!.body
    assert.deepEqual(body({ 'text/csv': {}, 'Application/JSON; charset=utf-8': {} }), {
      mediaType: 'application/json',
      as: 'json',
      required: false,
    })
    assert.equal(body({ 'application/merge-patch+json': {} })!.mediaType, 'application/merge-patch+json')
    assert.equal(body({ 'application/octet-stream': {} })!.as, 'base64')
    assert.equal(body({ 'text/csv': {} }, 'get'), null)
  })

  it('say what objects in a query may hold', () => {
    const keys = (schema: object) =>
      read(documentWith({ parameters: [{ name: 'f', in: 'query', schema }] }))[0]!.parameters[0]!.keys
    assert.deepEqual(keys({ type: 'object', properties: { a: {}, b: {} } }), ['a', 'b'])
    assert.deepEqual(keys({ type: 'object', additionalProperties: false }), [])
    for (const open of [{}, { additionalProperties: true, properties: { a: {} } }, { additionalProperties: {} }]) {
      assert.equal(keys(open), null)
    }
  })
})

describe('schemas', () => {
  it('hold what references stand for, and nothing where they come round', () => {
    const components = {
      schemas: {
        Node: {
          type: 'object',
          properties: { next: { $ref: '#/components/schemas/Node' }, 'a/b~': { type: 'string' } },
        },
      },
    }
    const deep = { $ref: '#/components/schemas/Node/properties/a~1b~0', description: 'Mine.' }
    const schema = { type: 'object', properties: { first: { $ref: '#/components/schemas/Node' }, deep } }
    assert.deepEqual(bodySchema(bodyOf(schema, { components })), {
      type: 'object',
      properties: {
        first: { type: 'object', properties: { next: {}, 'a/b~': { type: 'string' } } },
        deep: { type: 'string', description: 'Mine.' },
      },
    })
    const loop = { schemas: { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } } }
    assert.deepEqual(bodySchema(bodyOf({ $ref: '#/components/schemas/A' }, { components: loop })), {})
  })

  it('keep data that looks like schemas', () => {
    const schema = {
      default: { $ref: 'http://a.test', nullable: true },
      enum: [{ $ref: '#/nowhere' }],
      properties: { $ref: { type: 'string' } },
    }
    assert.deepEqual(bodySchema(bodyOf(schema)), schema)
  })

  it('of 3.0 are JSON Schema afterwards', () => {
    const schema = {
      type: 'object',
      required: ['id', 'size'],
      discriminator: { propertyName: 'kind' },
      properties: {
        id: { type: 'string', readOnly: true },
        size: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
        kind: { type: 'string', nullable: true, enum: ['a', 'b'] },
      },
    }
    const expanded = bodySchema(bodyOf(schema, { openapi: '3.0.3' }))
    assert.deepEqual(expanded, {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'number', exclusiveMinimum: 0, maximum: 9 },
        kind: { type: ['string', 'null'], enum: ['a', 'b', null] },
      },
    })
    new Ajv2020({ strict: true, allowUnionTypes: true }).compile(expanded as object)
  })
})

describe('documents that cannot be called are refused', () => {
  const cases: [why: string, document: unknown, fault: RegExp][] = [
    ['no document', 'text', /^no mapping$/],
    ['an old version', { swagger: '2.0' }, /the version "2.0", and 3.0 and 3.1 are known/],
    ['nothing to call', { openapi: '3.0.0', paths: {} }, /^no operation$/],
    ['no operationId', documentWith({ operationId: undefined }), /^GET \/a: no operationId/],
    ['a name with spaces', documentWith({ operationId: 'a b' }), /^GET \/a: the operationId `a b`/],
    ['two servers', documentWith({}, { servers: [{ url: '/a' }, { url: '/b' }] }), /^more than one of `servers`/],
    ['a server of its own', documentWith({ servers: [{ url: '/b' }] }), /^operation `op`: `servers` of its own/],
    ['a server that is none', documentWith({}, { servers: [{ url: '/a/../b?x' }] }), /^`servers`: the path of/],
    [
      'cookies',
      documentWith({ parameters: [{ name: 'c', in: 'cookie' }] }),
      /^operation `op`: the parameter `c` in "cookie"/,
    ],
    [
      'a header of others',
      documentWith({ parameters: [{ name: 'X_Forwarded_For', in: 'header' }] }),
      /`X_Forwarded_For`, which is not a tool's/,
    ],
    [
      'a header that is none',
      documentWith({ parameters: [{ name: 'a\r\nb', in: 'header' }] }),
      /which is not a tool's/,
    ],
    [
      'a style',
      documentWith({ parameters: [{ ...id, style: 'matrix' }] }, { path: '/{id}' }),
      /`id`: the style "matrix"/,
    ],
    [
      'a body',
      documentWith({ requestBody: { content: { 'text/csv': {} } } }, { method: 'put' }),
      /^operation `op`: a body of `text\/csv`/,
    ],
    [
      'a remote reference',
      bodyOf({ $ref: 'other.yaml#/A' }),
      /^operation `op`: `\$ref: other.yaml#\/A`, which leads out/,
    ],
    ['a dead reference', bodyOf({ $ref: '#/components/schemas/constructor' }), /which is not in the document/],
    ['an anchor', bodyOf({ $ref: '#here' }), /which is not in the document/],
    [
      'references in circles',
      documentWith({ parameters: [{ $ref: '#/paths/~1a/get/parameters/0' }] }),
      /go round in circles/,
    ],
    ['a dynamic reference', bodyOf({ $dynamicRef: '#a' }), /\$dynamicRef/],
    [
      'a missing parameter',
      documentWith({}, { path: '/{x}' }),
      /^operation `op`: `\{x\}` in the path, but no such parameter/,
    ],
    ['a surplus parameter', documentWith({ parameters: [id] }), /a parameter `id` that is not in the path/],
    ['a path that is none', documentWith({}, { path: '/a?b=c' }), /text that is no path/],
    ['a path that climbs', documentWith({}, { path: '/a/%2E./b' }), /text that is no path/],
    ['the method TRACE', documentWith({}, { method: 'trace' }), /the method TRACE/],
    [
      'no end',
      bodyOf({ allOf: [{ $ref: '#/components/schemas/S0' }] }, { components: { schemas: doubling() } }),
      /too large, or too deep/,
    ],
  ]
  for (const [why, document, fault] of cases) {
    it(`for ${why}`, () => assert.match(faultsOf(document).join('\n'), fault))
  }

  it('for a name that two have', () => {
    const document = {
      openapi: '3.0.0',
      paths: { '/a': { get: { operationId: 'x' } }, '/b': { put: { operationId: 'x' } } },
    }
    assert.deepEqual(faultsOf(document), ['PUT /b: the operationId `x`, which GET /a has too'])
  })

  it('for a value that holds itself', () => {
    const example: { self?: unknown } = {}
    example.self = example
    assert.deepEqual(faultsOf(bodyOf({ example })), ['a value that holds itself'])
  })

  it('with all reasons at once', () => {
    const parameters = [
      { name: 'c', in: 'cookie' },
      { name: 'Host', in: 'header' },
    ]
    assert.equal(faultsOf(documentWith({ parameters }, { servers: [{ url: 'a' }, { url: 'b' }] })).length, 3)
  })
})

/** Each holds the next twice: the last level alone would have a million. */
function doubling(): object {
  const entries = Array.from({ length: 20 }, (_, level) => {
    const next = level === 19 ? { type: 'string' } : { $ref: `#/components/schemas/S${level + 1}` }
    return [`S${level}`, { type: 'object', properties: { a: next, b: next } }]
  })
  return Object.fromEntries(entries) as object
}

describe('whatever a document holds', () => {
  const known = ['#/components/schemas/A', '#/components/schemas/B', '#/components/schemas/A/properties']
  const keywords = [
    'type',
    'properties',
    'items',
    'allOf',
    '$ref',
    'required',
    'enum',
    'nullable',
    'minimum',
    'readOnly',
  ]
  const others = ['exclusiveMinimum', '__proto__', '$defs', 'in', 'name', 'schema', 'content', 'style', '$dynamicRef']

  function anything(refs: readonly string[], keys: readonly string[]): fc.Arbitrary<Json> {
    return fc.letrec<{ json: Json }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom<Json[]>(null, true, 1, '', 'string'),
        fc.array(tie('json'), { maxLength: 3 }),
        fc
          .array(fc.tuple(fc.constantFrom(...keys), tie('json')), { maxLength: 4 })
          .map((all) => Object.fromEntries(all) as Json),
        fc.constantFrom(...refs).map(($ref) => ({ $ref })),
      ),
    })).json
  }

  it('nothing is thrown', () => {
    const json = anything([...known, '#', '#/paths', 'x', '#/a~2%'], [...keywords, ...others])
    const parameter = fc.record({ name: fc.constantFrom('b', 'q'), in: fc.constantFrom('path', 'query'), schema: json })
    const item = fc.record({
      parameters: fc.array(fc.oneof(json, parameter), { maxLength: 3 }),
      post: fc.record({ operationId: fc.constant('op'), requestBody: json }),
    })
    const document = fc.record({
      openapi: fc.constantFrom('3.0.1', '3.1.0'),
      servers: json,
      components: fc.record({ schemas: fc.record({ A: json, B: json }) }),
      paths: fc.dictionary(fc.constantFrom('/a', '/a/{b}', '/{', 'b'), fc.oneof(json, item)),
    })
    fc.assert(
      fc.property(document, (value) => {
        const result = readOpenApi(value)
        assert.ok('tools' in result || result.faults.length > 0)
      }),
      { numRuns: 1_000 },
    )
  })

  it('tools hold no reference, and data that can be sent', () => {
    const schema = anything(
      known.slice(0, 2),
      keywords.filter((key) => key !== '$ref'),
    )
    fc.assert(
      fc.property(fc.constantFrom('3.0.1', '3.1.0'), schema, schema, schema, (openapi, body, A, B) => {
        const [operation] = read(bodyOf(body as object, { openapi, components: { schemas: { A, B } } }))
        assertNoReference(operation!.tool.inputSchema)
        assert.deepEqual(JSON.parse(JSON.stringify(operation)), operation)
      }),
      { numRuns: 1_000 },
    )
  })
})

/** Where schemas stand; data may look like anything. */
function assertNoReference(schema: Json): void {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return
  assert.notEqual(typeof schema.$ref, 'string')
  const { properties, items, allOf } = schema
  for (const child of [...Object.values(properties ?? {}), items ?? null, ...(Array.isArray(allOf) ? allOf : [])]) {
    assertNoReference(child as Json)
  }
}
