import { PRICE_TABLE } from './table-date.ts'
import type { CostSum } from './cost.ts'
import './prices.css'

/** The price table entries behind a cost, and the reasons for missing parts. */
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

/** A note on how all costs are estimated. */
export function CostNote() {
  return (
    <p className="dim">
      Cost is an estimate: tokens by list prices in US dollars for a million of them, as{' '}
      <span className="mono">
        {PRICE_TABLE.name} {PRICE_TABLE.version}
      </span>{' '}
      had them on {PRICE_TABLE.date}, without discounts, taxes and fees other than tokens.
    </p>
  )
}
