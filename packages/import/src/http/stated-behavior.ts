import type { StatedBehavior } from '../core/test-file.ts'
import { behaviorOf } from './behavior.ts'
import type { HttpMatch, HttpPort, HttpRule } from './model.ts'

const AUTHENTICATION = ['apiKeyAuthentication', 'basicAuthentication', 'jwtAuthentication', 'mcpAuthentication']

/** The upstreams of requests; where a credential is required, requests without one get 401. */
export function statedBehavior(ports: readonly HttpPort[], env: Readonly<Record<string, string>>): StatedBehavior {
  return behaviorOf(
    ports.map((port) => ({ ...port, rules: port.rules.map(refused) })),
    env,
  )
}

function isOfDiscovery({ path }: HttpMatch): boolean {
  return path !== null && path.kind !== 'pattern' && path.path.startsWith('/.well-known')
}

function refused(rule: HttpRule): HttpRule {
  const required = AUTHENTICATION.filter((name) => {
    const policy = rule.policies[name] as { mode?: string } | undefined
    return policy !== undefined && (policy.mode ?? 'Strict') === 'Strict'
  })
  if (required.length === 0) return rule
  // Discovery documents of MCP OAuth need no token.
  if (required.includes('mcpAuthentication') && rule.matches.some(isOfDiscovery))
    return { ...rule, outcome: { kind: 'untold' } }
  return { ...rule, policies: {}, outcome: { kind: 'status', status: 401 } }
}
