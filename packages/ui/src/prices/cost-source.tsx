import { PRICE_TABLE } from './table-date.ts'
import type { CostSum } from './cost.ts'
import './prices.css'

/** Which entries of the table a figure was computed by, and what is not in it. */
export function CostSource({ sum: { by, notes, unknown } }: { sum: CostSum }) {
  return (
    <>
      {by.map(({ provider, model, rates }) => (
        <span key={`${provider} ${model}`} className="cost-entry">
          {provider} <span className="mono">{model}</span>: <span className="dim">{rates}</span>
        </span>
      ))}
      {unknown.map((why) => (
        <span key={why} className="cost-entry">
          {why}
        </span>
      ))}
      {notes.map((note) => (
        <span key={note} className="cost-entry dim">
          {note}
        </span>
      ))}
    </>
  )
}

/** What all figures of cost have in common. */
export function CostNote() {
  return (
    <p className="dim">
      Cost is an estimate: tokens by list prices in US dollars for a million of them, as{' '}
      <span className="mono">
        {PRICE_TABLE.name} {PRICE_TABLE.version}
      </span>{' '}
      had them on {PRICE_TABLE.date}, without discounts, taxes and what is billed besides tokens.
    </p>
  )
}
