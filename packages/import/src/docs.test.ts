import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { gatewayChecks } from '../../ctl/src/import/gateway-checks.ts'
import { importers, printImport, type SourceKind } from './index.ts'

/** Pages with an example: a fence marked `before`, the result, and sometimes the report. */
function examplesOf(page: string): { before: string; after: string; report: string | null } {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8')
  const [, before = ''] = /```\w+ before\n([^]*?)```/.exec(text) ?? []
  const rest = text.slice(text.indexOf('becomes this one:'))
  const [, after = ''] = /```yaml\n([^]*?)```/.exec(rest) ?? []
  return { before, after, report: /\n\n```\n([^]*?)```/.exec(rest)?.[1] ?? null }
}

function importText(from: SourceKind, name: string, text: string) {
  const result = importers[from]([{ name, text }], () => 'there is no such file', gatewayChecks)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return printImport(result.value, [name], from)
}

test('the example of docs/import.md is what the import writes', () => {
  const { before, after, report } = examplesOf('import.md')
  const written = importText('litellm', 'config.yaml', before)
  assert.equal(written.config.replaceAll(/^# .*\n/gm, ''), after)
  assert.equal(written.report.split('\n\n')[1], report)
})

test('the example of docs/migrating/litellm.md is what the import writes, but for the key', () => {
  const { before, after } = examplesOf('migrating/litellm.md')
  const written = parse(importText('litellm', 'config.yaml', before).config) as { llm: { models: object[] } }
  assert.deepEqual(written.llm.models, (parse(after) as typeof written).llm.models)
})

const pages: [string, SourceKind, string][] = [
  ['migrating/agentgateway.md', 'agentgateway', 'config.yaml'],
  ['migrating/caddy.md', 'caddy', 'Caddyfile'],
  ['migrating/envoy.md', 'envoy', 'envoy.yaml'],
  ['migrating/haproxy.md', 'haproxy', 'haproxy.cfg'],
  ['migrating/kong.md', 'kong', 'kong.yaml'],
  ['migrating/traefik.md', 'traefik', 'dynamic.yaml'],
]

for (const [page, from, name] of pages) {
  test(`the example of docs/${page} is what the import writes`, () => {
    const { before, after } = examplesOf(page)
    const written = importText(from, name, before).config.replaceAll(/^ *# .*\n/gm, '')
    if (process.env.PORTICO_UPDATE_GOLDEN === '1') {
      const file = new URL(`../../../docs/${page}`, import.meta.url)
      writeFileSync(
        file,
        readFileSync(file, 'utf8').replace(`\`\`\`yaml\n${after}\`\`\``, () => `\`\`\`yaml\n${written}\`\`\``),
      )
    } else assert.equal(written, after)
  })
}
