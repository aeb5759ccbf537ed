import type { BatchServices } from '../../backends/ai/batches/batch-host.ts'
import { SealedIds } from '../../backends/ai/batches/batch-ids.ts'
import { ResultCharges } from '../../backends/ai/batches/result-charges.ts'
import type { ReadyProvider } from '../../backends/ai/provider.ts'
import type { EndpointLease } from '@portico/http/client'
import type { Env } from '../../pipeline/context/step.ts'
import type { Pricer } from '../../records/llm-record.ts'
import { Renewals } from '../../spending/renewals.ts'

/** The services for files and batches of one backend. */
export function batchServices(
  key: string,
  providers: readonly ReadyProvider[],
  { env, lease }: { env: Env; lease: (provider: ReadyProvider) => EndpointLease },
): BatchServices {
  const byName = new Map(providers.map((provider) => [provider.name, provider]))
  // Only what has a price is charged once; the room for it is in the memory of all workers.
  const isCharged = providers.some(({ batchPricer }) => batchPricer !== null) && ResultCharges.prepare(env.budgets())
  return {
    ids: new SealedIds(env.seal, key),
    charges: isCharged ? new ResultCharges(env.budgets(), new Renewals(env.deadlines)) : null,
    choose(name) {
      const provider = byName.get(name)
      return provider === undefined ? null : { provider, lease: lease(provider) }
    },
  }
}

/** Prices the calls of a batch: a part of the price of the same calls on their own. */
export function batchPricer(pricer: Pricer, percent: number): Pricer {
  return (call) => {
    const cost = pricer(call)
    if (cost.kind === 'unknown') return cost
    return {
      ...cost,
      nanoDollars: Math.ceil((cost.nanoDollars * percent) / 100),
      row: `${cost.row}, ${percent} % for batches`,
    }
  }
}
