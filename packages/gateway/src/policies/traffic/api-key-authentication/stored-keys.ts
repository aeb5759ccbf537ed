import { HeaderBlock } from '@portico/http'
import { Reply } from '../../../pipeline/context/reply.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { Env, StepResult } from '../../../pipeline/context/step.ts'
import { accountsOf } from '../../../keys/key-accounts.ts'
import { budgetRooms } from '../../../keys/key-budgets.ts'
import { KeyClaim } from '../../../keys/key-claim.ts'
import type { ReadyKey } from '../../../keys/ready-key.ts'
import { StoredKeys } from '../../../keys/stored-keys.ts'
import { viewKeyTable } from '../../../keys/table/key-table.ts'
import { type BudgetUsage, describeBudgets } from '../../../keys/usage.ts'
import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import { failureReply } from '../../../pipeline/compiled/failure-reply.ts'
import { claimBudgets } from '../../../spending/claim.ts'
import { noRoom, refuseSpending } from '../../../spending/refuse-spending.ts'
import { Renewals } from '../../../spending/renewals.ts'
import { SpendAccounts } from '../../../spending/spend-accounts.ts'
import { SpendTable } from '../../../state/spend-table.ts'
import type { KeyStoreConfig } from './schema.ts'

/** The keys of the store in one policy. */
export interface KeyGate {
  /** Whether keys can be checked. */
  readonly isOpen: boolean
  find(text: string): ReadyKey | null
  /** Takes the request from the limits of its key; returns a reply when the request ends here. */
  admit(rx: RequestContext, key: ReadyKey): StepResult
}

export function createKeyGate(config: KeyStoreConfig, env: Env): KeyGate {
  const table = env.tables.keyTable()
  // A check that runs beside the gateway has no table, and sees no requests.
  if (table === null) return CLOSED
  const keys = env.kept.held('keys of the store', () => new StoredKeys(table))
  const room = viewKeyTable(table).slots
  const limits = limitAccounts(room, env)
  if (budgetRooms(room).some((each) => !env.budgets().prepare(each))) throw withoutMemory('budgets')
  const renewals = new Renewals(env.deadlines)
  const parts = { store: env.budgets(), renewals }
  const settings = { outputTokens: config.outputTokens, allowsUnpriced: config.unpriced === 'Allow' }

  return {
    get isOpen() {
      return keys.isOpen
    },
    find: (text) => keys.find(text),
    admit(rx, key) {
      // A policy of the listener and one of the route may both read the key.
      if (rx.keyUse !== null) return
      // A shadow policy spends nothing, because its limits and budgets are those of the enforced policies.
      if (env.isShadow) return refuseRoute(rx, key) ?? undefined
      if (config.usagePath !== undefined && rx.path === config.usagePath && rx.method === 'GET') {
        return describeBudgets(key.own, env.budgets(), room).then((budgets) => usageReply(key, budgets))
      }
      const refusal = refuseRoute(rx, key)
      if (refusal !== null) return refusal
      const own = accountsOf(key, limits, room)
      if (own.withoutRoom !== null) return refuseSpending(rx, noRoom(own.withoutRoom))
      const spent = own.budgets.length === 0 ? null : claimBudgets(rx, { budgets: own.budgets, ...settings }, parts)
      if (spent !== null) return refuseSpending(rx, spent)
      const claim = new KeyClaim(key, { accounts: own, renewals, now: env.clock })
      const exceeded = claim.begin()
      if (exceeded !== null) return refuseSpending(rx, exceeded)
      rx.keyUse = claim
    },
  }
}

const CLOSED: KeyGate = { isOpen: false, find: () => null, admit() {} }

/**
 * Returns the accounts for limits of stored keys, one object for all policies, because the accounts of a key are in one
 * table. Each limit that was ever used keeps its slot in the table until a restart.
 */
function limitAccounts(room: number, env: Env): SpendAccounts {
  const buffer = env.tables.keyed('keys/limits/store', SpendTable.size(room))
  if (buffer === null) throw withoutMemory('limits')
  const known = env.kept.held('limits of stored keys', () => new WeakMap<SharedArrayBuffer, SpendAccounts>())
  const accounts = known.get(buffer) ?? new SpendAccounts(buffer, env)
  known.set(buffer, accounts)
  return accounts
}

function withoutMemory(what: string): ConfigFault {
  return new ConfigFault({}, [], {
    found: `found no room for the ${what} of keys`,
    expected: 'fewer keys in other budgets',
  })
}

/** The response for the holder of a key, with nothing of its teams and nothing of other keys. */
function usageReply({ name, own, expires, models }: ReadyKey, budgets: readonly BudgetUsage[]): Reply {
  const usage = {
    key: name,
    budgets,
    limits: own.limits ?? [],
    models: models === null ? null : (own.models ?? []),
    expires: Number.isFinite(expires) ? new Date(expires).toISOString() : null,
  }
  const headers = HeaderBlock.of([
    ['content-type', 'application/json'],
    ['cache-control', 'no-store'],
  ])
  return new Reply(200, { headers, body: Buffer.from(`${JSON.stringify(usage)}\n`), reason: 'DirectResponse' })
}

function refuseRoute(rx: RequestContext, { name, routes }: ReadyKey): Reply | null {
  if (routes === null || (rx.routeName !== null && routes.has(rx.routeName))) return null
  const where =
    rx.routeName === null ? 'any route, because the key is checked before routing' : `the route ${rx.routeName}`
  const message = `the key ${name} may not use ${where}`
  rx.note({ code: 'key_not_for_route', route: rx.routeName ?? '', reason: message })
  rx.error = message
  const failure = { status: 403, message, reason: 'Authorization', code: 'key_not_for_route' } as const
  return failureReply(failure, rx.headers.get('content-type'))
}
