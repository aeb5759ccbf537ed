import { Button, NativeSelect, TextInput } from '@mantine/core'
import { type BudgetDraft, type EntryDraft, type LimitDraft, NEW_BUDGET, NEW_LIMIT } from './draft.ts'
import { problemText, type readProblems } from './problems.ts'

interface SpendingProps {
  draft: EntryDraft
  problems: ReturnType<typeof readProblems>
  onChange: (fields: Partial<EntryDraft>) => void
}

/** The budgets of a key or a team. */
export function BudgetFields({ draft, problems, onChange }: SpendingProps) {
  const { budgets } = draft
  const set = (at: number, fields: Partial<BudgetDraft>): void =>
    onChange({ budgets: budgets.map((each, i) => (i === at ? { ...each, ...fields } : each)) })
  return (
    <fieldset className="keys-list">
      <legend>Budgets</legend>
      {budgets.map(({ amount, of, per, isRolling, timeZone }, at) => (
        <Item
          key={at}
          name={`budget ${at + 1}`}
          problem={problemText(problems, 'budgets', at)}
          onRemove={() => onChange({ budgets: budgets.filter((_, i) => i !== at) })}
        >
          <TextInput
            aria-label={`Amount of budget ${at + 1}`}
            inputMode="decimal"
            placeholder={of === 'usd' ? '100' : '1000000'}
            value={amount}
            onChange={(event) => set(at, { amount: event.currentTarget.value })}
          />
          <NativeSelect
            aria-label={`Unit of budget ${at + 1}`}
            value={of}
            data={BUDGET_UNITS}
            onChange={(event) => set(at, { of: event.currentTarget.value as BudgetDraft['of'] })}
          />
          <NativeSelect
            aria-label={`Period of budget ${at + 1}`}
            value={isRolling ? `${ROLLING}${per}` : per}
            data={PERIODS}
            onChange={(event) => set(at, periodOf(event.currentTarget.value))}
          />
          {!isRolling && per !== 'Lifetime' && (
            <TextInput
              aria-label={`Time zone of budget ${at + 1}`}
              placeholder="UTC"
              value={timeZone}
              onChange={(event) => set(at, { timeZone: event.currentTarget.value })}
            />
          )}
        </Item>
      ))}
      <ListEnd
        add="Add a budget"
        isFull={budgets.length >= MOST_ITEMS}
        problem={problemText(problems, 'budgets')}
        onAdd={() => onChange({ budgets: [...budgets, NEW_BUDGET] })}
      />
    </fieldset>
  )
}

/** The limits of a key or a team. */
export function LimitFields({ draft, problems, onChange }: SpendingProps) {
  const { limits } = draft
  const set = (at: number, fields: Partial<LimitDraft>): void =>
    onChange({ limits: limits.map((each, i) => (i === at ? { ...each, ...fields } : each)) })
  return (
    <fieldset className="keys-list">
      <legend>Limits</legend>
      {limits.map(({ amount, of, unit }, at) => (
        <Item
          key={at}
          name={`limit ${at + 1}`}
          problem={problemText(problems, 'limits', at)}
          onRemove={() => onChange({ limits: limits.filter((_, i) => i !== at) })}
        >
          <TextInput
            aria-label={`Amount of limit ${at + 1}`}
            inputMode="numeric"
            placeholder="60"
            value={amount}
            onChange={(event) => set(at, { amount: event.currentTarget.value })}
          />
          <NativeSelect
            aria-label={`What limit ${at + 1} counts`}
            value={of}
            data={LIMIT_UNITS}
            onChange={(event) => set(at, { of: event.currentTarget.value as LimitDraft['of'] })}
          />
          {of !== 'calls' && (
            <NativeSelect
              aria-label={`Window of limit ${at + 1}`}
              value={unit}
              data={WINDOWS}
              onChange={(event) => set(at, { unit: event.currentTarget.value as LimitDraft['unit'] })}
            />
          )}
        </Item>
      ))}
      <ListEnd
        add="Add a limit"
        isFull={limits.length >= MOST_ITEMS}
        problem={problemText(problems, 'limits')}
        onAdd={() => onChange({ limits: [...limits, NEW_LIMIT] })}
      />
    </fieldset>
  )
}

/** Returns the budget fields for a chosen period; only a period of the calendar has a time zone. */
function periodOf(value: string): Partial<BudgetDraft> {
  const isRolling = value.startsWith(ROLLING)
  const per = (isRolling ? value.slice(ROLLING.length) : value) as BudgetDraft['per']
  return { per, isRolling, ...((isRolling || per === 'Lifetime') && { timeZone: '' }) }
}

interface ItemProps {
  name: string
  problem: string | undefined
  onRemove: () => void
  children: React.ReactNode
}

function Item({ name, problem, onRemove, children }: ItemProps) {
  return (
    <div className="keys-item">
      {children}
      <Button size="compact-xs" variant="default" aria-label={`Remove ${name}`} onClick={onRemove}>
        Remove
      </Button>
      {problem !== undefined && <p className="keys-problem">{problem}</p>}
    </div>
  )
}

interface ListEndProps {
  add: string
  isFull: boolean
  problem: string | undefined
  onAdd: () => void
}

function ListEnd({ add, isFull, problem, onAdd }: ListEndProps) {
  return (
    <>
      {problem !== undefined && <p className="keys-problem">{problem}</p>}
      {!isFull && (
        <Button size="compact-xs" variant="default" onClick={onAdd}>
          {add}
        </Button>
      )}
    </>
  )
}

const BUDGET_UNITS = [
  { value: 'usd', label: 'US dollars' },
  { value: 'tokens', label: 'tokens' },
]
const ROLLING = 'rolling '
const PERIODS = [
  { value: 'Hour', label: 'per hour' },
  { value: 'Day', label: 'per day' },
  { value: 'Week', label: 'per week' },
  { value: 'Month', label: 'per month' },
  { value: `${ROLLING}Hour`, label: 'in the last hour' },
  { value: `${ROLLING}Day`, label: 'in the last 24 hours' },
  { value: `${ROLLING}Week`, label: 'in the last 7 days' },
  { value: `${ROLLING}Month`, label: 'in the last 30 days' },
  { value: 'Lifetime', label: 'for ever' },
]
const LIMIT_UNITS = [
  { value: 'requests', label: 'requests' },
  { value: 'tokens', label: 'tokens' },
  { value: 'calls', label: 'calls at once' },
]
const WINDOWS = [
  { value: 'Seconds', label: 'per second' },
  { value: 'Minutes', label: 'per minute' },
  { value: 'Hours', label: 'per hour' },
]
/** The most limits, and budgets, that the gateway accepts. */
const MOST_ITEMS = 8
