import { Deadline, type Deadlines } from '@portico/http'
import { LEASE_MS } from '../stores/budgets/budget-store.ts'

interface Renewable {
  /** Moves the end of its leases. */
  renew(): void
}

/** Renews the leases of calls that are under way. A claim that is not settled, whatever fails, ends with its lease. */
export class Renewals {
  readonly #open = new Set<Renewable>()
  readonly #deadlines: Deadlines
  readonly #renewal = new Deadline(() => {
    for (const claim of this.#open) claim.renew()
    if (this.#open.size > 0) this.#deadlines.set(this.#renewal, RENEWAL_MS)
  })

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines
  }

  add(claim: Renewable): void {
    if (this.#open.size === 0) this.#deadlines.set(this.#renewal, RENEWAL_MS)
    this.#open.add(claim)
  }

  delete(claim: Renewable): void {
    this.#open.delete(claim)
  }
}

/** Several renewals fit into a lease, because a busy thread may be late. */
const RENEWAL_MS = LEASE_MS / 6
