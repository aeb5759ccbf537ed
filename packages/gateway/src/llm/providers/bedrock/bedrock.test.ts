import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeaderBlock } from '@portico/http'
import { callOf, headersOf, providerOf, targetOf } from '../test-provider.ts'

const bedrock = providerOf({ bedrock: {} })
const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'

test('every call has its path, in which the model keeps its colon', () => {
  assert.equal(bedrock.destination.host, 'bedrock-runtime.us-east-1.amazonaws.com')
  assert.equal(bedrock.region, 'us-east-1')
  assert.equal(
    providerOf({ bedrock: { region: 'eu-west-1' } }).destination.host,
    'bedrock-runtime.eu-west-1.amazonaws.com',
  )
  assert.deepEqual(bedrock.chatFormats(claude), ['converse'])
  assert.equal(targetOf(bedrock, { model: claude, clientTarget: '/x?beta=true' }), `/model/${claude}/converse`)
  assert.equal(targetOf(bedrock, { model: claude, stream: true }), `/model/${claude}/converse-stream`)
  assert.equal(
    targetOf(bedrock, { kind: 'embeddings', model: 'amazon.titan-embed-text-v2:0' }),
    '/model/amazon.titan-embed-text-v2:0/invoke',
  )
  assert.equal(targetOf(bedrock, { kind: 'countTokens', model: claude }), `/model/${claude}/count-tokens`)
  const profile = 'arn:aws:bedrock:us-east-1:1:inference-profile/us.x'
  assert.equal(
    targetOf(bedrock, { model: profile }),
    '/model/arn:aws:bedrock:us-east-1:1:inference-profile%2Fus.x/converse',
  )
  assert.equal(targetOf(bedrock, { model: 'a?b' }), '/model/a%3Fb/converse')
  assert.equal(targetOf(bedrock, { model: '..' }), 'refused: model must be the name of a model')
  assert.match(targetOf(bedrock, { kind: 'models' }), /^refused: path /)
})

test('kinds go by the model', () => {
  assert.equal(bedrock.tokenCount(claude), 'bedrock')
  assert.equal(bedrock.tokenCount('amazon.nova-pro-v1:0'), null)
  assert.equal(bedrock.embeddings('amazon.titan-embed-text-v2:0'), 'titan')
  assert.equal(bedrock.embeddings('cohere.embed-v4:0'), 'cohere')
  assert.equal(bedrock.embeddings('amazon.nova-2-multimodal-embeddings-v1:0'), 'nova')
  assert.equal(bedrock.embeddings(claude), null)
})

test('prompts are cached by Claude 3 and newer, by Nova, and by profiles of applications', () => {
  const profile = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/x'
  for (const model of [claude, 'anthropic.claude-3-haiku-20240307-v1:0', 'us.amazon.nova-lite-v1:0', profile]) {
    assert.ok(bedrock.cachesPrompts(model), model)
  }
  for (const model of [
    'anthropic.claude-v2:1',
    'anthropic.claude-instant-v1',
    'meta.llama3-8b',
    'arn:aws:bedrock:r:1:inference-profile/x',
  ]) {
    assert.ok(!bedrock.cachesPrompts(model), model)
  }
})

test('the guardrail of the config, betas and metadata of headers go into the body', () => {
  const guarded = providerOf({ bedrock: { guardrail: { identifier: 'g', version: '1' } } })
  const headers = HeaderBlock.of([
    ['anthropic-beta', 'context-1m-2025-08-07, unknown'],
    ['anthropic-beta', 'effort-2025-11-24'],
    ['x-bedrock-metadata', '{"team":"a","n":1,"b":true}'],
  ])
  const body = { additionalModelRequestFields: { thinking: {} } }
  assert.deepEqual(Object.fromEntries(guarded.finishBody(body, callOf({ model: claude }), headers)), {
    guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '1', trace: 'enabled' },
    additionalModelRequestFields: { thinking: {}, anthropic_beta: ['context-1m-2025-08-07', 'effort-2025-11-24'] },
    requestMetadata: { team: 'a', n: '1', b: 'true' },
  })
  assert.deepEqual(
    [...guarded.finishBody(body, callOf({ model: 'meta.x' }), headers).keys()],
    ['guardrailConfig', 'requestMetadata'],
  )
  assert.equal(guarded.finishBody(body, callOf({ kind: 'embeddings' }), headers).size, 0)
  for (const bad of ['no json', '[1]', '{}', '{"a":{}}', '{"a":null}']) {
    assert.equal(bedrock.finishBody({}, callOf({}), HeaderBlock.of([['x-bedrock-metadata', bad]])).size, 0, bad)
  }
})

test('no credential of the client is signed along', () => {
  const sent = {
    authorization: 'Bearer client',
    'x-api-key': 'k',
    'anthropic-beta': 'b',
    'x-bedrock-metadata': '{}',
    session_id: 's',
    'x-amz-security-token': 'stale',
    'x-amzn-trace-id': 't',
  }
  assert.deepEqual(headersOf(bedrock, sent, {}, { by: 'signature' }), { 'x-amzn-trace-id': 't' })
  assert.deepEqual(headersOf(bedrock, { authorization: 'Bearer k' }), { authorization: 'Bearer k' })
})

test('quirks go by the model', () => {
  assert.deepEqual([...bedrock.quirks(claude, 'converse')].toSorted(), ['strictTools', 'temperatureOrTopP'])
  assert.deepEqual([...bedrock.quirks('amazon.nova-pro-v1:0', 'converse')], ['noOutputFormat'])
  assert.equal(bedrock.quirks('openai.gpt-oss-120b-1:0', 'converse').size, 0)
})
