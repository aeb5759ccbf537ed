import { otherRule } from '../rules.ts'

/** Requires a port unless TLS implies 443; for objects with their own `policies`. */
export const portUnlessTls = otherRule(
  'port is required unless policies.tls makes it 443',
  'has(self.port) || (has(self.policies) && has(self.policies.tls))',
  ({ port, policies }) =>
    port !== undefined || (typeof policies === 'object' && policies !== null && 'tls' in policies),
)
