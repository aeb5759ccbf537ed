import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, test } from 'node:test'
import type { LlmProviderConfig } from '../../llm/providers/schema.ts'
import { createProvider } from '../../llm/providers/index.ts'
import { pickFormat } from '@portico/chat'
import { loadConfig } from '../../sources/file.ts'
import { printProblems } from '../../sources/print-problems.ts'
import { holdCurl } from './docs-curl.ts'
import { codesIn, type Fence, fencesOf, isInstalled, readPage, root, tableOf } from './docs-pages.ts'
import { KEYS, useDocsStand } from './docs-stand.ts'

/** The pages about providers and clients, held against the gateway: every config serves, every table is true. */

const pages = globSync(
  ['docs/llm.md', 'docs/models/*.md', 'docs/migrating/litellm.md', 'docs/providers/*.md', 'docs/clients/*.md'],
  { cwd: root },
).sort()
const providerPages = pages.filter((page) => page.startsWith('docs/providers/') && basename(page) !== 'README.md')

for (const page of pages) {
  const fences = fencesOf(readPage(page))
  for (const [at, fence] of fences.entries()) {
    // Configs marked `before` belong to other gateways.
    if (fence.lang !== 'yaml' || fence.note === 'before') continue
    test(`${page}:${fence.line} serves what is shown below it`, async (t) => {
      const loaded = loadConfig(fence.text, { file: page, dir: root, env: KEYS })
      assert.ok(loaded.ok, loaded.ok ? '' : printProblems(loaded.problems))
      assert.deepEqual(loaded.warnings, [])
      const curls = below(fences, at).filter(({ lang, text }) => lang === 'sh' && text.includes('curl '))
      assert.notEqual(curls.length, 0, 'a config without a request below it')
      if (!(await isInstalled('curl'))) return t.skip('no curl on this machine')
      const { gateway } = await useDocsStand(t, fence.text)
      for (const { text } of curls) await holdCurl(text, gateway.port())
      assert.deepEqual(gateway.bugs, [])
    })
  }
}

for (const page of providerPages) {
  const markdown = readPage(page)
  const key = basename(page, '.md') === 'openai-compatible' ? 'openai' : basename(page, '.md')

  describe(page, () => {
    test('has every field of the provider', () => {
      const wanted = [...readPage('docs/reference/config-file.md').matchAll(REFERENCE_ROW)].map((row) => row[1]!)
      const named = tableOf(markdown, '| Field | Meaning |').map(([field]) => codesIn(field!)[0]!)
      assert.deepEqual(named.toSorted(), wanted.filter((name) => name.startsWith(`${key}.`)).toSorted())
    })

    test('says what is asked of the provider', (t) => {
      const rows = tableOf(markdown, '| Client speaks | Model | Path at the provider | |')
      if (key === 'mock') return t.skip('the mock is asked nothing')
      assert.deepEqual([...new Set(rows.map(([client]) => client!))].toSorted(), Object.keys(FORMATS).toSorted())
      const provider = createProvider(firstProvider(fencesOf(markdown)))
      for (const [client = '', model, path, how] of rows) {
        const name = codesIn(model!)[0]!
        const spoken = FORMATS[client]!.format
        const format = pickFormat(spoken, provider.chatFormats(name))
        const clientTarget = FORMATS[client]!.path
        const target = provider.target({ kind: 'chat', format, model: name, stream: false, clientTarget })
        assert.ok(
          typeof target === 'string' && target.endsWith(codesIn(path!)[0]!),
          `${client} ${name}: ${JSON.stringify(target)}`,
        )
        assert.equal(how, format === spoken ? 'as it is' : 'translated', `${client} ${name}`)
      }
    })

    test('lists models', async (t) => {
      const { gateway } = await useDocsStand(t, fencesOf(markdown).find(({ lang }) => lang === 'yaml')!.text)
      const answer = await fetch(`http://127.0.0.1:${gateway.port()}/v1/models`)
      const text = await answer.text()
      assert.equal(answer.status, 200, text)
      assert.match(text, /"object":"list"/)
    })

    test('refuses what it says it refuses, and asks nobody', async (t) => {
      const rows = tableOf(markdown, '| Refused with 400 | Client speaks | Instead |')
      if (rows.length === 0) return t.skip('the page refers to others')
      const model = codesIn(tableOf(markdown, '| Client speaks | Model | Path at the provider | |')[0]![1]!)[0]!
      const { gateway, fakes } = await useDocsStand(t, fencesOf(markdown).find(({ lang }) => lang === 'yaml')!.text)
      for (const [what, clients] of rows) {
        for (const field of codesIn(what!).filter((code) => code !== 'https')) {
          for (const client of clients!.split(', ')) {
            const refused = REFUSED[field]?.[client]
            assert.ok(refused, `${field} in ${client} is not known here`)
            const body = JSON.stringify({ model, ...refused })
            const answer = await fetch(`http://127.0.0.1:${gateway.port()}${FORMATS[client]!.path}`, {
              method: 'POST',
              body,
            })
            assert.equal(answer.status, 400, `${field} in ${client}: ${await answer.text()}`)
          }
        }
      }
      assert.deepEqual(fakes[0]!.seen, [])
    })
  })
}

