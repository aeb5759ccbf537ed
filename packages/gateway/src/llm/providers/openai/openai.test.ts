import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headersOf, providerOf, targetOf } from '../test-provider.ts'

const openai = providerOf({ openai: {} })

test('every call has its path', () => {
  assert.deepEqual(openai.destination, {
    host: 'api.openai.com',
    port: 443,
    tls: true,
    authority: 'api.openai.com',
  })
  assert.equal(targetOf(openai, {}), '/v1/chat/completions')
  assert.equal(targetOf(openai, { format: 'responses' }), '/v1/responses')
  assert.equal(targetOf(openai, { kind: 'embeddings', clientTarget: '/team/v1/embeddings' }), '/v1/embeddings')
  assert.equal(targetOf(openai, { kind: 'models', clientTarget: '/v1/models' }), '/v1/models')
  assert.equal(targetOf(openai, { kind: 'raw', clientTarget: '/v1/images/edits?a=1' }), '/v1/images/edits?a=1')
})

test("the client's query is kept", () => {
  assert.equal(targetOf(openai, { clientTarget: '/x?beta=true&b=%20' }), '/v1/chat/completions?beta=true&b=%20')
})

test('a realtime call asks for the model of the config', () => {
  const clientTarget = '/v1/realtime?intent=t&model=mine'
  assert.equal(
    targetOf(openai, { kind: 'realtime', model: 'gpt-realtime', clientTarget }),
    '/v1/realtime?model=gpt-realtime&intent=t',
  )
})

test('a path of the config replaces path and query, but not those of lists and raw calls', () => {
  const other = providerOf({ openai: {}, host: 'llm.internal', port: 8000, path: '/api/chat?x=1' })
  assert.deepEqual(other.destination, {
    host: 'llm.internal',
    port: 8000,
    tls: false,
    authority: 'llm.internal:8000',
  })
  assert.equal(targetOf(other, { clientTarget: '/v1/chat/completions?beta=true' }), '/api/chat?x=1')
  assert.equal(targetOf(other, { kind: 'embeddings' }), '/api/chat?x=1')
  assert.equal(targetOf(other, { kind: 'models' }), '/v1/models')
  assert.equal(targetOf(other, { kind: 'raw', clientTarget: '/v1/files?a' }), '/v1/files?a')
})

test('a prefix of the config stands in place of /v1', () => {
  const other = providerOf({ openai: {}, host: 'api.groq.com', pathPrefix: '/openai/v1/' })
  assert.deepEqual([other.destination.port, other.destination.tls], [443, true])
  assert.equal(targetOf(other, {}), '/openai/v1/chat/completions')
  assert.equal(targetOf(other, { format: 'responses' }), '/openai/v1/responses')
  assert.equal(targetOf(other, { kind: 'raw', clientTarget: '/v1/audio/speech?q' }), '/openai/v1/audio/speech?q')
  assert.equal(targetOf(other, { kind: 'raw', clientTarget: '/v1' }), '/openai/v1')
  assert.equal(targetOf(other, { kind: 'raw', clientTarget: '/v1beta/x' }), '/openai/v1/v1beta/x')
  assert.equal(targetOf(providerOf({ openai: {}, pathPrefix: '/' }), {}), '/chat/completions')
})

test('a host alone changes the host alone', () => {
  const other = providerOf({ openai: { model: 'llama3' }, host: '::1', port: 11434 })
  assert.equal(other.destination.authority, '[::1]:11434')
  assert.equal(other.model, 'llama3')
  assert.equal(targetOf(other, { clientTarget: '/team-a/v1/chat/completions' }), '/v1/chat/completions')
})

test('formats go by the model, and other servers are spoken to in the older one', () => {
  const best = (model: string) => openai.chatFormats(model).join(' ')
  assert.equal(best('gpt-4o'), 'completions responses')
  assert.equal(best('gpt-5.2'), 'completions responses')
  assert.equal(best('gpt-5.6-terra'), 'responses completions')
  assert.equal(best('gpt-6'), 'responses completions')
  assert.equal(best('my-finetune'), 'completions responses')
  for (const model of [
    'gpt-5-codex',
    'gpt-5.1-codex-max',
    'o3-pro',
    'gpt-5.4-pro',
    'o4-mini-deep-research',
    'codex-mini-latest',
  ]) {
    assert.equal(best(model), 'responses', model)
  }
  const other = providerOf({ openai: {}, host: 'vllm', port: 8000 })
  assert.deepEqual(other.chatFormats('gpt-5.6'), ['completions', 'responses'])
})

