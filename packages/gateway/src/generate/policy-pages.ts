import { allPolicies } from '../policies/index.ts'
import type { Policy } from '../schema/define-policy.ts'
import { pageOf, README_MARK, readmeOf, readmePage } from './readme-pages.ts'

/** The pages made from the READMEs of policies: a page for each policy, and an index by task. */
export function policyPages(): Map<string, string> {
  const list = allPolicies.map((policy) => [`docs/policies/${pageOf(policy)}`, guidePage(policy)] as const)
  return new Map([['docs/policies/README.md', taskPage()], ...list])
}

function guidePage(policy: Policy): string {
  const more = `[Fields](../reference/${pageOf(policy)}) · [order and merging](../policies.md) · [by task](README.md)`
  return readmePage(readmeOf(policy), more)
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
  return [README_MARK, '# Policies by task', '', intro, '', ...sections].join('\n')
}

function linkTo(name: string): string {
  const policy = allPolicies.find((each) => `${each.section}.${each.name}` === name)
  if (policy === undefined) throw new Error(`there is no policy ${name}`)
  return `[${policy.section === 'traffic' ? policy.name : name}](${pageOf(policy)})`
}

type Tasks = readonly (readonly [
  title: string,
  rows: readonly (readonly [task: string, policies: readonly string[]])[],
])[]

const tasks: Tasks = [
  [
    'Control access',
    [
      ['check tokens of an identity provider', ['traffic.jwtAuthentication']],
      ['check API keys, or users and passwords', ['traffic.apiKeyAuthentication', 'traffic.basicAuthentication']],
      ['decide by claims, keys, paths, addresses', ['traffic.authorization']],
      ['allow networks, before a request is read', ['frontend.networkAuthorization']],
      ['choose versions, suites and groups of TLS', ['frontend.tls']],
      ['let my own service authorize requests', ['traffic.extAuth', 'backend.extAuth']],
      ['let my own service change requests and responses', ['traffic.extProc']],
      ['choose the sites whose pages may send requests', ['traffic.cors', 'traffic.csrf']],
      ['limit requests or tokens', ['traffic.rateLimit']],
    ],
  ],
  [
    'Rewrite, redirect, respond',
    [
      [
        'change the path or the host for the backend',
        ['traffic.urlRewrite', 'backend.urlRewrite', 'traffic.hostRewrite'],
      ],
      ['send clients to another address', ['traffic.requestRedirect']],
      ['answer without a backend', ['traffic.directResponse']],
      ['send a copy to a second backend', ['traffic.requestMirror']],
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
    'Handle slow or failing backends',
    [
      ['limit the time of requests', ['traffic.timeouts', 'backend.http', 'backend.tcp']],
      ['try again, within a budget', ['traffic.retry', 'backend.retryBudget']],
      ['keep clients on one server', ['traffic.sessionPersistence', 'backend.sessionPersistence']],
      ['stop using addresses and providers that fail', ['backend.health']],
      ['rehearse a slow or failing backend', ['traffic.delay', 'traffic.abort']],
    ],
  ],
  [
    'Reach backends',
    [
      ['use TLS, with a client certificate', ['backend.tls']],
      ['send an API key, a token or a cloud signature', ['backend.auth']],
      ['choose the version of HTTP', ['backend.http']],
      ['go through a proxy', ['backend.tunnel']],
      ['allow WebSocket, other upgrades, CONNECT', ['traffic.upgrades']],
    ],
  ],
  [
    'Language models and tools',
    [
      ['choose models, guard prompts and answers, set fields', ['backend.ai']],
      ['compute what calls cost, and limit it', ['backend.prices', 'traffic.budget']],
      ['decide who may use which tool', ['backend.mcp']],
      ['OAuth for MCP clients', ['traffic.mcpAuthentication', 'traffic.jwtAuthentication']],
    ],
  ],
  [
    'Connections, logs, metrics',
    [
      ['limit connections, heads and bodies of clients', ['frontend.tcp', 'frontend.http']],
      ['end idle UDP sessions, and limit their number', ['frontend.udp']],
      ['find the address of a client behind a load balancer', ['frontend.proxyProtocol', 'frontend.forwardedHeaders']],
      ['choose what is logged and counted', ['frontend.accessLog', 'frontend.metrics']],
      ['inspect recorded requests, and why they were denied', ['frontend.recorder']],
      ['give every request an id that client, backend and logs share', ['frontend.requestId']],
      ['follow a request across services', ['frontend.tracing']],
    ],
  ],
]
