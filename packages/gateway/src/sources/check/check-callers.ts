import type { Report } from './report.ts'
import type { Spot } from './tree.ts'

/** Policies that fill a variable of expressions. */
const PROVIDERS: readonly { variable: RegExp; name: string; policies: readonly string[] }[] = [
  { variable: /(^|[^\w.])jwt\s*[.[]/, name: 'jwt', policies: ['jwtAuthentication', 'mcpAuthentication'] },
  { variable: /(^|[^\w.])apiKey\s*[.[]/, name: 'apiKey', policies: ['apiKeyAuthentication'] },
  { variable: /(^|[^\w.])basicAuth\s*[.[]/, name: 'basicAuth', policies: ['basicAuthentication'] },
]

/** Words inside of quotes are not variables. */
const STRINGS = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g

/** Warns about limits by caller when no policy identifies callers, and about repeated issuers. */
export function checkCallers(root: Spot, listeners: readonly Spot[], warn: Report): void {
  const shared = root.at('policies').items.map((policy) => policy.at('traffic'))
  for (const traffic of shared) {
    checkIssuers(traffic, warn)
    if (traffic.has('rateLimit')) checkKeys(traffic, [...shared, ...everyPolicies(listeners)], warn)
  }
  for (const listener of listeners) {
    const own = listener.at('policies')
    checkIssuers(own, warn)
    const routes = listener.at('routes').items.map((route) => route.at('policies'))
    if (own.has('rateLimit')) checkKeys(own, [own, ...shared, ...routes], warn)
    for (const policies of routes) {
      checkIssuers(policies, warn)
      if (policies.has('rateLimit')) checkKeys(policies, [policies, own, ...shared], warn)
    }
  }
}

function everyPolicies(listeners: readonly Spot[]): Spot[] {
  return listeners.flatMap((listener) => [
    listener.at('policies'),
    ...listener.at('routes').items.map((route) => route.at('policies')),
  ])
}

function checkKeys(policies: Spot, around: readonly Spot[], warn: Report): void {
  const limit = policies.at('rateLimit')
  const forms = [limit, ...limit.at('conditional').items.map((form) => form.at('policy'))]
  for (const key of forms.flatMap((form) => form.at('local').items.map((local) => local.at('key')))) {
    const text = key.text?.replaceAll(STRINGS, '""') ?? null
    const missing = PROVIDERS.find(
      ({ variable, policies: names }) =>
        text !== null && variable.test(text) && !around.some((each) => names.some((name) => each.has(name))),
    )
    if (missing === undefined) continue
    warn('may_fail', key, {
      found: `found a key that reads \`${missing.name}\`, which no policy of these requests sets`,
      expected: missing.policies.map((name) => `\`${name}\``).join(' or '),
    })
  }
}

/** Warns about a repeated issuer: the second provider with the same issuer is never used. */
function checkIssuers(policies: Spot, warn: Report): void {
  if (!policies.has('jwtAuthentication')) return
  const seen = new Set<string>()
  for (const provider of policies.in('jwtAuthentication', 'providers').items) {
    const issuer = provider.at('issuer')
    const { text } = issuer
    if (text === null) continue
    if (seen.has(text)) {
      warn('no_effect', issuer, { found: `found issuer \`${text}\` a second time`, expected: 'each issuer once' })
    }
    seen.add(text)
  }
}
