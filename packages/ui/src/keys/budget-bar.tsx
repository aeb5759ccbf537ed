import type { SpentBudgetView } from '@portico/gateway/admin-api'
import { formatCount, formatShare } from '../format/numbers.ts'
import { formatMoment } from '../format/times.ts'
import { formatDollars } from '../prices/cost.ts'

/** A budget as a bar and as text: the part that is spent in its current period. */
function BudgetBar({ budget }: { budget: SpentBudgetView }) {
  const { timeZone } = budget
  const share = shareOf(budget)
  const level = share === null ? 'unknown' : share >= 1 ? 'over' : share >= HIGH ? 'high' : 'low'
  const zone = timeZone === undefined ? '' : ` (${timeZone})`
  return (
    <div className={`budget budget-${level}`} title={resetText(budget)}>
      <span className="budget-bar" aria-hidden="true">
        <span style={{ width: `${Math.min(share ?? 0, 1) * 100}%` }} />
      </span>
      <span className="budget-text">
        {budgetText(budget)}
        {zone}
        {level === 'over' && ' ▲ used up'}
      </span>
    </div>
  )
}

/** The budgets of an entry, the one with the least left first. */
export function BudgetBars({
  budgets = [],
  most = 8,
}: {
  budgets?: readonly SpentBudgetView[] | undefined
  most?: number
}) {
  if (budgets.length === 0) return <span className="dim">none</span>
  const sorted = budgets.toSorted((one, other) => (shareOf(other) ?? 0) - (shareOf(one) ?? 0))
  return (
    <div className="budgets">
      {sorted.slice(0, most).map((budget, at) => (
        <BudgetBar key={at} budget={budget} />
      ))}
      {sorted.length > most && <span className="dim">and {sorted.length - most} more</span>}
    </div>
  )
}

/** `$0.25 of $5.00 per day, 5 %` */
function budgetText({ usd, tokens = 0, per, rolling = false, spent }: SpentBudgetView): string {
  const whole = usd === undefined ? `${formatCount(tokens)} tokens` : formatDollars(usd)
  const period = per === 'Lifetime' ? 'for ever' : rolling ? `in the last ${SPANS[per]}` : `per ${per.toLowerCase()}`
  if (spent === null) return `unknown of ${whole} ${period}`
  const share = shareOf({ usd, tokens, spent })
  const used = usd === undefined ? formatCount(Number(spent)) : formatDollars(Number(spent))
  return `${used} of ${whole} ${period}${share === null ? '' : `, ${formatShare(share)}`}`
}

function resetText({ resetsAt, rolling = false }: SpentBudgetView): string {
  if (resetsAt === null) return 'Never begins anew'
  return `${rolling ? 'Has more' : 'Begins anew'} at ${formatMoment(Date.parse(resetsAt)).slice(0, 16)}`
}

/** Null while the store of budgets does not answer. */
function shareOf({ usd, tokens = 0, spent }: Pick<SpentBudgetView, 'usd' | 'tokens' | 'spent'>): number | null {
  const whole = usd ?? tokens
  return spent === null || whole === 0 ? null : Number(spent) / whole
}

const SPANS = { Hour: 'hour', Day: '24 hours', Week: '7 days', Month: '30 days' } as const
/** The share from which a budget is marked. */
const HIGH = 0.8
