import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { allPolicies } from '../policies/index.ts'
import { generatedFiles } from './generated-files.ts'
import { pageOf, policyPages, withLinksFrom } from './policy-pages.ts'

const root = new URL('../../../../', import.meta.url)

test('the generated files are fresh; otherwise run `npm run generate`', () => {
  const files = generatedFiles()
  for (const [path, content] of files) {
    assert.ok(existsSync(new URL(path, root)), `${path} is missing`)
    assert.equal(readFileSync(new URL(path, root), 'utf8'), content, `${path} is stale`)
  }
  for (const folder of ['docs/reference', 'docs/policies']) {
    for (const page of readdirSync(new URL(`${folder}/`, root))) {
      assert.ok(files.has(`${folder}/${page}`), `${folder}/${page} belongs to nothing`)
    }
  }
})

test('the index by task leads to every policy', () => {
  const index = policyPages().get('docs/policies/README.md') ?? ''
  for (const policy of allPolicies) assert.ok(index.includes(`](${pageOf(policy)})`), policy.name)
})

test('links of a README lead to the same places from its page', () => {
  const readme = 'packages/gateway/src/policies/traffic/cors/README.md'
  const links = {
    '../csrf/README.md': 'traffic-csrf.md',
    '../../frontend/access-log/README.md#fields': 'frontend-access-log.md#fields',
    '../../../../../../docs/llm.md#failover': '../llm.md#failover',
    '../../../backends/ai/README.md': '../../packages/gateway/src/backends/ai/README.md',
    'https://cel.dev': 'https://cel.dev',
    '#below': '#below',
  }
  for (const [from, to] of Object.entries(links)) assert.equal(withLinksFrom(readme, `[a](${from})`), `[a](${to})`)
})
