import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type FormatName, pickFormat, UnsupportedField } from '@portico/chat'
import { modelSegment } from './provider-kit.ts'
import type { Provider } from './provider.ts'
import { callOf, providerOf, targetOf } from './test-provider.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

const providers: readonly Provider[] = [
  providerOf({ openai: {} }),
  providerOf({ openai: {}, host: 'h', port: 80 }),
  providerOf({ azureopenai: { endpoint: 'a.openai.azure.com' } }),
  providerOf({ azure: { resourceName: 'a', resourceType: 'OpenAI', apiVersion: '2024-10-21' } }),
  providerOf({ azure: { resourceName: 'a', resourceType: 'Foundry', projectName: 'p' } }),
  providerOf({ anthropic: {} }),
  providerOf({ gemini: {} }),
  providerOf({ vertexai: { projectId: 'p' } }),
  providerOf({ bedrock: {} }),
]

const models = [
  'gpt-4o',
  'gpt-5',
  'gpt-5.6',
  'o3',
  'claude-3-haiku',
  'claude-sonnet-4-5',
  'claude-opus-5',
  'gemini-2.5-pro',
  'gemini-3-pro',
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  'amazon.nova-pro-v1:0',
  'llama',
]

test('every client gets a format from every provider for every model, its own where that is offered', () => {
  for (const provider of providers) {
    for (const model of models) {
      const offered = provider.chatFormats(model)
      for (const client of ['completions', 'messages', 'responses'] as const) {
        const picked = pickFormat(client, offered)
        assert.equal(picked, offered.includes(client) ? client : offered[0])
        assert.match(targetOf(provider, { format: picked, model }), /^\/[\x21-\x7e]+$/)
      }
    }
  }
})

test('encoders know every quirk that a provider names', () => {
  for (const provider of providers) {
    for (const model of models) {
      for (const format of provider.chatFormats(model)) {
        const known = quirksOf(format)
        for (const quirk of provider.quirks(model, format)) assert.ok(known.has(quirk), `${format}: ${quirk}`)
      }
    }
  }
})

function quirksOf(format: FormatName): ReadonlySet<string> {
  const text = readFileSync(
    join(import.meta.dirname, '../../../../chat/src/formats', format, 'encode-request.ts'),
    'utf8',
  )
  return new Set([...text.matchAll(/^ \* \| `?(\w+)`? +\|/gm)].map(([, name]) => name!))
}

test('the model can say nothing in a path but its name', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 20 }), (model) => {
      const segment = modelSegment(model)
      if (segment instanceof UnsupportedField) return
      assert.match(segment, /^[A-Za-z0-9!'()*+,\-.:=@_~%]+$/)
      assert.doesNotMatch(decodeURIComponent(segment), /^\.{1,2}$/)
      assert.equal(decodeURIComponent(segment), model)
    }),
    { seed: 1, numRuns: 2_000 },
  )
})

test('whatever clients send, a target is one line of visible characters that begins with a slash', () => {
  const kinds = ['chat', 'embeddings', 'countTokens', 'models', 'realtime'] as const
  const text = fc.string({ unit: anyCharacter, maxLength: 12 })
  const query = fc.string({ unit: fc.constantFrom(...'ab=&+%2?model'.split('')), maxLength: 16 })
  fc.assert(
    fc.property(
      fc.constantFrom(...providers),
      fc.constantFrom(...kinds),
      text,
      fc.boolean(),
      query,
      (provider, kind, model, stream, query) => {
        const [format] = provider.chatFormats(model)
        const target = provider.target(callOf({ kind, format, model, stream, clientTarget: `/v1/x?${query}` }))
        if (target instanceof UnsupportedField) return
        assert.match(target, /^\/[\x21-\x7e]*$/)
        assert.ok(!target.includes('#'))
        assert.doesNotMatch(target.split('?', 1)[0]!, /\/\.{1,2}(\/|$)/)
      },
    ),
    { seed: 2, numRuns: 2_000 },
  )
})

test('telemetry names', () => {
  const names = new Map(providers.map((provider) => [provider.name, provider.telemetryName]))
  assert.deepEqual(Object.fromEntries(names), {
    openai: 'openai',
    azureopenai: 'azure',
    azure: 'azure',
    anthropic: 'anthropic',
    gemini: 'gcp.gemini',
    vertexai: 'gcp.vertex_ai',
    bedrock: 'aws.bedrock',
  })
  const auths = new Map(providers.map((provider) => [provider.name, provider.defaultAuth]))
  assert.deepEqual(Object.fromEntries(auths), {
    openai: 'none',
    azureopenai: 'azure',
    azure: 'azure',
    anthropic: 'none',
    gemini: 'none',
    vertexai: 'gcp',
    bedrock: 'aws',
  })
})
