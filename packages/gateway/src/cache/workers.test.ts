import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../testing/client.ts'
import { useConfigFile, useProgram } from '../testing/process.ts'
import { httpConfig, useOrigin } from '../testing/scene.ts'
import { inputOf, sendEmbedding, vectorOf } from './semantic/testing/scene.ts'
import { cacheOf, CHAT, respond, textOf } from './testing/scene.ts'

test('each of two workers has a cache of its own, so an answer is bought at most twice', async (t) => {
  const answer = respond()
  const origin = await useOrigin(t, (seen, response, message) => {
    if (seen.url.endsWith('/embeddings')) sendEmbedding(response, vectorOf(inputOf(seen)))
    else answer(seen, response, message)
  })
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const semantic = { embeddings: { backendRef: { name: 'embedder' }, model: 'm' }, timeout: '20s' }
  const policies = { auth: { key: 'k' }, ai: { cache: { ttl: '1h', semantic } } }
  const backends = [{ name: 'embedder', ai: { provider }, policies: { auth: { key: 'k' } } }]
  const routes = httpConfig([{ backends: [{ ai: { provider }, policies }] }], { backends })
  const { file } = useConfigFile(t, { config: { workers: 2 }, ...routes })
  const program = await useProgram(t, { args: ['-f', file] })
  const ask = (content: string) =>
    request(program.port(), {
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ann' },
      body: JSON.stringify({ ...CHAT, messages: [{ role: 'user', content }] }),
    })
  for (const texts of [
    Array<string>(40).fill('hi'),
    Array.from({ length: 40 }, (_, at) => `other ${'a'.repeat(at)}!!!!!!!!!`),
  ]) {
    const before = origin.seen.filter(({ url }) => !url.endsWith('/embeddings')).length
    // One after the other: at the same time, similar requests do not wait for each other.
    const answers = []
    for (const text of texts) answers.push(await ask(text))
    const outcomes = answers.map((each) => cacheOf(each) ?? '')
    const asked = origin.seen.filter(({ url }) => !url.endsWith('/embeddings')).length - before
    assert.ok(asked === 1 || asked === 2, String(asked))
    assert.equal(outcomes.filter((outcome) => outcome === 'miss').length, asked)
    assert.ok(outcomes.every((outcome) => outcome === 'miss' || outcome.startsWith('hit')))
    assert.equal(new Set(answers.map(textOf)).size, asked)
  }
})
