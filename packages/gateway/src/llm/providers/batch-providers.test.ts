import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../sources/file.ts'
import { httpConfig } from '../../testing/scene.ts'
import { hasBatches } from './batch-providers.ts'
import { createProvider } from './index.ts'
import { presetNames } from './presets.ts'

const own = {
  azure: { resourceName: 'r', resourceType: 'OpenAI' },
  azureopenai: { endpoint: 'r.openai.azure.com' },
  vertexai: { projectId: 'p', region: 'us-east5' },
  bedrock: { region: 'us-east-1' },
}
const NAMES = ['openai', 'anthropic', 'gemini', 'mock', ...Object.keys(own), ...presetNames]

test('the providers with batches are those that serve their calls', () => {
  for (const name of NAMES) {
    const provider = { [name]: Object.hasOwn(own, name) ? own[name as keyof typeof own] : {}, host: 'h' }
    const text = JSON.stringify(httpConfig([{ backends: [{ ai: { provider } }] }]))
    const loaded = loadConfig(text, { file: 'f', dir: '/', env: {} })
    const target = loaded.ok ? loaded.ir.backends[0]?.target : undefined
    assert.ok(target?.kind === 'ai', name)
    for (const { config } of target.groups.flat()) {
      const { calls, hasMessageBatches } = createProvider(config)
      assert.equal(hasBatches(config), calls.has('files') || hasMessageBatches === true, name)
    }
  }
})
