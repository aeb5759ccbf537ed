import { useEffect, useRef } from 'react'
import { formatCount } from '../format/numbers.ts'
import { ToolResult } from '../tools/result.tsx'
import type { Turn } from './chat-loop.ts'

/** What was said, as text: models write whatever they like. */
export function Turns({ turns, isBusy }: { turns: readonly Turn[]; isBusy: boolean }) {
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Newer browsers give a promise back, which is no way to clean up.
    end.current?.scrollIntoView({ block: 'nearest' })
  }, [turns])
  return (
    <div className="turns" role="log" aria-label="Conversation" aria-busy={isBusy} tabIndex={0}>
      {turns.length === 0 && (
        <p className="note">Say something: it goes through the gateway like a request of any client.</p>
      )}
      {turns.map((turn, index) => (
        <article key={index} className={`turn turn-${turn.kind}`}>
          <OneTurn turn={turn} />
        </article>
      ))}
      <div ref={end} />
    </div>
  )
}

function OneTurn({ turn }: { turn: Turn }) {
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
              {!turn.isOver && 'writes …'}
              {usage !== null && `${formatCount(usage.input)} + ${formatCount(usage.output)} tokens`}
              {finish !== null && finish !== 'stop' && ` · ${finish}`}
            </span>
          </h3>
          {text !== '' && <p className="play-text">{text}</p>}
          {text === '' && turn.isOver && calls.length === 0 && <p className="note">It said nothing.</p>}
        </>
      )
    }
    case 'tool':
      return (
        <details open>
          <summary>
            calls <span className="mono">{turn.call.name}</span>
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
