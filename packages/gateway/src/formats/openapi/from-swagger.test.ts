import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Json } from '../json.ts'
import { readOpenApi } from './read-document.ts'

const DOCUMENT = {
  swagger: '2.0',
  info: { title: 'Pets', version: '1' },
  host: 'pets.test',
  basePath: '/v2',
  consumes: ['application/json'],
  produces: ['application/xml', 'application/json'],
  parameters: { limit: { name: 'limit', in: 'query', type: 'integer', maximum: 9 } },
  definitions: {
    Pet: { type: 'object', properties: { name: { type: 'string' }, friend: { $ref: '#/definitions/Pet' } } },
  },
  paths: {
    '/pets': {
      parameters: [{ $ref: '#/parameters/limit' }],
      get: {
        operationId: 'list',
        parameters: [
          { name: 'tags', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'multi' },
          { name: 'ids', in: 'query', type: 'array', items: { type: 'integer' } },
          { name: 'pipes', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'pipes' },
        ],
        produces: ['text/csv'],
        responses: { 200: { schema: { type: 'string' } } },
      },
      post: {
        operationId: 'add',
        parameters: [{ name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } }],
      },
    },
    '/pets/{id}/photo': {
      put: {
        operationId: 'upload',
        consumes: ['multipart/form-data'],
        parameters: [
          { name: 'id', in: 'path', required: true, type: 'string' },
          { name: 'photo', in: 'formData', type: 'file', required: true, description: 'Of the pet.' },
          { name: 'note', in: 'formData', type: 'string' },
        ],
      },
      patch: {
        operationId: 'note',
        parameters: [
          { name: 'note', in: 'formData', type: 'array', items: { type: 'string' }, collectionFormat: 'ssv' },
        ],
      },
    },
  },
}

it('a 2.0 document is converted to 3.0 and read', () => {
  const read = readOpenApi(DOCUMENT as Json)
  assert.ok('tools' in read, JSON.stringify(read))
  assert.deepEqual(read.warnings, [])
  const [list, add, upload, note] = read.tools.operations
  assert.deepEqual(list?.path, ['/v2', '/pets'])
  assert.equal(list?.accept, 'text/csv')
  assert.deepEqual(
    list?.parameters.map(({ name, style, explode }) => [name, style, explode]),
    [
      ['limit', 'form', true],
      ['tags', 'form', true],
      ['ids', 'form', false],
      ['pipes', 'pipeDelimited', false],
    ],
  )
  const group = { type: 'object', additionalProperties: false }
  const limit = { type: 'integer', maximum: 9 }
  assert.deepEqual(add?.tool.inputSchema, {
    ...group,
    properties: {
      query: { ...group, properties: { limit } },
      body: { type: 'object', properties: { name: { type: 'string' }, friend: {} } },
    },
    required: ['body'],
  })
  const plain = { style: null, explode: false, mediaType: null, isFile: false }
  assert.deepEqual(upload?.body, {
    as: 'multipart',
    mediaType: 'multipart/form-data',
    required: true,
    fields: { photo: { ...plain, isFile: true } },
  })
  assert.deepEqual(note?.body, {
    as: 'form',
    mediaType: 'application/x-www-form-urlencoded',
    required: false,
    fields: { note: { ...plain, style: 'spaceDelimited' } },
  })
})
