import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { allPolicies } from '../policies/index.ts'
import { responseOrder, trafficSteps } from '../policies/order.ts'
import { GENERATED_FOLDERS, generatedFiles } from './generated-files.ts'
import { policyPages } from './policy-pages.ts'
import { withPolicyTables } from './policy-tables.ts'
import { backendPages, pageOf, withLinksFrom } from './readme-pages.ts'

const root = new URL('../../../../', import.meta.url)

test('the generated files are fresh; otherwise run `npm run generate`', () => {
  const files = generatedFiles()
  for (const [path, content] of files) {
    assert.ok(existsSync(new URL(path, root)), `${path} is missing`)
    assert.equal(readFileSync(new URL(path, root), 'utf8'), content, `${path} is stale`)
  }
  for (const folder of GENERATED_FOLDERS) {
    for (const page of readdirSync(new URL(`${folder}/`, root))) {
      assert.ok(files.has(`${folder}/${page}`), `${folder}/${page} belongs to nothing`)
    }
  }
})

test('the index by task leads to every policy', () => {
  const index = policyPages().get('docs/policies/README.md') ?? ''
  for (const policy of allPolicies) assert.ok(index.includes(`](${pageOf(policy)})`), policy.name)
})

test('every kind of backend has a page, and the index says of each what it is', () => {
  const pages = backendPages()
  const index = pages.get('docs/backends/README.md') ?? ''
  const kinds = readdirSync(new URL('packages/gateway/src/backends/', root))
  for (const kind of kinds) {
    assert.ok(pages.has(`docs/backends/${kind}.md`), kind)
    assert.match(index, new RegExp(`\\]\\(${kind}\\.md\\) \\| \\w.+\\. \\|`))
  }
  const before = readFileSync(new URL('packages/gateway/src/backends/static/README.md', root), 'utf8').split('\n')
  assert.equal(pages.get('docs/backends/static.md')?.split('\n')[1], before[0])
})

test('the page of policies has every policy, and each step in both orders', () => {
  const page = generatedFiles().get('docs/policies.md') ?? ''
  for (const policy of allPolicies) {
    const row = `| [${policy.name}](policies/${pageOf(policy)}) | `
    assert.equal(page.split(row).length, 2, policy.name)
  }
  const stepsIn = (name: string): string[] => {
    const [, table = ''] = page.split(new RegExp(`<!-- (?:end of )?${name}\\b.*-->`))
    return table
      .split('\n')
      .flatMap((row) => [...(row.split('|')[2] ?? '').matchAll(/`(\w+)`/g)].map(([, step = '']) => step))
  }
  assert.deepEqual(stepsIn('request-order'), Object.keys(trafficSteps))
  assert.deepEqual(stepsIn('response-order'), responseOrder)
})

test('a table without a place on the page, and a place without a table, are faults', () => {
  const page = readFileSync(new URL('docs/policies.md', root), 'utf8')
  assert.throws(
    () => withPolicyTables(page.replaceAll('request-order', 'request-odor')),
    /there is no table request-odor/,
  )
  assert.throws(() => withPolicyTables(page.replace('<!-- request-order:', '<!--')), /no place for request-order/)
})

test('links of a README lead to the same places from its page', () => {
  const readme = 'packages/gateway/src/policies/traffic/cors/README.md'
  const links = {
    '../csrf/README.md': 'traffic-csrf.md',
    '../../frontend/access-log/README.md#fields': 'frontend-access-log.md#fields',
    '../../../../../../docs/llm.md#failover': '../llm.md#failover',
    '../../../backends/ai/README.md': '../backends/ai.md',
    '../../../llm/guards/README.md#regex': '../prompt-guards.md#regex',
    './step.ts': '../../packages/gateway/src/policies/traffic/cors/step.ts',
    'https://cel.dev': 'https://cel.dev',
    '#below': '#below',
  }
  for (const [from, to] of Object.entries(links)) {
    assert.equal(withLinksFrom(readme, 'docs/policies', `[a](${from})`), `[a](${to})`)
  }
})
