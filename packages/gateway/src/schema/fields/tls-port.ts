import { otherRule } from '../rules.ts'

/** TLS has a port that everybody knows; without it nothing says which one is meant. For objects with `policies` of their own. */
export const portUnlessTls = otherRule(
  'port is required unless policies.tls makes it 443',
  'has(self.port) || (has(self.policies) && has(self.policies.tls))',
  ({ port, policies }) =>
    port !== undefined || (typeof policies === 'object' && policies !== null && 'tls' in policies),
)