test('quirks go by the model', () => {
  const quirks = (model: string) => [...openai.quirks(model, 'completions')].toSorted().join(' ')
  assert.equal(quirks('gpt-4o-mini'), 'completionTokens noReasoning noReasoningHistory')
  assert.equal(quirks('gpt-3.5-turbo'), 'completionTokens noReasoning noReasoningHistory')
  assert.equal(quirks('chatgpt-4o-latest'), 'completionTokens noReasoning noReasoningHistory')
  assert.equal(quirks('o4-mini'), 'completionTokens noReasoningHistory noSampling noStop')
  assert.equal(quirks('gpt-5-mini'), 'completionTokens customTools noReasoningHistory noSampling noStop')
  assert.equal(quirks('gpt-5-chat-latest'), 'completionTokens customTools noReasoning noReasoningHistory')
  assert.equal(quirks('gpt-5.1'), 'completionTokens customTools noReasoningHistory')
  assert.equal(quirks('gpt-5.4'), 'completionTokens customTools noReasoningHistory noReasoningWithTools')
  assert.equal(
    quirks('gpt-5.6-sol'),
    'cacheBreakpoints completionTokens customTools noReasoningHistory noReasoningWithTools',
  )
  assert.equal(
    quirks('gpt-5.10'),
    'cacheBreakpoints completionTokens customTools noReasoningHistory noReasoningWithTools',
  )
  assert.equal(quirks('ft:something:mine'), 'completionTokens noReasoningHistory')
  const other = providerOf({ openai: {}, host: 'vllm', port: 8000 })
  assert.equal(other.quirks('gpt-oss-20b', 'completions').size, 0)
  assert.equal(other.quirks('llama-3.3-70b', 'completions').size, 0)
  assert.deepEqual([...openai.quirks('gpt-5', 'responses')], ['summariesOnRequest'])
  assert.equal(other.quirks('gpt-5', 'responses').size, 0)
})

test("only one credential leaves, and headers of other vendors' SDKs do not", () => {
  const sent = {
    authorization: 'Bearer sk-ours',
    'x-api-key': 'sk-ant-client',
    x_api_key: 'sly',
    'anthropic-version': '2023-06-01',
    'openai-organization': 'org',
    accept: '*/*',
  }
  assert.deepEqual(headersOf(openai, sent), {
    authorization: 'Bearer sk-ours',
    'openai-organization': 'org',
    accept: '*/*',
  })
})

test("without a policy the client's own key goes on, wherever its SDK put it", () => {
  const client = { by: 'client' } as const
  assert.deepEqual(headersOf(openai, { authorization: 'bearer k' }, {}, client), { authorization: 'Bearer k' })
  assert.deepEqual(headersOf(openai, { 'x-api-key': 'k' }, {}, client), { authorization: 'Bearer k' })
  assert.deepEqual(headersOf(openai, { 'api-key': 'k' }, {}, client), { authorization: 'Bearer k' })
  assert.deepEqual(headersOf(openai, { authorization: 'Basic dTpw' }, {}, client), { authorization: 'Basic dTpw' })
  assert.deepEqual(headersOf(openai, {}, {}, client), {})
})

test('a policy that found no credential does not let the client speak in its place', () => {
  assert.deepEqual(headersOf(openai, { 'x-api-key': 'k' }, {}, { by: 'gateway' }), {})
})

test('a credential at a place of the config stays there, alone', () => {
  const sent = { 'api-key': 'ours', authorization: 'Bearer client' }
  assert.deepEqual(headersOf(openai, sent, {}, { by: 'config', header: 'api-key' }), { 'api-key': 'ours' })
  assert.deepEqual(headersOf(openai, { ...sent }, {}, { by: 'config', header: null }), {})
})
