import type { AttachedPolicy } from './resources.ts'
import { enforcedIn } from './shadow-policies.ts'

/** Returns the function that tells whether an enforced policy counts requests in a domain of a rate limit service. */
export function heldLimitDomains(policies: readonly AttachedPolicy[]): (service: string, domain: string) => boolean {
  let domains: ReadonlySet<string> | null = null
  return (service, domain) => (domains ??= domainsIn(policies)).has(JSON.stringify([service, domain]))
}

function domainsIn(policies: readonly AttachedPolicy[]): Set<string> {
  const domains = new Set<string>()
  for (const { traffic } of policies) {
    const limit = traffic === null ? undefined : enforcedIn(traffic).rateLimit
    if (limit === undefined) continue
    for (const { global } of [limit, ...(limit.conditional ?? []).map(({ policy }) => policy)]) {
      if (global !== undefined)
        domains.add(JSON.stringify([global.backendRef.name ?? global.backendRef.host, global.domain]))
    }
  }
  return domains
}