const FORMATS: Record<string, { format: 'completions' | 'messages' | 'responses'; path: string }> = {
  'Chat Completions': { format: 'completions', path: '/v1/chat/completions' },
  Messages: { format: 'messages', path: '/v1/messages' },
  Responses: { format: 'responses', path: '/v1/responses' },
}
const REFERENCE_ROW = /^\| `backends\[\]\.ai\.provider\.(\w+\.[\w.]+)` \|/gm

/** Fields of chat requests that cannot be translated, by the name that the pages use. */
const REFUSED: Record<string, Record<string, object>> = {
  n: { 'Chat Completions': { messages: user('hello'), n: 2 } },
  functions: { 'Chat Completions': { messages: user('hello'), functions: [{ name: 'f', parameters: {} }] } },
  function_call: { 'Chat Completions': { messages: user('hello'), function_call: 'auto' } },
  input_audio: {
    'Chat Completions': { messages: user([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }]) },
  },
  image_url: {
    'Chat Completions': {
      messages: user([{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }]),
    },
    Messages: {
      max_tokens: 100,
      messages: user([{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }]),
    },
    Responses: { input: user([{ type: 'input_image', image_url: 'https://example.com/a.png', detail: 'auto' }]) },
  },
  document: {
    Messages: {
      max_tokens: 100,
      messages: user([{ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }]),
    },
  },
  file_id: {
    'Chat Completions': { messages: user([{ type: 'file', file: { file_id: 'file-1' } }]) },
    Messages: {
      max_tokens: 100,
      messages: user([{ type: 'document', source: { type: 'file', file_id: 'file_1' } }]),
    },
    Responses: { input: user([{ type: 'input_file', file_id: 'file-1' }]) },
  },
  previous_response_id: { Responses: { input: 'hello', previous_response_id: 'resp_1' } },
  conversation: { Responses: { input: 'hello', conversation: 'conv_1' } },
  prompt: { Responses: { input: 'hello', prompt: { id: 'pmpt_1' } } },
  background: { Responses: { input: 'hello', background: true } },
  item_reference: { Responses: { input: [{ type: 'item_reference', id: 'msg_1' }, ...user('hello')] } },
}

function user(content: unknown): object[] {
  return [{ role: 'user', content }]
}

/** The fences up to the next config. */
function below(fences: readonly Fence[], at: number): readonly Fence[] {
  const rest = fences.slice(at + 1)
  const next = rest.findIndex(({ lang }) => lang === 'yaml')
  return next === -1 ? rest : rest.slice(0, next)
}

function firstProvider(fences: readonly Fence[]): LlmProviderConfig {
  const yaml = fences.find(({ lang }) => lang === 'yaml')!.text
  const loaded = loadConfig(yaml, { file: 'page', dir: root, env: KEYS })
  assert.ok(loaded.ok)
  const target = loaded.ir.backends[0]!.target
  assert.ok(target.kind === 'ai')
  return target.groups[0]![0]!.config
}
