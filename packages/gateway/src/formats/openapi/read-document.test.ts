import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isObject } from '@portico/http/json'
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import type { Json, JsonObject } from '../json.ts'
import { EVERYTHING, type OpenApiChoice } from './choose-operations.ts'
import type { OpenApiOperation } from './operation.ts'
import { readOpenApi } from './read-document.ts'

function documentWith(operation: object, more: { [key: string]: unknown } = {}): object {
  const { item = {}, path = '/a', method = 'get', ...rest } = more
  const paths = { [path as string]: { ...(item as object), [method as string]: { operationId: 'op', ...operation } } }
  return { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths, ...rest }
}

function read(document: unknown, choice: Partial<OpenApiChoice> = {}): OpenApiOperation[] {
  const result = readOpenApi(document as Json, { ...EVERYTHING, ...choice })
  assert.ok('tools' in result, JSON.stringify(result))
  return result.tools.operations
}

function faultsOf(document: unknown, choice: Partial<OpenApiChoice> = {}): string[] {
  const result = readOpenApi(document as Json, { ...EVERYTHING, ...choice })
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

  it('have bodies of the kind that a model writes best', () => {
    const body = (content: object, method = 'post') =>
      read(documentWith({ requestBody: { content } }, { method }))[0]!.body
    assert.deepEqual(body({ 'text/csv': {}, 'Application/JSON; charset=utf-8': {} }), {
      mediaType: 'application/json',
      as: 'json',
      required: false,
      fields: {},
    })
    const kinds: [type: string, as: string, sentAs?: string][] = [
      ['application/merge-patch+json', 'json'],
      ['application/x-www-form-urlencoded', 'form'],
      ['multipart/form-data', 'multipart'],
      ['*/*', 'json', 'application/json'],
      ['text/csv', 'text'],
      ['text/*', 'text', 'text/plain'],
      ['application/soap+xml', 'text'],
      ['application/octet-stream', 'base64'],
      ['image/png', 'base64'],
      ['image/*', 'base64', 'application/octet-stream'],
    ]
    for (const [type, as, sentAs = type] of kinds) {
      const { mediaType, as: found } = body({ [type]: {} })!
      assert.deepEqual([found, mediaType], [as, sentAs], type)
    }
    assert.equal(body({ 'text/csv': {} }, 'get'), null)
  })

  it('have forms whose files are given in base64', () => {
    const properties = {
      name: { type: 'string' },
      photo: { type: 'string', format: 'binary', description: 'Of the pet.' },
      more: { type: 'array', items: { type: 'string', contentMediaType: 'image/png' } },
      tags: { type: 'array' },
    }
    const encoding = { tags: { style: 'pipeDelimited' }, photo: { contentType: 'image/png, image/jpeg' } }
    const content = { 'multipart/form-data': { schema: { type: 'object', properties }, encoding } }
    const [operation] = read(documentWith({ requestBody: { content } }, { method: 'post' }))
    const plain = { style: null, explode: false, mediaType: null, isFile: false }
    assert.deepEqual(operation!.body!.fields, {
      photo: { ...plain, mediaType: 'image/png', isFile: true },
      more: { ...plain, isFile: true },
      tags: { ...plain, style: 'pipeDelimited' },
    })
    const shown = operation!.tool.inputSchema.properties as { body: { properties: JsonObject } }
    const bytes = { type: 'string', contentEncoding: 'base64' }
    assert.deepEqual(shown.body.properties.photo, { ...bytes, description: 'Of the pet. In base64.' })
    assert.deepEqual(shown.body.properties.more, {
      type: 'array',
      items: { ...bytes, description: 'A file. In base64.' },
    })
  })

  it('ask for what they answer', () => {
    const accept = (...types: string[]) => {
      const content = Object.fromEntries(types.map((type) => [type, {}]))
      return read(documentWith({ responses: { 200: { content }, 400: { content: { 'text/html': {} } } } }))[0]!.accept
    }
    assert.equal(accept(), 'application/json')
    assert.equal(accept('text/csv', 'application/json'), 'application/json')
    assert.equal(accept('text/csv', 'application/hal+json'), 'application/hal+json')
    assert.equal(accept('text/csv', 'image/png'), 'text/csv, image/png')
    assert.equal(accept('not a type'), 'application/json')
  })

  it('have parameters for what stands in their path, declared or not', () => {
    const [operation] = read(documentWith({ parameters: [id] }, { path: '/{x}' }))
    assert.deepEqual(
      operation!.parameters.map(({ name }) => name),
      ['x'],
    )
    assert.deepEqual(operation!.tool.inputSchema.required, ['path'])
  })

  it('are served where the target is', () => {
    const servers = [{ url: 'https://a.test/v1' }, { url: 'http://B.test:81/v2/' }, { url: '/../bad' }]
    const path = (document: object, choice: Partial<OpenApiChoice>) => read(document, choice)[0]!.path
    const several = documentWith({}, { servers })
    assert.deepEqual(path(several, {}), ['/v1', '/a'])
    assert.deepEqual(path(several, { host: 'b.test' }), ['/v2', '/a'])
    assert.deepEqual(path(several, { host: 'b.test', basePath: '/v3/' }), ['/v3', '/a'])
    assert.deepEqual(path(several, { basePath: '/' }), ['/a'])
    assert.deepEqual(path(documentWith({ servers: [{ url: 'v4' }] }, { servers }), {}), ['/v4', '/a'])
    assert.deepEqual(path(documentWith({}, { servers, item: { servers: [{ url: 'https://b.test/v5' }] } }), {}), [
      '/v5',
      '/a',
    ])
    const elsewhere = documentWith({ servers: [{ url: 'https://uploads.test' }] }, { servers })
    assert.deepEqual(path(elsewhere, { host: 'uploads.test' }), ['/a'])
    assert.match(faultsOf(elsewhere).join(), /operation `op`: a server of its own, uploads.test, which needs a target/)
  })

  it('are chosen by id, tag, path and method', () => {
    const operation = (...tags: string[]) => ({ tags })
    const document = {
      openapi: '3.0.0',
      paths: {
        '/pets': { get: { operationId: 'pets/list', tags: ['pets'] }, post: operation('pets', 'admin') },
        '/pets/{id}': { get: operation('pets'), delete: operation('admin') },
        '/shops': { get: operation('shops') },
      },
    }
    const names = (choice: Partial<OpenApiChoice>) => read(document, choice).map(({ tool }) => tool.name)
    assert.deepEqual(names({}), ['pets_list', 'post_pets', 'get_pets_id', 'delete_pets_id', 'get_shops'])
    assert.deepEqual(names({ include: [{ tag: 'pets' }], exclude: [{ tag: 'admin' }] }), ['pets_list', 'get_pets_id'])
    assert.deepEqual(names({ include: [{ path: '/pets*', methods: ['GET', 'DELETE'] }] }), [
      'pets_list',
      'get_pets_id',
      'delete_pets_id',
    ])
    assert.deepEqual(names({ include: [{ operationId: 'pets/*' }, { path: '/shops' }] }), ['pets_list', 'get_shops'])
    assert.deepEqual(names({ exclude: [{ methods: ['GET'] }] }), ['post_pets', 'delete_pets_id'])
    assert.deepEqual(faultsOf(document, { include: [{ tag: 'x' }] }), [
      'no operation left after `include` and `exclude`',
    ])
    assert.match(faultsOf(document, { maxTools: 4 }).join(), /^5 operations, which is more than `maxTools` \(4\)/)
    assert.equal(names({ maxTools: 4, exclude: [{ tag: 'shops' }] }).length, 4)
  })

  it('that cannot be called are left out, and named', () => {
    const document = {
      openapi: '3.0.0',
      paths: {
        '/a': { get: { operationId: 'good' }, put: { operationId: 'bad', requestBody: { $ref: 'other.yaml' } } },
        '/b': { $ref: '#/nowhere' },
        '/c?d': { get: {} },
      },
    }
    const result = readOpenApi(document)
    assert.ok('tools' in result)
    assert.deepEqual(
      result.tools.operations.map(({ tool }) => tool.name),
      ['good'],
    )
    assert.deepEqual(result.warnings, [
      'path /b: `$ref: #/nowhere`, which is not in the document',
      'operation `bad`: `$ref: other.yaml`, which leads out of the document: not offered',
      'GET /c?d: a path with `?`, which ends the path of a URL: use `%3F` for the character: not offered',
    ])
  })

  it('lose parameters that are not for tools to set', () => {
    for (const name of ['X_Forwarded_For', 'Host', 'a\r\nb']) {
      const result = readOpenApi(documentWith({ parameters: [{ name, in: 'header', required: true }] }) as Json)
      assert.ok('tools' in result)
      assert.deepEqual(result.tools.operations[0]!.parameters, [])
      assert.match(result.warnings.join(), /which tools cannot set: left out/)
    }
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

  it('that would have no end are written out as deep as there is room', () => {
    const endless = bodySchema(
      bodyOf({ allOf: [{ $ref: '#/components/schemas/S0' }] }, { components: { schemas: doubling() } }),
    )
    const text = JSON.stringify(endless)
    assert.ok(text.length > 1_000 && text.length < 200_000, `${text.length} characters`)
    assert.match(text, /"properties":\{"a":\{"type":"object","properties":/)
  })

  it('keep data that looks like schemas', () => {
    const schema = {
      default: { $ref: 'http://a.test', nullable: true },
      enum: [{ $ref: '#/nowhere' }],
      properties: { $ref: { type: 'string' } },
    }
    assert.deepEqual(bodySchema(bodyOf(schema)), schema)
  })

  it('have one short example', () => {
    const parameters = [
      { name: 'a', in: 'query', schema: { type: 'string', example: 'x' } },
      { name: 'b', in: 'query', schema: {}, examples: { one: { value: 1 }, two: { value: 2 } } },
      { name: 'c', in: 'query', schema: { examples: ['y', 'z'] }, example: 'x'.repeat(300) },
    ]
    const [operation] = read(documentWith({ parameters }))
    const { query } = operation!.tool.inputSchema.properties as { query: JsonObject }
    assert.deepEqual(query.properties, {
      a: { type: 'string', examples: ['x'] },
      b: { examples: [1] },
      c: { examples: ['y'] },
    })
  })

  it('that may be null say so, whatever they are made of', () => {
    const schema = { nullable: true, description: 'D', allOf: [{ type: 'object' }] }
    assert.deepEqual(bodySchema(bodyOf(schema, { openapi: '3.0.3' })), {
      description: 'D',
      anyOf: [{ allOf: [{ type: 'object' }] }, { type: 'null' }],
    })
  })

  it('are converted from 3.0 to JSON Schema', () => {
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
    ['an old version', { swagger: '1.2' }, /the version "1.2": supported are 2.0, 3.0 and 3.1/],
    ['nothing to call', { openapi: '3.0.0', paths: {} }, /^no operation$/],
    [
      'a style',
      documentWith({ parameters: [{ ...id, style: 'deepObject' }] }, { path: '/{id}' }),
      /`id`: the style "deepObject", which a path cannot have/,
    ],
    [
      'a body',
      documentWith({ requestBody: { content: { 'multipart/mixed': {} } } }, { method: 'put' }),
      /^operation `op`: a body of `multipart\/mixed`/,
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
      /circular references/,
    ],
    ['a dynamic reference', bodyOf({ $dynamicRef: '#a' }), /\$dynamicRef/],
    ['a path with a query', documentWith({}, { path: '/a?b=c' }), /a path with `\?`, which ends the path of a URL/],
    ['a path with a fragment', documentWith({}, { path: '/#Target=x' }), /a path with `#`.*use `%23`/],
    [
      'a path that climbs',
      documentWith({}, { path: '/a/%2E./b' }),
      /a path with characters or segments that a request cannot have/,
    ],
    ['the method TRACE', documentWith({}, { method: 'trace' }), /the method TRACE/],
  ]
  for (const [why, document, fault] of cases) {
    it(`for ${why}`, () => assert.match(faultsOf(document).join('\n'), fault))
  }

  it('with all reasons at once', () => {
    const parameters = [
      { name: 'c', in: 'somewhere' },
      { name: 'x', in: 'query', style: 'simple' },
    ]
    assert.match(faultsOf(documentWith({ parameters })).join(), /"somewhere".*; .*the style "simple"/)
  })
})

/** Each schema contains the next twice: the last level alone would have a million. */
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
    const parameter = fc.record({
      name: fc.constantFrom('b', 'q'),
      in: fc.constantFrom('path', 'query', 'formData'),
      schema: json,
    })
    const item = fc.record({
      parameters: fc.array(fc.oneof(json, parameter), { maxLength: 3 }),
      post: fc.record({ operationId: fc.constant('op'), requestBody: json }),
    })
    const document = fc.record({
      openapi: fc.constantFrom('3.0.1', '3.1.0', '2'),
      servers: json,
      components: fc.record({ schemas: fc.record({ A: json, B: json }) }),
      paths: fc.dictionary(fc.constantFrom('/a', '/a/{b}', '/{', 'b'), fc.oneof(json, item)),
    })
    fc.assert(
      fc.property(document, (value) => {
        const { openapi, ...rest } = value
        const result = readOpenApi(openapi === '2' ? { swagger: '2.0', ...rest } : value)
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

/** Checks only positions that hold schemas, because data may contain anything. */
function assertNoReference(schema: Json): void {
  if (!isObject(schema)) return
  assert.notEqual(typeof schema.$ref, 'string')
  const { properties, items, allOf } = schema
  for (const child of [...Object.values(properties ?? {}), items ?? null, ...(Array.isArray(allOf) ? allOf : [])]) {
    assertNoReference(child as Json)
  }
}
