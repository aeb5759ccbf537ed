import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { request } from '../client.ts'
import type { TestGateway } from '../gateway.ts'
import { ANTHROPIC_KEY, anthropicVendor } from '../providers/anthropic.ts'
import { OPENAI_KEY, openaiVendor } from '../providers/openai.ts'
import type { Vendor } from '../providers/reply.ts'
import { type FakeProvider, startFakeProvider } from '../providers/server.ts'
import type { OriginHandler } from '../origin.ts'
import { until, useOrigin } from '../scene.ts'
import { usePicker } from '../services/picker.ts'
import { ALICE, bearer, type ExampleCase } from './example-case.ts'

const completions: OriginHandler = (_seen, response) => response.end('{"object":"text_completion"}')

/** Examples about language models. */
export const modelExamples: Record<string, ExampleCase> = {
  async 'language-models.yaml'() {
    return {
      shows: [/\[mock\][^"]*<EMAIL_ADDRESS>/],
      async check(gateway) {
        const body = JSON.stringify({ model: 'fast', max_tokens: 9, messages: [{ role: 'user', content: 'hello' }] })
        const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' }
        const answer = await request(gateway.port(), { method: 'POST', path: '/v1/messages', headers, body })
        assert.match(answer.body, /^\{[^]*"type":"message"[^]*\[mock\]/)
      },
    }
  },

  async 'model-routing.yaml'() {
    return {
      shows: [/\[mock\]/],
      async check(gateway) {
        const list = await request(gateway.port(), { path: '/v1/models' })
        assert.match(list.body, /"id":"small"[^]*"id":"house"/)
        assert.equal((await chat(gateway, 'words '.repeat(500), {}, 'house')).status, 200)
        assert.equal((await chat(gateway, 'hello', {}, 'hous')).status, 404)
        const isLarge = (choice = ''): boolean => /^small: [\d,]+ prompt tokens ≥ 100; large\/one chosen$/.test(choice)
        await until(() => gateway.recorded().some(({ llm }) => isLarge(llm?.modelChoice)))
      },
    }
  },

  async 'llm.yaml'() {
    return {
      shows: [/\[mock\]/, /"id":"fast"/],
      async check(gateway) {
        assert.equal((await chat(gateway, 'hello', {}, 'fast')).status, 401)
        assert.equal((await chat(gateway, 'hello', bearer(ALICE), 'best')).status, 200)
        assert.equal((await chat(gateway, 'hello', bearer(ALICE), 'fest')).status, 404)
        await until(() => gateway.recorded().some(({ llm }) => llm?.clientModel === 'best'))
      },
    }
  },

  async 'llm-failover.yaml'(t) {
    const first = await useProvider(t, openaiVendor())
    const second = await useProvider(t, anthropicVendor())
    return {
      replace: {
        'openai: { model: gpt-5 }': `openai: { model: gpt-5 }\n              host: 127.0.0.1\n              port: ${first.port}`,
        'anthropic: { model: claude-sonnet-4-5 }': `anthropic: { model: claude-sonnet-4-5 }\n              host: 127.0.0.1\n              port: ${second.port}`,
      },
      gateway: { env: { OPENAI_API_KEY: OPENAI_KEY, ANTHROPIC_API_KEY: ANTHROPIC_KEY } },
      shows: [/"model":"gpt-5"[^]*The answer is 42/],
      async check(gateway) {
        assert.equal(second.seen.length, 0)
        first.fault = { failure: { kind: 'unavailable', message: 'down for repairs' } }
        for (let each = 0; each < 3; each++) {
          const answer = await chat(gateway, 'hello')
          assert.match(answer.body, /"object":"chat\.completion"[^]*"model":"claude-sonnet-4-5"[^]*The answer is 42/)
        }
        const asked = first.seen.length
        assert.equal((await chat(gateway, 'hello')).status, 200)
        assert.equal(first.seen.length, asked, 'the one that failed is left out')
        assert.equal(gateway.evictions.length, 1)
      },
    }
  },

  async 'inference-pool.yaml'(t) {
    const servers = [await useOrigin(t, completions), await useOrigin(t, completions), await useOrigin(t, completions)]
    const picker = await usePicker(t, () => servers[1]?.host ?? '')
    return {
      replace: {
        '127.0.0.1:8001': servers[0]?.host ?? '',
        '127.0.0.1:8002': servers[1]?.host ?? '',
        '127.0.0.1:8003': servers[2]?.host ?? '',
        '127.0.0.1:9002': picker.host,
      },
      shows: [/"text_completion"/],
      async check() {
        assert.deepEqual(
          servers.map(({ seen }) => seen.length),
          [0, 1, 0],
        )
        assert.equal(picker.asked[0]?.body, '{"model":"llama","prompt":"hello"}')
      },
    }
  },

  async 'response-cache.yaml'() {
    return {
      gateway: { env: { ALICE_KEY: ALICE } },
      shows: [/x-portico-cache: (?:miss|hit)[^]*\[mock\]/],
      async check(gateway) {
        const cacheOf = async (key: string) => (await chat(gateway, 'hi', bearer(key))).headers['x-portico-cache']
        assert.equal(await cacheOf(ALICE), 'miss')
        assert.equal(await cacheOf(ALICE), 'hit; age=0')
        assert.equal(await cacheOf('k-bob-5c7d10e9'), 'miss')
      },
    }
  },

  async 'token-limits.yaml'() {
    return {
      gateway: { env: { ALICE_KEY: ALICE } },
      shows: [/^HTTP\/1.1 200 OK\r\n[^]*\[mock\]/],
      async check(gateway) {
        const words = 'word '.repeat(1000)
        assert.equal((await chat(gateway, words)).status, 401)
        assert.equal((await chat(gateway, words, bearer(ALICE))).status, 200)
        const refused = await chat(gateway, 'one more', bearer(ALICE))
        assert.equal(refused.status, 429)
        assert.ok(Number(refused.headers['retry-after']) > 60, refused.text)
      },
    }
  },

  async 'token-limits-per-key.yaml'() {
    return {
      // A clock that stands still: no budget is filled up again.
      gateway: { env: { ALICE_KEY: ALICE }, monotonic: () => 1000 },
      shows: [/^HTTP\/1.1 200 OK\r\n[^]*\[mock\]/],
      async check(gateway) {
        const bob = bearer('k-bob-5c7d10e9')
        assert.equal((await chat(gateway, 'word '.repeat(1000), bearer(ALICE))).status, 200)
        assert.equal((await chat(gateway, 'one more', bearer(ALICE))).status, 429)
        assert.equal((await chat(gateway, 'one more', bob)).status, 200)
        const left = Number((await chat(gateway, 'one more', bob)).headers['x-ratelimit-remaining'])
        assert.ok(left > 900 && left < 1000, String(left))
      },
    }
  },

  async 'prompt-guards.yaml'() {
    return {
      shows: [/\[mock\][^"]*<EMAIL_ADDRESS>/, /^HTTP\/1.1 422 [^]*The prompt holds a key/],
      async check(gateway) {
        const answer = await chat(gateway, 'card 4111 1111 1111 1111 of project Apollo')
        assert.equal(answer.status, 200)
        assert.match(answer.body, /<CREDIT_CARD>/)
        assert.doesNotMatch(answer.body, /4111|Apollo/)
        assert.equal((await chat(gateway, '-----BEGIN RSA PRIVATE KEY-----')).status, 422)
      },
    }
  },
}

async function useProvider(t: TestContext, vendor: Vendor): Promise<FakeProvider> {
  const provider = await startFakeProvider(vendor)
  t.after(() => provider.close())
  return provider
}

function chat(gateway: TestGateway, content: string, headers: Record<string, string> = {}, model = 'mock') {
  return request(gateway.port(), {
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  })
}
