import type { Policy, Problem, TrafficPolicies } from '@portico/gateway/schema'
import { member } from '../../resources/json.ts'

/** Replacements for protective policies that are invalid: they deny all requests that the policy might have denied. */

export const denyAll: NonNullable<TrafficPolicies['authorization']> = { rules: [{ mode: 'deny', expression: 'true' }] }

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

/** Without its credentials, CAs or guards, a backend is not called at all. */
const backend: Forms = {
  // No certificate can have this name, so parts of a backend without an authorizer are not called without the CAs either.
  tls: (unreachable) => ({ tls: { verifySubjectAltNames: ['unverifiable.invalid'] }, ...extAuth(unreachable) }),
  auth: extAuth,
  extAuth,
  tunnel: extAuth,
  ai: extAuth,
  mcp: () => ({ mcp: { authorization: denyAll } }),
}

const forms: Readonly<Record<Policy['section'], Forms>> = { frontend, traffic, backend }

/**
 * Whether a policy is written as a shadow policy. An invalid shadow policy is left out, not closed, because it never
 * denies a request.
 */
export function isWrittenShadow(name: string, written: unknown): boolean {
  if (member(written, 'mode') === 'Shadow') return true
  const rules = member(written, 'authorization')
  return name === 'mcp' && member(rules, 'mode') === 'Shadow' && member(written, 'authentication') === undefined
}

/**
 * Returns the closed form of a policy; empty for policies that deny nothing. `unreachable` returns the key of an
 * invalid backend, which fails every call.
 */
export function closedForm(
  section: Policy['section'],
  name: string,
  unreachable: () => string,
): Record<string, unknown> {
  return forms[section][name]?.(unreachable) ?? {}
}

/** Returns the policy with each invalid rule replaced by one that allows no request; null when there are other problems too. */
export function withoutBadRules(name: string, raw: unknown, problems: readonly Problem[]): unknown {
  const isOfRule = ({ code, path }: Problem): boolean => code === 'bad_expression' && path.at(-2) === 'matchExpressions'
  if (!['authorization', 'networkAuthorization', 'mcp'].includes(name) || !problems.every(isOfRule)) return null
  const copy: unknown = structuredClone(raw)
  for (const { path } of problems) {
    const rules = name === 'mcp' ? member(copy, 'authorization') : copy
    const expressions = member(member(rules, 'policy'), 'matchExpressions')
    const index = path.at(-1)
    if (!Array.isArray(expressions) || typeof index !== 'number') return null
    expressions[index] = member(rules, 'action') === 'Deny' ? 'true' : 'false'
  }
  return copy
}
