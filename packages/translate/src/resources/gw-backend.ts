import { isObject } from '@portico/http/json'
import { backendFields, object, oneKind, otherRule } from '@portico/gateway/schema'
import type { Output } from '@portico/gateway/schema'

/** AI policies need an `ai` backend, MCP policies an `mcp` backend. */
function policyNeeds(kind: 'ai' | 'mcp') {
  return otherRule(
    `policies.${kind} may only be set with ${kind}`,
    `!has(self.policies) || !has(self.policies.${kind}) || has(self.${kind})`,
    ({ policies, ...spec }) =>
      typeof policies !== 'object' || policies === null || !(kind in policies) || spec[kind] !== undefined,
  )
}

/** TLS has a default port. TLS that comes from a policy elsewhere is not visible here. */
const staticPort = otherRule(
  'static.port is required unless policies.tls makes it 443',
  '!has(self.static) || !has(self.static.host) || has(self.static.port) || (has(self.policies) && has(self.policies.tls))',
  ({ static: fixed, policies }) =>
    !isObject(fixed) || !('host' in fixed) || 'port' in fixed || (isObject(policies) && 'tls' in policies),
)

/** GwBackend (SPEC 2.2): a destination. Its kinds and policies are those of the config file, in the form of resources. */
export const gwBackendSpec = object(backendFields, [
  oneKind,
  policyNeeds('ai'),
  policyNeeds('mcp'),
  staticPort,
]).describe('Exactly one kind of destination, and policies for connections to it.')

/** The spec after references are resolved. */
export type GwBackendSpec = Output<typeof gwBackendSpec>
