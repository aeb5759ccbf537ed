import { readFileSync } from 'node:fs'
import { allPolicies } from '../policies/index.ts'
import type { AttachmentPoint, Policy } from '../schema/define-policy.ts'
import { printFields } from '../schema/print/docs.ts'
import { toJsonSchema } from '../schema/print/json-schema.ts'
import { expectation, reply, request, testFile, upstreamExpectation } from '../config-tests/schema.ts'
import { configFile } from '../sources/schema.ts'
import { lintPages } from './lint-pages.ts'
import { presetPage } from './preset-page.ts'
import { policyPages } from './policy-pages.ts'
import { withPolicyTables } from './policy-tables.ts'
import { backendPages, pageOf } from './readme-pages.ts'

const root = new URL('../../../../', import.meta.url)
const mark = '<!-- Printed from the schemas by `npm run generate`; changes here are lost. -->'

/** Folders in which everything is generated. */
export const GENERATED_FOLDERS = ['docs/reference', 'docs/policies', 'docs/backends', 'docs/lint'] as const

/** Every generated file: contents by path from the root of the project. */
export function generatedFiles(): Map<string, string> {
  const schema = toJsonSchema(configFile, { title: 'Portico config file', $comment: 'Printed by `npm run generate`.' })
  const testSchema = toJsonSchema(testFile, { title: 'Portico test file', $comment: 'Printed by `npm run generate`.' })
  return new Map([
    ['schema/config.json', `${JSON.stringify(schema, null, 2)}\n`],
    ['schema/test.json', `${JSON.stringify(testSchema, null, 2)}\n`],
    ['docs/reference/test-file.md', testFilePage()],
    ['docs/reference/README.md', indexPage()],
    ['docs/reference/config-file.md', configPage()],
    ['docs/reference/openai-compatible-providers.md', presetPage(mark)],
    ...allPolicies.map((policy) => [`docs/reference/${pageOf(policy)}`, policyPage(policy)] as const),
    ...policyPages(),
    ...backendPages(),
    ...lintPages(),
    ['docs/policies.md', withPolicyTables(readFileSync(new URL('docs/policies.md', root), 'utf8'))],
  ])
}

function indexPage(): string {
  const sections = [
    ['frontend', 'Frontend: incoming connections'],
    ['traffic', 'Traffic: requests'],
    ['backend', 'Backend: connections to backends'],
  ].flatMap(([section, title]) => [
    `## ${title}`,
    '',
    '| Policy | What it does |',
    '|---|---|',
    ...allPolicies
      .filter((policy) => policy.section === section)
      .map((policy) => `| [${policy.name}](${pageOf(policy)}) | ${policy.schema.field.description} |`),
    '',
  ])
  return [
    mark,
    '# Reference',
    '',
    'The [config file](config-file.md), the [test file](test-file.md), [OpenAI-compatible providers](openai-compatible-providers.md), and a page for each policy.',
    '',
    ...sections,
  ].join('\n')
}

function configPage(): string {
  const table = printFields(configFile, (path) => {
    const policies = linkedPolicies(path)
    return policies === null ? null : policies.map((policy) => `[${policy.name}](${pageOf(policy)})`).join(', ')
  })
  const notes = [
    'Durations are texts such as `1m30s` or `100ms`. Sizes are numbers of bytes or texts: `k`, `M`, `G` count in thousands,',
    '`Ki`, `Mi`, `Gi` and `kb`, `mb`, `gb` in 1024s. Words such as `HTTP` may be written in any letter case.',
    '`${NAME}` and `${NAME:-default}` inside a value are taken from the environment; `$${` is a literal `${`.',
    'Paths of files are relative to the folder of the config file.',
  ]
  return [mark, '# Config file', '', ...notes, '', table].join('\n')
}

/** The fields with several forms have a table for each form. */
function testFilePage(): string {
  const parts = [
    [
      'Test file',
      'config.test.yaml names a config and its tests; see [Tests of configs](../testing-configs.md).',
      testFile,
    ],
    ['`send`: a request', 'A text such as `GET /path`, or a mapping:', request],
    ['`expect`: an outcome', 'A mapping, or a list of mappings with `times`. Each field takes a matcher:', expectation],
    [
      '`upstream`: the request to the upstream',
      'Null when no request was sent, or a mapping of matchers:',
      upstreamExpectation,
    ],
    ['`upstreams`: a response', 'A mapping, or a list of mappings for successive requests:', reply],
  ] as const
  const sections = parts.flatMap(([title, about, schema], index) => [
    `${index === 0 ? '#' : '##'} ${title}`,
    '',
    about,
    '',
    printFields(schema),
  ])
  return [mark, ...sections].join('\n')
}

/** A `policies` block is described by the pages of its policies. */
function linkedPolicies(path: string): Policy[] | null {
  const section =
    path === 'frontend'
      ? 'frontend'
      : /(^llm|listeners\[\](\.routes\[\])?)\.policies$/.test(path)
        ? 'traffic'
        : 'backend'
  if (path !== 'frontend' && !path.endsWith('.policies')) return null
  const place =
    path === 'frontend'
      ? 'gateway'
      : path.endsWith('routes[].policies') || path === 'llm.policies'
        ? 'route'
        : section === 'traffic'
          ? 'listener'
          : 'backend'
  return allPolicies.filter((policy) => policy.section === section && policy.attach.includes(place))
}

function policyPage(policy: Policy): string {
  const where = policy.attach.map((place) => placeName(policy, place)).join(', ')
  const facts = [`Section: \`${policy.section}\`. Can be set on: ${where}.`]
  if (policy.fileOnly) facts.push('Available only in the config file.')
  if (policy.always) facts.push('Its defaults apply even when the policy is not set.')
  return [
    mark,
    `# ${policy.name}`,
    '',
    policy.schema.field.description,
    '',
    facts.join(' '),
    '',
    printFields(policy.schema),
  ].join('\n')
}

function placeName(policy: Policy, place: AttachmentPoint): string {
  switch (place) {
    case 'gateway':
      return 'the gateway (`frontend`)'
    case 'listener':
      return 'a listener'
    case 'route':
      return policy.section === 'backend' ? 'a route (`policies.backend`)' : 'a route'
    case 'backend':
      return 'a backend'
    case 'mcpTarget':
      return 'an MCP target'
  }
}
