import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type JsonObject, type Loss, UnsupportedField } from '../middle.ts'
import { decodeRanking, decodeRerankRequest, encodeRanking, rerankUpstreams, searchUnitsOf } from './index.ts'

const target = { model: 'm', region: 'eu-central-1', nextToken: null }

function decode(body: JsonObject) {
  const request = decodeRerankRequest(body)
  assert.ok(!(request instanceof UnsupportedField), 'refused')
  return request
}

test('a request of Cohere with objects becomes texts, and what is lost is named', () => {
  const losses: Loss[] = []
  const request = decode({ query: 'q', documents: ['a', { text: 'b', n: 1 }], rank_fields: ['text'], priority: 1 })
  assert.deepEqual(rerankUpstreams.cohere.encodeRequest(request, target, losses), {
    model: 'm',
    query: 'q',
    documents: ['a', 'b'],
    priority: 1,
  })
  assert.deepEqual(losses, [{ what: 'dropped', path: 'rank_fields' }])
  const noText = decode({ query: 'q', documents: [{ title: 'b' }] })
  for (const upstream of [rerankUpstreams.cohere, rerankUpstreams.vertex]) {
    const refused = upstream.encodeRequest(noText, target, [])
    assert.ok(refused instanceof UnsupportedField)
    assert.equal(refused.field, 'documents')
  }
})

test('Bedrock gets an ARN in the partition of its region, and objects as JSON', () => {
  const { bedrock } = rerankUpstreams
  const request = decode({ query: 'q', documents: [{ title: 'b' }], top_n: 5, max_tokens_per_doc: 9 })
  const arnIn = (region: string, model = 'cohere.rerank') =>
    JSON.stringify(bedrock.encodeRequest(request, { model, region, nextToken: null }, []))
  assert.match(arnIn('cn-north-1'), /"modelArn":"arn:aws-cn:bedrock:cn-north-1::foundation-model\/cohere.rerank"/)
  assert.match(arnIn('us-gov-west-1'), /arn:aws-us-gov:/)
  assert.match(arnIn('us-east-1', 'arn:aws:x'), /"modelArn":"arn:aws:x"/)
  assert.match(arnIn('us-east-1'), /"numberOfResults":1/)
  assert.match(arnIn('us-east-1'), /"additionalModelRequestFields":\{"max_tokens_per_doc":9\}/)
  assert.match(arnIn('us-east-1'), /\{"type":"JSON","jsonDocument":\{"title":"b"\}\}/)
})

test('usage is the tokens of Jina and Voyage, or the searches of Cohere', () => {
  const results = [{ index: 0, relevance_score: 1 }]
  const usage = (body: JsonObject) => decodeRanking(body)?.usage
  assert.deepEqual(usage({ results, usage: { total_tokens: 3 } }), { input: 3, providerInput: 3, providerTotal: 3 })
  assert.deepEqual(usage({ data: results, usage: { total_tokens: 0 } })?.input, 0)
  assert.deepEqual(usage({ results, meta: { billed_units: { search_units: 2 } } }), { searchUnits: 2 })
  assert.equal(usage({ results }), null)
  assert.deepEqual(
    [0, 1, 100, 101].map((count) => searchUnitsOf(Array.from({ length: count }))),
    [1, 1, 1, 2],
  )
})

test('results come in the order of their score, at most as many as the client wants', () => {
  const request = decode({ query: 'q', documents: ['a', 'b', 'c'], top_n: 2, model: 'm' })
  const ranking = [0.1, 0.9, 0.5].map((score, index) => ({ index, score }))
  const body = encodeRanking({ id: 'i', results: ranking, usage: null, nextToken: null }, request)
  assert.deepEqual(body.results, [
    { index: 1, relevance_score: 0.9 },
    { index: 2, relevance_score: 0.5 },
  ])
})

test('a ranking survives each format', () => {
  const scores = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 })
  fc.assert(
    fc.property(scores, (given) => {
      const documents = given.map(String)
      const results = given.map((score, index) => ({ index, score }))
      for (const name of ['top_n', 'top_k']) {
        const request = decode({ query: 'q', documents, [name]: 20 })
        const encoded = encodeRanking({ id: '', results, usage: null, nextToken: null }, request)
        const again = decodeRanking(encoded)?.results.toSorted((one, other) => one.index - other.index)
        assert.deepEqual(again, results)
      }
    }),
  )
})

test('any JSON is read or refused', () => {
  const json = fc.json().map((text): JsonObject[string] => JSON.parse(text))
  const body = fc.record({ query: json, documents: json, top_n: json, results: json, data: json, records: json })
  fc.assert(
    fc.property(body, (given) => {
      const request = decodeRerankRequest(given)
      for (const upstream of Object.values(rerankUpstreams)) {
        upstream.decodeResponse(given)
        if (!(request instanceof UnsupportedField)) upstream.encodeRequest(request, target, [])
      }
    }),
  )
})
