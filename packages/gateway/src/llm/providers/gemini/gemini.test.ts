import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headersOf, providerOf, targetOf } from '../test-provider.ts'

const gemini = providerOf({ gemini: {} })

test('chats go to the native endpoint, whose path names the model', () => {
  assert.equal(gemini.destination.host, 'generativelanguage.googleapis.com')
  assert.deepEqual(gemini.chatFormats('gemini-2.5-pro'), ['gemini'])
  assert.deepEqual([...gemini.quirks('gemini-2.5-pro', 'gemini')], ['callIds'])
  const at = (model: string, stream = false) =>
    targetOf(gemini, { model, stream, clientTarget: '/v1/messages?beta=true' })
  assert.equal(at('gemini-2.5-pro'), '/v1beta/models/gemini-2.5-pro:generateContent')
  assert.equal(at('models/gemini-2.5-pro', true), '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse')
  assert.equal(at('tunedModels/x'), '/v1beta/tunedModels/x:generateContent')
  assert.equal(at('a/b%c?d#e'), '/v1beta/models/a%2Fb%25c%3Fd%23e:generateContent')
  for (const model of ['', '..', 'models/', 'models/..', 'a/../b', 'a\\..\\b', 'a\nb', '\ud800']) {
    assert.equal(at(model), 'refused: model must be the name of a model', JSON.stringify(model))
  }
})

test('embeddings and lists go to the endpoint that speaks the format of OpenAI', () => {
  assert.equal(
    targetOf(gemini, { kind: 'embeddings', clientTarget: '/v1/embeddings?a=1' }),
    '/v1beta/openai/embeddings',
  )
  assert.equal(targetOf(gemini, { kind: 'models' }), '/v1beta/openai/models')
  assert.equal(gemini.embeddings('gemini-embedding-001'), 'openai')
})

test('raw calls keep path and query', () => {
  const clientTarget = '/v1beta/models/x:streamGenerateContent?alt=sse'
  assert.equal(targetOf(gemini, { kind: 'raw', clientTarget }), clientTarget)
})

test('a key moves to x-goog-api-key, a token stays', () => {
  for (const key of ['AIzaSyX', 'AQ.Ab8']) {
    assert.deepEqual(headersOf(gemini, { authorization: `Bearer ${key}` }), { 'x-goog-api-key': key })
    const bearer = { authorization: `Bearer ${key}` }
    assert.deepEqual(headersOf(gemini, bearer, { kind: 'embeddings' }), bearer)
  }
  const token = { authorization: 'Bearer ya29.x' }
  assert.deepEqual(headersOf(gemini, token), token)
  const client = { by: 'client' } as const
  assert.deepEqual(headersOf(gemini, { 'x-goog-api-key': 'AIza1' }, { kind: 'raw' }, client), {
    'x-goog-api-key': 'AIza1',
  })
})
