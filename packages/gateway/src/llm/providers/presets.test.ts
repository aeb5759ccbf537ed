import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject } from '@portico/http/json'
import { request } from '../../testing/client.ts'
import { openaiEndpoints, openaiFailure } from '../../testing/providers/openai.ts'
import { startFakeProvider } from '../../testing/providers/server.ts'
import { httpConfig, useGateway } from '../../testing/scene.ts'
import { loadConfig } from '../../sources/file.ts'
import { printProblems } from '../../sources/print-problems.ts'
import { type Preset, presetNames, presets } from './presets.ts'
import { headersOf, providerOf, targetOf } from './test-provider.ts'

for (const name of presetNames) {
  const preset: Preset = presets[name]

  test(`${name} is called at its path, with its key as a bearer token`, async (t) => {
    const base = preset.path.replace(/\/$/, '')
    const endpoints = openaiEndpoints({})
    const fake = await startFakeProvider({
      name,
      answer: (seen, saw) => endpoints(seen, seen.path.replace(`${base}/`, ''), saw),
      fail: openaiFailure,
    })
    t.after(() => fake.close())
    const provider = { [name]: { model: 'a/model' }, host: '127.0.0.1', port: fake.port }
    const gateway = await useGateway(
      t,
      httpConfig([{ backends: [{ ai: { provider }, policies: { auth: { key: 'vendor-key' } } }] }]),
    )
    const send = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json', 'x-api-key': 'of-the-client' }
      const answer = await request(gateway.port(), { method: 'POST', path, headers, body: JSON.stringify(body) })
      return { status: answer.status, seen: fake.seen.at(-1) }
    }
    const messages = [{ role: 'user', content: 'hello' }]
    const chat = await send('/v1/chat/completions', { model: 'any', messages })
    assert.equal(chat.status, 200)
    assert.equal(chat.seen?.path, `${base}/chat/completions`)
    assert.equal(chat.seen?.headers.authorization, 'Bearer vendor-key')
    assert.equal(chat.seen?.headers['x-api-key'], undefined)
    assert.equal(isObject(chat.seen?.body) && chat.seen.body['model'], 'a/model')
    const claude = await send('/v1/messages', { model: 'any', max_tokens: 9, messages })
    assert.deepEqual([claude.status, claude.seen?.path], [200, `${base}/chat/completions`])
    const responses = await send('/v1/responses', { model: 'any', input: 'hello' })
    const own = preset.formats.includes('responses') ? 'responses' : 'chat/completions'
    assert.deepEqual([responses.status, responses.seen?.path], [200, `${base}/${own}`])
    const calls = fake.seen.length
    const embeddings = await send('/v1/embeddings', { model: 'any', input: 'hello' })
    assert.equal(embeddings.status, preset.hasEmbeddings ? 200 : 400)
    assert.equal(fake.seen.length, calls + (preset.hasEmbeddings ? 1 : 0))
  })
}

test('a vendor has its own host with TLS, and a server of the user the usual port of its kind', () => {
  const destinationOf = (provider: object) => {
    const { host, port, tls } = providerOf(provider).destination
    return `${tls ? 'https' : 'http'}://${host}:${port}`
  }
  assert.equal(destinationOf({ groq: {} }), 'https://api.groq.com:443')
  assert.equal(destinationOf({ groq: {}, host: 'proxy.internal' }), 'https://proxy.internal:443')
  assert.equal(destinationOf({ ollama: {}, host: '127.0.0.1' }), 'http://127.0.0.1:11434')
  assert.equal(destinationOf({ vllm: {}, host: 'gpu', port: 9000 }), 'http://gpu:9000')
})

test('a path prefix of the config takes the place of the vendor’s', () => {
  assert.equal(targetOf(providerOf({ groq: {} }), {}), '/openai/v1/chat/completions')
  assert.equal(targetOf(providerOf({ groq: {}, pathPrefix: '/team' }), {}), '/team/chat/completions')
  assert.equal(targetOf(providerOf({ perplexity: {} }), {}), '/chat/completions')
  assert.equal(
    targetOf(providerOf({ deepinfra: {} }), { kind: 'raw', clientTarget: '/v1/images/generations' }),
    '/v1/openai/images/generations',
  )
})

test('headers of other vendors’ SDKs are not sent', () => {
  const sent = { authorization: 'Bearer ours', 'anthropic-version': '2023-06-01', accept: '*/*' }
  assert.deepEqual(headersOf(providerOf({ mistral: {} }), sent), { authorization: 'Bearer ours', accept: '*/*' })
})

test('an unknown vendor is a problem with a suggestion', () => {
  assert.match(problemsOf('{ grok: {} }'), /grok[^]*did you mean `groq`/)
})

test('a server of the user needs a host', () => {
  assert.match(problemsOf('{ ollama: {} }'), /host or inferencePool is required with lmstudio, ollama, vllm/)
  assert.equal(problemsOf('{ ollama: {}, host: 127.0.0.1 }'), '')
})

function problemsOf(provider: string): string {
  const text = `binds: [{ port: 8080, listeners: [{ routes: [{ backends: [{ ai: { provider: ${provider} } }] }] }] }]`
  const loaded = loadConfig(text, { file: 'config.yaml', dir: '.', env: {} })
  return loaded.ok ? '' : printProblems(loaded.problems)
}
