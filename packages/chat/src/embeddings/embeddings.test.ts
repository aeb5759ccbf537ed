import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject, Loss } from '../middle.ts'
import { UnsupportedField } from '../middle.ts'
import type { EmbeddingRequest, Embeddings, EmbeddingUpstream } from './embedding.ts'
import { decodeEmbeddingRequest, decodeGeminiEmbeddings, embeddingUpstreams, encodeEmbeddings } from './index.ts'

const { openai, vertex, titan, cohere, nova } = embeddingUpstreams
const noHeader = () => undefined
const counted = (name: string) => (name === 'x-amzn-bedrock-input-token-count' ? '7' : undefined)
const sevenTokens = { input: 7, providerInput: 7, providerTotal: 7 }

function decode(body: JsonObject): EmbeddingRequest {
  const request = decodeEmbeddingRequest({ model: 'asked-for', ...body })
  assert.ok(!(request instanceof UnsupportedField), request instanceof UnsupportedField ? request.message : '')
  return request
}

function encode(
  upstream: EmbeddingUpstream,
  body: JsonObject,
  model = 'model',
): { body: JsonObject; losses: string[] } {
  const losses: Loss[] = []
  const encoded = upstream.encodeRequest(decode(body), model, losses)
  assert.ok(!(encoded instanceof UnsupportedField), encoded instanceof UnsupportedField ? encoded.message : '')
  return { body: encoded, losses: losses.map(({ what, path }) => `${what} ${path}`) }
}

function refusedField(upstream: EmbeddingUpstream, body: JsonObject, model = 'model'): string {
  const refused = upstream.encodeRequest(decode(body), model, [])
  assert.ok(refused instanceof UnsupportedField)
  return refused.field
}

test('OpenAI gets what the client said', () => {
  for (const input of ['a', ['a', 'b'], [1, 2], [[1, 2], [3]], []]) {
    const body = { model: 'model', input, dimensions: 3, encoding_format: 'base64', user: 'u', strange: { a: 1 } }
    assert.deepEqual(encode(openai, body), { body, losses: [] })
  }
})

test('OpenAI gets no settings of Google, which are named', () => {
  const entry = { content: { parts: [{ text: 'a' }] }, taskType: 'RETRIEVAL_DOCUMENT', title: 'T', strange: 1 }
  const request = decodeGeminiEmbeddings({ model: 'asked-for', ...entry }, false)
  assert.ok(!(request instanceof UnsupportedField))
  const losses: Loss[] = []
  assert.deepEqual(openai.encodeRequest(request, 'model', losses), { model: 'model', input: 'a', strange: 1 })
  assert.deepEqual(losses, [
    { what: 'dropped', path: 'task_type' },
    { what: 'dropped', path: 'title' },
  ])
})

test('malformed requests are refused by name', () => {
  const refused = (body: JsonObject) => {
    const request = decodeEmbeddingRequest(body)
    assert.ok(request instanceof UnsupportedField)
    return request.field
  }
  assert.equal(refused({}), 'input')
  assert.equal(refused({ input: 3 }), 'input')
  assert.equal(refused({ input: ['a', 1] }), 'input')
  assert.equal(refused({ input: 'a', encoding_format: 'int8' }), 'encoding_format')
  assert.equal(refused({ input: 'a', dimensions: '3' }), 'dimensions')
})

test('the answer of OpenAI in order, with its usage', () => {
  const body = {
    object: 'list',
    model: 'text-embedding-3-small',
    data: [
      { object: 'embedding', index: 1, embedding: [3, 4] },
      { object: 'embedding', index: 0, embedding: [1, 2] },
    ],
    usage: { prompt_tokens: 5, total_tokens: 5 },
  }
  assert.deepEqual(openai.decodeResponse(body, noHeader), {
    model: 'text-embedding-3-small',
    vectors: [
      [1, 2],
      [3, 4],
    ],
    usage: { input: 5, providerInput: 5, providerTotal: 5 },
  })
  assert.equal(openai.decodeResponse({ data: [{ embedding: null }] }, noHeader), null)
  assert.equal(openai.decodeResponse({ error: {} }, noHeader), null)
})

test('Vertex AI predicts', () => {
  assert.deepEqual(encode(vertex, { input: ['a', 'b'] }), {
    body: {
      instances: [
        { content: 'a', task_type: 'RETRIEVAL_QUERY' },
        { content: 'b', task_type: 'RETRIEVAL_QUERY' },
      ],
    },
    losses: [],
  })
  const given = { input: 'a', task_type: 'RETRIEVAL_DOCUMENT', title: 'T', auto_truncate: false, dimensions: 64, x: 1 }
  assert.deepEqual(encode(vertex, { ...given, user: 'u' }), {
    body: {
      instances: [{ content: 'a', task_type: 'RETRIEVAL_DOCUMENT', title: 'T' }],
      parameters: { autoTruncate: false, outputDimensionality: 64 },
    },
    losses: ['dropped x', 'dropped user'],
  })
  const prediction = (values: number[], token_count: number) => ({
    embeddings: { values, statistics: { token_count, truncated: false } },
  })
  assert.deepEqual(vertex.decodeResponse({ predictions: [prediction([1, 2], 3), prediction([3, 4], 4)] }, noHeader), {
    model: '',
    vectors: [
      [1, 2],
      [3, 4],
    ],
    usage: sevenTokens,
  })
  assert.equal(vertex.decodeResponse({ predictions: [{ embeddings: {} }] }, noHeader), null)
})

