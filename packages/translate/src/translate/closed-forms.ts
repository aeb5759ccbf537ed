import type { Policy, Problem } from '@portico/gateway/schema'

/** What stands in the place of a policy that cannot be made: nothing may pass that it was there to stop. */

const denyAll = { rules: [{ mode: 'deny', expression: 'true' }] }

type Forms = Readonly<Record<string, (unreachable: () => string) => Record<string, unknown>>>

const extAuth = (unreachable: () => string) => ({
  extAuth: { backendRef: { name: unreachable() }, failureMode: 'FailClosed' },
})

const traffic: Forms = {
  authorization: () => ({ authorization: denyAll }),
  jwtAuthentication: () => ({ jwtAuthentication: { mode: 'Strict', providers: [] } }),
  basicAuthentication: () => ({ basicAuthentication: { mode: 'Strict', realm: 'Restricted', users: [] } }),
  apiKeyAuthentication: () => ({ apiKeyAuthentication: { mode: 'Strict', secretRef: { data: {} } } }),
  csrf: () => ({ csrf: {} }),
  extAuth,
  extProc: (unreachable) => ({ extProc: { backendRef: { name: unreachable() }, failureMode: 'FailClosed' } }),
  rateLimit: (unreachable) => ({
    rateLimit: {
      global: {
        backendRef: { name: unreachable() },
        domain: 'invalid',
        descriptors: [{ entries: [{ name: 'invalid', expression: '"invalid"' }], unit: 'Requests' }],
        failureMode: 'FailClosed',
        timeout: 1_000,
      },
    },
  }),
}

const frontend: Forms = { networkAuthorization: () => ({ networkAuthorization: denyAll }) }

/** Without its credential, its authorities or its guards no call is made at all. */
const backend: Forms = {
  // Nobody may certify such a name: not even the parts of a backend that have no authorizer are called without the authorities.
  tls: (unreachable) => ({ tls: { verifySubjectAltNames: ['unverifiable.invalid'] }, ...extAuth(unreachable) }),
  auth: extAuth,
  extAuth,
  tunnel: extAuth,
  ai: extAuth,
  mcp: () => ({ mcp: { authorization: denyAll } }),
}

const forms: Readonly<Record<Policy['section'], Forms>> = { frontend, traffic, backend }

/** Empty for policies that stop nothing. `unreachable` gives the key of a backend that nobody reaches. */
export function closedForm(
  section: Policy['section'],
  name: string,
  unreachable: () => string,
): Record<string, unknown> {
  return forms[section][name]?.(unreachable) ?? {}
}

/** A rule that cannot be read counts as one that does not let anybody pass; null where something else is wrong too. */
export function withoutBadRules(name: string, raw: unknown, problems: readonly Problem[]): unknown {
  const isOfRule = ({ code, path }: Problem): boolean => code === 'bad_expression' && path.at(-2) === 'matchExpressions'
  if (!['authorization', 'networkAuthorization', 'mcp'].includes(name) || !problems.every(isOfRule)) return null
  const copy: unknown = structuredClone(raw)
  for (const { path } of problems) {
    const rules = name === 'mcp' ? memberOf(copy, 'authorization') : copy
    const expressions = memberOf(memberOf(rules, 'policy'), 'matchExpressions')
    const index = path.at(-1)
    if (!Array.isArray(expressions) || typeof index !== 'number') return null
    expressions[index] = memberOf(rules, 'action') === 'Deny' ? 'true' : 'false'
  }
  return copy
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}
