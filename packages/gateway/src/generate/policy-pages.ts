import { readFileSync } from 'node:fs'
import { dirname, posix } from 'node:path'
import { allPolicies } from '../policies/index.ts'
import type { Policy } from '../schema/define-policy.ts'

const mark = '<!-- Made from the READMEs of the policies by `npm run generate`; changes here are lost. -->'
const root = new URL('../../../../', import.meta.url)
const pages = new Map(allPolicies.map((policy) => [readmeOf(policy), `docs/policies/${pageOf(policy)}`]))

/** The name of a policy's page, in the reference and among the guides. */
export function pageOf(policy: Policy): string {
  return `${policy.section}-${kebab(policy.name)}.md`
}

/** What readers see of the READMEs: a page for each policy, and an index by task. */
export function policyPages(): Map<string, string> {
  const list = allPolicies.map((policy) => [`docs/policies/${pageOf(policy)}`, guidePage(policy)] as const)
  return new Map([['docs/policies/README.md', taskPage()], ...list])
}

function guidePage(policy: Policy): string {
  const readme = readmeOf(policy)
  const text = readFileSync(new URL(readme, root), 'utf8').trimEnd()
  const more = `[Fields](../reference/${pageOf(policy)}) · [order and merging](../policies.md) · [by task](README.md)`
  return `${mark}\n${withLinksFrom(readme, text)}\n\n${more}\n`
}

/** Links that lead from a README lead to the same places from `docs/policies/`, or to the page that stands for it. */
export function withLinksFrom(readme: string, text: string): string {
  return text.replaceAll(/\]\(([^)#:]+)(#[^)]*)?\)/g, (_link, path: string, heading = '') => {
    const target = posix.join(dirname(readme), path)
    return `](${posix.relative('docs/policies', pages.get(target) ?? target)}${heading})`
  })
}

function taskPage(): string {
  const sections = tasks.flatMap(([title, rows]) => [
    `## ${title}`,
    '',
    '| To | Policy |',
    '|---|---|',
    ...rows.map(([task, names]) => `| ${task} | ${names.map(linkTo).join(', ')} |`),
    '',
  ])
  const intro =
    'What each policy is for, with examples that tests run. [Policies](../policies.md) has their order and merging.'
  return [mark, '# Policies by task', '', intro, '', ...sections].join('\n')
}

function linkTo(name: string): string {
  const policy = allPolicies.find((each) => `${each.section}.${each.name}` === name)
  if (policy === undefined) throw new Error(`there is no policy ${name}`)
  return `[${policy.section === 'traffic' ? policy.name : name}](${pageOf(policy)})`
}

function readmeOf(policy: Policy): string {
  return `packages/gateway/src/policies/${policy.section}/${kebab(policy.name)}/README.md`
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

type Tasks = readonly (readonly [
  title: string,
  rows: readonly (readonly [task: string, policies: readonly string[]])[],
])[]

const tasks: Tasks = [
  [
    'Let in, keep out',
    [
      ['check tokens of an identity provider', ['traffic.jwtAuthentication']],
      ['check API keys, or users and passwords', ['traffic.apiKeyAuthentication', 'traffic.basicAuthentication']],
      ['decide by claims, keys, paths, addresses', ['traffic.authorization']],
      ['let in networks, before anything is read', ['frontend.networkAuthorization']],
      ['choose versions, suites and groups of TLS', ['frontend.tls']],
      ['serve pages of other sites, and no others', ['traffic.cors', 'traffic.csrf']],
      ['limit requests or tokens', ['traffic.rateLimit']],
    ],
  ],
  [
    'Send elsewhere, answer here',
    [
      ['change the path or the host for the backend', ['traffic.urlRewrite', 'traffic.hostRewrite']],
      ['send clients to another address', ['traffic.requestRedirect']],
      ['answer without a backend', ['traffic.directResponse']],
      ['give a second backend a copy', ['traffic.requestMirror']],
    ],
  ],
  [
    'Change messages',
    [
      ['add, set or remove headers', ['traffic.headerModifiers']],
      ['compute headers, bodies and statuses', ['traffic.transformation', 'backend.transformation']],
    ],
  ],
  [
    'Live with slow or failing backends',
    [
      ['limit how long something takes', ['traffic.timeouts', 'backend.http', 'backend.tcp']],
      ['try again', ['traffic.retry']],
      ['leave out addresses and providers that fail', ['backend.health']],
    ],
  ],
  [
    'Reach backends',
    [
      ['speak TLS, show a certificate', ['backend.tls']],
      ['give a key, a token, a signature of a cloud', ['backend.auth']],
      ['choose the version of HTTP', ['backend.http']],
      ['go through a proxy', ['backend.tunnel']],
      ['allow WebSocket, other upgrades, CONNECT', ['traffic.upgrades']],
    ],
  ],
  [
    'Language models and tools',
    [
      ['choose models, guard prompts and answers, set fields', ['backend.ai']],
      ['decide who may use which tool', ['backend.mcp']],
      ['OAuth for MCP clients', ['traffic.mcpAuthentication', 'traffic.jwtAuthentication']],
    ],
  ],
  [
    'Connections, logs, metrics',
    [
      ['limit connections, heads and bodies of clients', ['frontend.tcp', 'frontend.http']],
      ['know the client behind a load balancer', ['frontend.proxyProtocol', 'frontend.forwardedHeaders']],
      ['choose what is logged and counted', ['frontend.accessLog', 'frontend.metrics']],
    ],
  ],
]
