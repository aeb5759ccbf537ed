import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createRouteTypes, modelInPath } from './client-request.ts'
import { DEFAULT_ROUTES } from './route-types.ts'

test('unless the config says otherwise, paths are what their ends say', () => {
  const typeOf = createRouteTypes()
  const paths = {
    '/v1/chat/completions': 'Completions',
    '/team/openai/chat/completions': 'Completions',
    '/v1/messages': 'Messages',
    '/v1/messages/count_tokens': 'MessagesTokenCount',
    '/v1/responses': 'Responses',
    '/v1/embeddings': 'Embeddings',
    '/v1/models': 'Models',
    '/v1/images/generations': 'ImageGenerations',
    '/v1/audio/speech': 'Speech',
    '/v1/audio/transcriptions': 'Transcriptions',
    '/v1/moderations': 'Moderations',
    '/v1/rerank': 'Rerank',
    '/v2/rerank': 'Rerank',
    '/v1/projects/p/locations/l/publishers/anthropic/models/claude:rawPredict': 'Messages',
    '/v1/projects/p/locations/l/publishers/anthropic/models/claude:streamRawPredict': 'Messages',
    '/': null,
    '/v1/files': 'Batches',
    '/v1/batches': 'Batches',
    '/v1/uploads': null,
    '/v1/realtime': null,
    '/v1beta/models/gemini:generateContent': 'GenerateContent',
    '/v1beta1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent': 'GenerateContent',
    '/v1beta/models/gemini:countTokens': 'GeminiTokenCount',
    '/v1beta/models/gemini:embedContent': 'GeminiEmbeddings',
    '/v1beta/models/gemini:batchEmbedContents': 'GeminiEmbeddings',
    '/v1beta/models/gemini:predict': null,
  }
  for (const [path, type] of Object.entries(paths)) assert.equal(typeOf(path), type, path)
})

test('the longest end of the config wins, the star comes last', () => {
  const typeOf = createRouteTypes({
    '*': 'Passthrough',
    s: 'Detect',
    '/v1/messages': 'Messages',
    '/chat': 'Completions',
  })
  assert.equal(typeOf('/v1/messages'), 'Messages')
  assert.equal(typeOf('/v1/files'), 'Detect')
  assert.equal(typeOf('/v1/file'), 'Passthrough')
  assert.equal(createRouteTypes({ '/x': 'Detect' })('/v1/messages'), null)
  assert.equal(createRouteTypes({})('/v1/messages'), null)
})

test('a path of a vendor names the model', () => {
  assert.equal(modelInPath('/v1/projects/p/publishers/anthropic/models/claude-x@1:streamRawPredict'), 'claude-x@1')
  assert.equal(modelInPath('/x/models/claude:rawPredict'), 'claude')
  assert.equal(modelInPath('/v1beta/models/gemini-2.5-pro:generateContent'), 'gemini-2.5-pro')
  assert.equal(modelInPath('/v1beta/models/gemini-2.5-pro:streamGenerateContent'), 'gemini-2.5-pro')
  assert.equal(modelInPath('/model/us.anthropic.claude-v1:0/converse-stream'), 'us.anthropic.claude-v1:0')
  assert.equal(modelInPath('/openai/deployments/mine/chat/completions'), 'mine')
  for (const path of [
    '/v1/messages',
    '/model/a%3A0/invoke',
    '/model/..x/invoke',
    '/models/a/b:rawPredict',
    '/models/:rawPredict',
  ]) {
    assert.equal(modelInPath(path), null, path)
  }
})

test('the reference names every end of a path that has a type without a config', () => {
  const reference = readFileSync(new URL('../../../../../docs/reference/backend-ai.md', import.meta.url), 'utf8')
  for (const end of Object.keys(DEFAULT_ROUTES)) assert.ok(reference.includes(`\`${end}\``), end)
})
