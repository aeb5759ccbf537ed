import type { RequestSummary } from '@portico/gateway/admin-api'
import type { ViewedBackend } from '@portico/gateway/admin-config'
import { useEffect, useRef } from 'react'
import { formatCount } from '../format/numbers.ts'
import { costText } from '../prices/cost.ts'
import { addressIn } from '../prices/provider-address.ts'
import { priceLlm } from '../prices/price-llm.ts'
import { PRICE_TABLE } from '../prices/table-date.ts'
import { usePrices } from '../prices/use-prices.ts'
import { ToolResult } from '../tools/result.tsx'
import type { Turn } from './chat-loop.ts'

interface TurnsProps {
  turns: readonly Turn[]
  isBusy: boolean
  backend: ViewedBackend
}

/** The conversation, as plain text: the output of models is untrusted. */
export function Turns({ turns, isBusy, backend }: TurnsProps) {
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Newer browsers return a promise, which an effect must not return.
    end.current?.scrollIntoView({ block: 'nearest' })
  }, [turns])
  return (
    <div className="turns" role="log" aria-label="Conversation" aria-busy={isBusy} tabIndex={0}>
      {turns.length === 0 && (
        <p className="note">Write a message: it goes through the gateway like the request of any client.</p>
      )}
      {turns.map((turn, index) => (
        <article key={index} className={`turn turn-${turn.kind}`}>
          <OneTurn turn={turn} backend={backend} />
        </article>
      ))}
      <div ref={end} />
    </div>
  )
}

function OneTurn({ turn, backend }: { turn: Turn; backend: ViewedBackend }) {
  switch (turn.kind) {
    case 'user':
      return (
        <>
          <h3>You</h3>
          <p className="play-text">{turn.text}</p>
        </>
      )
    case 'model': {
      const { text, model, usage, finish, calls } = turn.answer
      return (
        <>
          <h3>
            <span className="mono">{model ?? 'Model'}</span>{' '}
            <span className="dim turn-facts">
              {!turn.isOver && 'writing …'}
              {usage !== null && `${formatCount(usage.input)} + ${formatCount(usage.output)} tokens`}
              {turn.sent?.end?.record != null && <TurnCost record={turn.sent.end.record} backend={backend} />}
              {finish !== null && finish !== 'stop' && ` · ${finish}`}
            </span>
          </h3>
          {text !== '' && <p className="play-text">{text}</p>}
          {text === '' && turn.isOver && calls.length === 0 && <p className="note">The response has no text.</p>}
        </>
      )
    }
    case 'tool':
      return (
        <details open>
          <summary>
            Calls <span className="mono">{turn.call.name}</span>
            {turn.result === null && turn.problem === null && <span className="dim"> …</span>}
          </summary>
          <pre className="mono play-text">{turn.call.arguments}</pre>
          {turn.problem !== null && <p className="play-failed">{turn.problem}</p>}
          {turn.result !== null && <ToolResult result={turn.result} />}
        </details>
      )
    case 'failed':
      return (
        <p className="play-failed" role="alert">
          ▲ {turn.text}
        </p>
      )
  }
}

/** The cost of a turn. Shows nothing when no price is known: the detail of the request says why. */
function TurnCost({ record, backend }: { record: RequestSummary; backend: ViewedBackend }) {
  const { llm, at } = record
  const { table } = usePrices(llm !== null)
  if (table === null || llm === null) return null
  const cost = priceLlm(table, llm, addressIn(backend, llm.providerName), at)
  if (cost.dollars === null) return null
  return <span title={`An estimate, by prices of ${PRICE_TABLE.date}`}> · {costText(cost)}</span>
}
