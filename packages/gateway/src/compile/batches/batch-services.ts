import type { BatchServices } from '../../backends/ai/batches/batch-host.ts'
import { SealedIds } from '../../backends/ai/batches/batch-ids.ts'
import { ResultCharges } from '../../backends/ai/batches/result-charges.ts'
import type { ReadyProvider } from '../../backends/ai/provider.ts'
import type { EndpointLease } from '@portico/http/client'
import type { Env } from '../../pipeline/context/step.ts'
import type { Pricer } from '../../records/llm-record.ts'
import { Renewals } from '../../spending/renewals.ts'

/** Creates the services for files and batches of one backend. */
export function batchServices(
  key: string,
  providers: readonly ReadyProvider[],
  { env, lease }: { env: Env; lease: (provider: ReadyProvider) => EndpointLease },
): BatchServices {
  const byName = new Map(providers.map((provider) => [provider.name, provider]))
  // Results are charged once only when a provider has prices; the amounts of charged lines need memory that all workers
  // share.
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

/** Returns the function that prices the calls of a batch at a percentage of the regular price. */
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
