import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { applyEdits } from '@portico/http/json'
import type { JsonObject } from '@portico/chat'
import { callOf, headersOf, providerOf, targetOf } from '../test-provider.ts'

const vertexai = providerOf({ vertexai: { projectId: 'p1' } })
const root = '/v1/projects/p1/locations/global'

test('the region gives the host', () => {
  const host = (region: string) => providerOf({ vertexai: { projectId: 'p', region } }).destination.host
  assert.equal(vertexai.destination.host, 'aiplatform.googleapis.com')
  assert.equal(host('us'), 'aiplatform.us.rep.googleapis.com')
  assert.equal(host('eu'), 'aiplatform.eu.rep.googleapis.com')
  assert.equal(host('us-east5'), 'us-east5-aiplatform.googleapis.com')
})

test('the publisher of a model gives format and path', () => {
  const claude = `${root}/publishers/anthropic/models`
  const google = `${root}/publishers/google/models`
  const cases: [model: string, format: string, path: string, streamed: string][] = [
    ['claude-sonnet-4-5@20250929', 'messages', `${claude}/claude-sonnet-4-5@20250929:rawPredict`, 'streamRawPredict'],
    ['claude-sonnet-4-5-20250929', 'messages', `${claude}/claude-sonnet-4-5@20250929:rawPredict`, 'streamRawPredict'],
    ['anthropic/claude-opus-4-1', 'messages', `${claude}/claude-opus-4-1:rawPredict`, 'streamRawPredict'],
    ['publishers/anthropic/models/claude-x', 'messages', `${claude}/claude-x:rawPredict`, 'streamRawPredict'],
    ['gemini-2.5-pro', 'gemini', `${google}/gemini-2.5-pro:generateContent`, 'streamGenerateContent?alt=sse'],
    ['google/gemini-2.5-pro', 'gemini', `${google}/gemini-2.5-pro:generateContent`, 'streamGenerateContent?alt=sse'],
    ['models/gemini-2.5-pro', 'gemini', `${google}/gemini-2.5-pro:generateContent`, 'streamGenerateContent?alt=sse'],
  ]
  for (const [model, format, path, verb] of cases) {
    assert.deepEqual(vertexai.chatFormats(model), [format], model)
    assert.equal(targetOf(vertexai, { model, clientTarget: '/v1/messages?beta=true' }), path)
    assert.equal(targetOf(vertexai, { model, stream: true }), path.replace(/:[a-zA-Z]+$/, `:${verb}`))
  }
  for (const model of ['meta/llama-4', 'gemini-embedding-001', 'mistral-large']) {
    assert.deepEqual(vertexai.chatFormats(model), ['completions'])
    assert.equal(targetOf(vertexai, { model }), `${root}/endpoints/openapi/chat/completions`)
  }
})

test('other calls', () => {
  assert.equal(
    targetOf(vertexai, { kind: 'embeddings', model: 'google/gemini-embedding-001' }),
    `${root}/publishers/google/models/gemini-embedding-001:predict`,
  )
  assert.equal(
    targetOf(vertexai, { kind: 'countTokens', model: 'claude-x' }),
    `${root}/publishers/anthropic/models/count-tokens:rawPredict`,
  )
  const list = (publisher: string) => `/v1beta1/publishers/${publisher}/models?pageSize=1000`
  assert.equal(targetOf(vertexai, { kind: 'models', clientTarget: '/v1/models?after=x' }), list('google'))
  assert.equal(targetOf(vertexai, { kind: 'models', format: 'messages' }), list('anthropic'))
  assert.equal(vertexai.tokenCount('claude-x'), 'messages')
  assert.equal(vertexai.tokenCount('gemini-2.5-pro'), null)
})

test('Claude gets its version in the body and its model in the path', () => {
  const claude = callOf({ format: 'messages', model: 'claude-sonnet-4-5-20250929' })
  const headers = { get: () => null, joined: () => null }
  const edited = (body: JsonObject, call = claude) => applyEdits(body, vertexai.finishBody(body, call, headers))
  const version = { anthropic_version: 'vertex-2023-10-16' }
  assert.deepEqual(edited({ model: 'x', max_tokens: 1, output_format: null }), { max_tokens: 1, ...version })
  const format = { type: 'json_schema', schema: {} }
  assert.deepEqual(edited({ output_format: format, output_config: { effort: 'low' } }), {
    output_config: { effort: 'low', format },
    ...version,
  })
  assert.deepEqual(edited({ model: 'x' }, { ...claude, kind: 'countTokens' }), {
    model: 'claude-sonnet-4-5@20250929',
    ...version,
  })
  const marked = (mark: JsonObject) => [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: mark }] }]
  const body = {
    messages: marked({ type: 'ephemeral', scope: 'global', ttl: '1h' }),
    system: [{ cache_control: { scope: 1 } }],
  }
  assert.deepEqual(edited(body), {
    messages: marked({ type: 'ephemeral', ttl: '1h' }),
    system: [{ cache_control: {} }],
    ...version,
  })
  assert.equal(vertexai.finishBody({ model: 'x' }, callOf({ model: 'gemini-2.5-pro' }), headers).size, 0)
  assert.equal(vertexai.finishBody({ a: 1 }, { ...claude, kind: 'raw' }, headers).size, 0)
})

test('conversations without scopes are not touched', () => {
  const headers = { get: () => null, joined: () => null }
  fc.assert(
    fc.property(fc.jsonValue(), (content) => {
      const messages = JSON.parse(JSON.stringify([{ content }]).replaceAll('scope', 'x')) as JsonObject[]
      const edits = vertexai.finishBody({ messages }, callOf({ model: 'claude-x' }), headers)
      assert.deepEqual([...edits.keys()], ['anthropic_version', 'model'])
    }),
    { seed: 3 },
  )
})

test('Claude keeps the headers of its SDK, others do not get them', () => {
  const sent = { authorization: 'Bearer t', 'anthropic-beta': 'b', 'x-goog-user-project': 'p' }
  assert.deepEqual(headersOf(vertexai, sent, { format: 'messages' }), {
    authorization: 'Bearer t',
    'anthropic-beta': 'b',
  })
  assert.deepEqual(headersOf(vertexai, sent, { format: 'gemini' }), {
    authorization: 'Bearer t',
    'x-goog-user-project': 'p',
  })
})

test('quirks of Claude', () => {
  const quirks = [...vertexai.quirks('claude-sonnet-4-5@20250929', 'messages')].toSorted()
  assert.deepEqual(quirks, ['bytesOnly', 'noCacheScope', 'noModel', 'noOutputFormat', 'temperatureOrTopP'])
  assert.equal(vertexai.quirks('gemini-2.5-pro', 'gemini').size, 0)
})
