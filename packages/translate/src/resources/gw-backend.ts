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

/** SPEC 2.2: a destination. Its kinds and policies are those of the config file, in the form of resources. */
export const gwBackendSpec = object(backendFields, [oneKind, policyNeeds('ai'), policyNeeds('mcp')]).describe(
  'What it is: exactly one kind of destination, and policies for talking to it.',
)

/** What it is once references are settled. */
export type GwBackendSpec = Output<typeof gwBackendSpec>