test('Titan takes one text', () => {
  assert.deepEqual(encode(titan, { input: ['a'], dimensions: 256, normalize: true }), {
    body: { inputText: 'a', dimensions: 256, normalize: true },
    losses: [],
  })
  assert.deepEqual(encode(titan, { input: 'a', dimensions: 256 }, 'amazon.titan-embed-image-v1').body, {
    inputText: 'a',
    embeddingConfig: { outputEmbeddingLength: 256 },
  })
  assert.equal(refusedField(titan, { input: ['a', 'b'] }), 'input')
  assert.equal(refusedField(titan, { input: [] }), 'input')
  const answer: Embeddings = { model: '', vectors: [[1, 2]], usage: sevenTokens }
  assert.deepEqual(titan.decodeResponse({ embedding: [1, 2], inputTextTokenCount: 7 }, noHeader), answer)
  assert.deepEqual(titan.decodeResponse({ embeddingsByType: { float: [1, 2] } }, counted), answer)
  assert.equal(titan.decodeResponse({ message: 'no' }, counted), null)
})

test('Cohere takes many texts', () => {
  assert.deepEqual(encode(cohere, { input: ['a', 'b'] }).body, { texts: ['a', 'b'], input_type: 'search_query' })
  const given = { input: 'a', input_type: 'search_document', truncate: 'END', dimensions: 512 }
  assert.deepEqual(encode(cohere, given, 'us.cohere.embed-v4:0').body, {
    texts: ['a'],
    input_type: 'search_document',
    output_dimension: 512,
    truncate: 'END',
  })
  assert.equal(refusedField(cohere, { input: 'a', dimensions: 512 }, 'cohere.embed-english-v3'), 'dimensions')
  const answer: Embeddings = { model: '', vectors: [[1, 2]], usage: sevenTokens }
  assert.deepEqual(cohere.decodeResponse({ embeddings: [[1, 2]] }, counted), answer)
  assert.deepEqual(cohere.decodeResponse({ embeddings: { float: [[1, 2]] } }, counted), answer)
  assert.equal(cohere.decodeResponse({ embeddings: [[1, 2]] }, noHeader)?.usage, null)
  assert.equal(cohere.decodeResponse({ embeddings: ['x'] }, counted), null)
})

test('Nova takes one text', () => {
  assert.deepEqual(encode(nova, { input: 'a', dimensions: 384 }).body, {
    schemaVersion: 'nova-multimodal-embed-v1',
    taskType: 'SINGLE_EMBEDDING',
    singleEmbeddingParams: {
      embeddingPurpose: 'GENERIC_INDEX',
      embeddingDimension: 384,
      text: { truncationMode: 'END', value: 'a' },
    },
  })
  assert.equal(refusedField(nova, { input: ['a', 'b'] }), 'input')
  assert.deepEqual(nova.decodeResponse({ embeddings: [{ embeddingType: 'TEXT', embedding: [1, 2] }] }, counted), {
    model: '',
    vectors: [[1, 2]],
    usage: sevenTokens,
  })
})

test('tokens are only for OpenAI', () => {
  for (const upstream of [vertex, titan, cohere, nova]) assert.equal(refusedField(upstream, { input: [1, 2] }), 'input')
})

test('the client gets the encoding that it asked for', () => {
  const answer: Embeddings = { model: '', vectors: [[1, -0.5]], usage: { input: 7 } }
  assert.deepEqual(encodeEmbeddings(answer, decode({ input: 'a' })), {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [1, -0.5] }],
    model: 'asked-for',
    usage: { prompt_tokens: 7, total_tokens: 7 },
  })
  const encoded = encodeEmbeddings(answer, decode({ input: 'a', encoding_format: 'base64' }))
  assert.deepEqual(encoded.data, [{ object: 'embedding', index: 0, embedding: 'AACAPwAAAL8=' }])
})

test('vectors survive base64', () => {
  const float = fc.float({ noNaN: true })
  fc.assert(
    fc.property(fc.array(float), (vector) => {
      const packed = encodeEmbeddings(
        { model: 'm', vectors: [vector], usage: null },
        decode({ input: 'a', encoding_format: 'base64' }),
      )
      const answer = openai.decodeResponse(packed, noHeader)
      assert.ok(answer !== null)
      assert.deepEqual(encodeEmbeddings(answer, decode({ input: 'a' })).data, [
        { object: 'embedding', index: 0, embedding: vector },
      ])
    }),
  )
})

test('any JSON is read or refused', () => {
  const json = fc.json().map((text): JsonObject[string] => JSON.parse(text))
  const body = fc.record({
    input: json,
    data: json,
    predictions: json,
    embedding: json,
    embeddings: json,
    dimensions: json,
  })
  fc.assert(
    fc.property(body, (given) => {
      decodeEmbeddingRequest(given)
      for (const upstream of Object.values(embeddingUpstreams)) upstream.decodeResponse(given, noHeader)
    }),
  )
})
