import type { OrConditional } from '../../../pipeline/policy/conditional.ts'
import type { LocalLimitConfig } from './schema.ts'
import type { RequestRecord } from '../../../telemetry/recorder/record.ts'
import type { Spending, BudgetCharge } from '../../../findings/explanation.ts'
import { explainExpression } from '../../../findings/expression-values.ts'
import { chosenForm, numberIn, type Subject } from '../../../findings/subject.ts'

/** The requests that used up a limit, as far as records tell; null when records do not tell whose budget others spent. */
export function spendingOf(subject: Subject, limit: LocalLimitConfig): Spending | null {
  const { record, others, reason } = subject
  if (others === null || chosenForm(subject) === null) return null
  const budgetOf = budgetReader(limit)
  const own = budgetOf(record)
  if (own === null) return null
  const counts = limit.tokens === undefined ? 'requests' : 'tokens'
  // Seconds are rounded up, so that the window may have begun a second before.
  const from = record.at + ((numberIn(reason, 'resetSeconds') ?? 0) - 1) * 1000 - WINDOW_MS[limit.unit]
  const isSpender = spenderOf(subject)
  const hasSameForm = formReader(subject)
  const spent: BudgetCharge[] = []
  let unknown = 0
  // Tokens are known when an answer is whole, which may have begun before the window.
  for (const other of others.between(counts === 'tokens' ? from - LONGEST_CALL_MS : from, record.at)) {
    const entry = spentBy(other, counts)
    if (other.id === record.id || entry.cost === 0 || entry.at < from || entry.at > record.at) continue
    if (!isSpender(other)) continue
    const isSame = hasSameForm(other)
    if (isSame === false) continue
    const budget = isSame === null ? null : budgetOf(other)
    if (budget === null) unknown++
    else if (budget === own) spent.push(entry)
  }
  spent.sort((one, other) => other.at - one.at)
  return told(spent, { counts, limit, from, isWhole: others.completeSince <= from && unknown === 0 })
}

interface SpendingScope {
  counts: Spending['counts']
  limit: LocalLimitConfig
  from: number
  isWhole: boolean
}

function told(newestFirst: readonly BudgetCharge[], { counts, limit, from, isWhole }: SpendingScope): Spending {
  const capacity = (limit.tokens ?? limit.requests ?? 0) + limit.burst
  // More requests than there were to spend are of a window before.
  const spent = counts === 'requests' ? newestFirst.slice(0, capacity) : newestFirst
  const total = spent.reduce((sum, { cost }) => sum + cost, 0)
  return {
    counts,
    from,
    total,
    requests: spent.length,
    isWhole,
    usedUpBy: total >= capacity ? lastOf(spent, capacity) : null,
    latest: spent.slice(0, MOST_SHOWN),
  }
}

/** The charge that emptied the budget. */
function lastOf(newestFirst: readonly BudgetCharge[], capacity: number): BudgetCharge | null {
  let sum = 0
  return newestFirst.findLast(({ cost }) => (sum += cost) >= capacity) ?? null
}

function spentBy({ id, at, took, key, llm }: RequestRecord, counts: Spending['counts']): BudgetCharge {
  if (counts === 'requests') return { id, at, key, cost: 1 }
  return { id, at: at + took / 1000, key, cost: (llm?.inputTokens ?? 0) + (llm?.outputTokens ?? 0) }
}

/** Whether a request came past the same attachment of the policy, and was let through there. */
function spenderOf({ view, held }: Subject): (other: RequestRecord) => boolean {
  const attachments = new Map<string, unknown>()
  const attachmentOf = ({ keys }: RequestRecord): unknown => {
    const place = `${keys.listener} ${keys.route}`
    if (!attachments.has(place)) {
      attachments.set(place, view.held('traffic', 'rateLimit', keys, 'route')?.attachment)
    }
    return attachments.get(place)
  }
  return (other) => other.keys.route !== null && hasPassed(other) && attachmentOf(other) === held?.attachment
}

/** Whether the same form of a conditional policy was meant for a request; null where its record cannot tell. */
function formReader({ held, reason }: Subject): (record: RequestRecord) => boolean | null {
  const config: OrConditional<object> = held?.config ?? {}
  const index = numberIn(reason, 'chosen')
  if (config.conditional === undefined || index === null) return () => true
  const forms = config.conditional.slice(0, index + 1)
  return (record) => {
    const chosen = forms.map(({ condition }) => holds(condition, record))
    const first = chosen.findIndex((isTrue) => isTrue !== false)
    return chosen[first] === null ? null : first === index
  }
}

/** Whether the condition held, as when the policy was selected: a failed expression is false. */
function holds(condition: string | undefined, record: RequestRecord): boolean | null {
  if (condition === undefined) return true
  const found = explainExpression(condition, 'request', record)
  if (found?.state === 'failed' || found?.state === 'absent') return false
  return found?.state === 'found' ? found.value === true : null
}

/** Limits stand behind routing: a request that was stopped before it has spent nothing. */
function hasPassed({ reason, steps }: RequestRecord): boolean {
  if (reason === null || reason.phase === null || reason.phase === 'response' || reason.phase === 'backend') return true
  if (reason.phase === 'gateway') return false
  return steps?.some(({ step, outcome }) => step === 'rateLimit' && outcome === 'passed') ?? false
}

/** Tells budgets of a limit apart; null where a record does not hold what the key reads. */
function budgetReader({ key }: LocalLimitConfig): (record: RequestRecord) => string | null {
  if (key === undefined) return () => ''
  const isOfCaller = CALLERS.test(key)
  return (record) => {
    // The record of a request that passed has only the caller's name.
    if (isOfCaller && record.key !== null) return `caller ${record.key}`
    const found = explainExpression(key, 'request', record)
    return found?.state === 'found' ? `key ${JSON.stringify(found.value)}` : null
  }
}

/** Expressions whose value records keep as `key`. */
const CALLERS = /^(apiKey\.name|jwt\.sub|jwt\["sub"\]|basicAuth\.username)$/
const WINDOW_MS = { Seconds: 1_000, Minutes: 60_000, Hours: 3_600_000 }
const LONGEST_CALL_MS = 600_000
const MOST_SHOWN = 10
