import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { presetNames } from '../../llm/providers/presets.ts'
import { OPENAI_CALLS, type OpenAiCall } from '../../llm/providers/openai-calls.ts'
import type { Provider } from '../../llm/providers/provider.ts'
import { providerOf } from '../../llm/providers/test-provider.ts'

/** The table of docs/model-endpoints.md: the providers as they are. `UPDATE_GOLDEN=1` writes it. */

const page = new URL('../../../../../docs/model-endpoints.md', import.meta.url)

const host = { host: 'models.internal', port: 8000 }
const providers: readonly (readonly [string, Provider])[] = [
  ['`openai`', providerOf({ openai: {} })],
  ['`openai` with `host`', providerOf({ openai: {}, ...host })],
  ['`azure`, `azureopenai`', providerOf({ azure: { resourceName: 'r', resourceType: 'OpenAI' } })],
  ['`gemini`', providerOf({ gemini: {} })],
  ['`vertexai`', providerOf({ vertexai: { projectId: 'p', region: 'global' } })],
  ['`bedrock`', providerOf({ bedrock: { region: 'us-east-1' } })],
  ...presetNames.map((name) => [`\`${name}\``, providerOf({ [name]: {}, ...host })] as const),
]

const CALLS: Readonly<Record<OpenAiCall, string>> = {
  moderations: 'moderations',
  imageGenerations: 'images',
  imageEdits: 'edits',
  imageVariations: 'variations',
  speech: 'speech',
  transcriptions: 'transcriptions',
  translations: 'translations',
  files: 'files',
  batches: 'batches',
}

function table(): string {
  const calls = Object.keys(OPENAI_CALLS) as OpenAiCall[]
  const rows = providers
    .map(([title, provider]) => {
      const kind = provider.rerank('m')
      const rerank = kind === null ? '' : kind === 'same' ? 'yes' : 'translated'
      return [title, ...calls.map((call) => (provider.calls.has(call) ? 'yes' : '')), rerank]
    })
    .filter(([, ...cells]) => cells.some((cell) => cell !== ''))
  const head = ['Provider', ...calls.map((call) => CALLS[call]), 'rerank']
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

test('the page about endpoints has the providers as they are', () => {
  const text = readFileSync(page, 'utf8')
  const expected = text.replace(/(<!-- endpoints -->\n)[^#]*/, (_whole, mark: string) => `${mark}\n${table()}\n\n`)
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(page, expected)
  else assert.equal(text, expected)
})
