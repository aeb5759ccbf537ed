import { backendFields, object, oneKind, otherRule } from '@portico/gateway/schema'
import type { Output } from '@portico/gateway/schema'

/** Policies for models need a backend of models, those for MCP one of MCP. */
function policyNeeds(kind: 'ai' | 'mcp') {
  return otherRule(
    `policies.${kind} may only be set with ${kind}`,
    `!has(self.policies) || !has(self.policies.${kind}) || has(self.${kind})`,
    ({ policies, ...spec }) =>
      typeof policies !== 'object' || policies === null || !(kind in policies) || spec[kind] !== undefined,
  )
}

/** TLS has a port that everybody knows; a policy elsewhere that brings TLS is not seen here. */
const staticPort = otherRule(
  'static.port is required unless policies.tls makes it 443',
  '!has(self.static) || !has(self.static.host) || has(self.static.port) || (has(self.policies) && has(self.policies.tls))',
  ({ static: fixed, policies }) =>
    !isObject(fixed) || !('host' in fixed) || 'port' in fixed || (isObject(policies) && 'tls' in policies),
)

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** SPEC 2.2: a destination. Its kinds and policies are those of the config file, in the form of resources. */
export const gwBackendSpec = object(backendFields, [
  oneKind,
  policyNeeds('ai'),
  policyNeeds('mcp'),
  staticPort,
]).describe('What it is: exactly one kind of destination, and policies for talking to it.')

/** What it is once references are settled. */
export type GwBackendSpec = Output<typeof gwBackendSpec>
