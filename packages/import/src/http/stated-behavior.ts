import type { StatedBehavior } from '../core/test-file.ts'
import { behaviorOf } from './behavior.ts'
import type { HttpMatch, HttpPort, HttpRule } from './model.ts'

const AUTHENTICATION = ['apiKeyAuthentication', 'basicAuthentication', 'jwtAuthentication', 'mcpAuthentication']

/**
 * Returns the behavior for the generated tests. For routes that require a credential, the tests expect status 401,
 * because they send none.
 */
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
  // MCP OAuth serves discovery documents without a token, so their responses are not tested.
  if (required.includes('mcpAuthentication') && rule.matches.some(isOfDiscovery))
    return { ...rule, outcome: { kind: 'untold' } }
  return { ...rule, policies: {}, outcome: { kind: 'status', status: 401 } }
}
