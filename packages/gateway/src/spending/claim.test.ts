import { clientFormats } from '@portico/chat'
import { Deadlines } from '@portico/http'
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Spending } from '../pipeline/context/spending.ts'
import { LlmRecord } from '../records/llm-record.ts'
import { countedPeriod } from '../state/budget-period.ts'
import { createKeyedTable } from '../state/keyed-budgets.ts'
import { SharedMemoryBudgets } from '../stores/budgets/shared-memory-budgets.ts'
import { claimBudgets } from './claim.ts'
import { Renewals } from './renewals.ts'

const NOON = Date.parse('2026-11-18T12:00:00Z')

function setUp(t: TestContext) {
  const tables = new Map<string, SharedArrayBuffer>()
  const keyed = (name: string, size: number): SharedArrayBuffer => {
    const table = tables.get(name) ?? createKeyedTable(size)
    tables.set(name, table)
    return table
  }
  const clock = (): number => NOON
  const store = new SharedMemoryBudgets({
    tables: { keyTable: () => null, keyed },
    ...{ clock, monotonic: clock, random: Math.random },
  })
  const deadlines = new Deadlines()
  t.after(() => deadlines.close())
  const parts = { store, renewals: new Renewals(deadlines) }
  const budgetOf = (name: string, amount: number) => {
    const budget = { id: 'all', amount, maxKeys: 8, isKeyed: false, ...countedPeriod({ per: 'Day' }) }
    return { name, unit: 'tokens' as const, share: { budget, key: name } }
  }
  const settings = { outputTokens: 10, allowsUnpriced: false }
  const used = (name: string) => store.balances([budgetOf(name, 1).share])[0]?.used
  return { parts, settings, budgetOf, used }
}

const record = () => {
  const llm = new LlmRecord()
  llm.requestModel = 'm'
  return llm
}

test('the budgets of a key, its team and the route are reserved together, and the innermost is named', (t) => {
  const { parts, settings, budgetOf, used } = setUp(t)
  const key = [budgetOf('the key bot', 100), budgetOf('the team support', 60)]
  const begin = (): Spending => {
    const rx: { spending: Spending | null } = { spending: null }
    assert.equal(claimBudgets(rx, { budgets: key, ...settings }, parts), null)
    assert.equal(claimBudgets(rx, { budgets: [budgetOf('the route', 50)], ...settings }, parts), null)
    return rx.spending ?? assert.fail('nothing is claimed')
  }
  const first = begin()
  first.expectUsage({ input: 40 })
  assert.equal(first.reserve(record()), null)
  const names = ['the key bot', 'the team support', 'the route']
  assert.deepEqual(names.map(used), [40, 40, 40])
  for (const [tokens, name] of [
    [70, 'the key bot'],
    [30, 'the team support'],
    [15, 'the route'],
  ] as const) {
    const next = begin()
    next.expectUsage({ input: tokens })
    const refusal = next.reserve(record())
    assert.ok(refusal !== null && !(refusal instanceof Promise))
    assert.match(refusal.message, new RegExp(`^budget exceeded: ${name} has`))
    assert.deepEqual(names.map(used), [40, 40, 40], 'a refused call reserves nothing')
    next.finish({ llm: null })
  }
  first.finish({ llm: null })
  assert.deepEqual(names.map(used), [0, 0, 0])
})

test('each policy assumes its own number of output tokens', (t) => {
  const { parts, settings, budgetOf, used } = setUp(t)
  const rx: { spending: Spending | null } = { spending: null }
  claimBudgets(rx, { budgets: [budgetOf('a', 1_000)], ...settings }, parts)
  claimBudgets(rx, { budgets: [budgetOf('b', 1_000)], ...settings, outputTokens: 500 }, parts)
  rx.spending?.expect({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }, clientFormats.completions)
  assert.equal(rx.spending?.reserve(record()), null)
  assert.equal((used('b') ?? 0) - (used('a') ?? 0), 490)
})

test('a call whose usage is not known before is refused when nothing is left', (t) => {
  const { parts, settings, budgetOf } = setUp(t)
  const claim = (): Spending | null => {
    const rx: { spending: Spending | null } = { spending: null }
    const refusal = claimBudgets(rx, { budgets: [budgetOf('a', 10)], ...settings }, parts)
    assert.equal(refusal?.code, rx.spending === null ? 'budget_exceeded' : undefined)
    return rx.spending
  }
  const [full, waiting] = [claim(), claim()]
  assert.equal(waiting?.reserve(record()), null)
  full?.expectUsage({ input: 10 })
  assert.equal(full?.reserve(record()), null)
  const refusal = waiting?.reserve(record())
  assert.ok(refusal !== null && !(refusal instanceof Promise))
  assert.equal(refusal?.code, 'budget_exceeded')
  assert.equal(claim(), null)
})
