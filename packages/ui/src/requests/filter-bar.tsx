import { Button } from '@mantine/core'
import { type RefObject, useState } from 'react'
import { formatCount } from '../format/numbers.ts'
import { FILTER_NAMES, parseFilter, withoutTerm, withTerm } from './filter.ts'
import type { Requests } from './use-requests.ts'

interface FilterBarProps {
  text: string
  requests: Requests
  inputRef: RefObject<HTMLInputElement | null>
  onFilter: (text: string) => void
  onHold: () => void
}

/** The filter of the requests, and how many requests match. */
export function FilterBar({ text, requests, inputRef, onFilter, onHold }: FilterBarProps) {
  const [draft, setDraft] = useState(text)
  const { problems, terms } = parseFilter(draft)
  const outcome = terms.find(({ name }) => name === 'outcome')?.value
  const wouldDeny = terms.some(({ name, value }) => name === 'shadow' && value === 'denied')
  const quick = (value: string): void =>
    onFilter(outcome === value ? withoutTerm(text, 'outcome') : withTerm(text, 'outcome', value))
  return (
    <div className="filter-bar">
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          onFilter(draft.trim())
          inputRef.current?.blur()
        }}
      >
        <input
          ref={inputRef}
          className="mono"
          aria-label="Filter"
          aria-invalid={problems.length > 0}
          aria-describedby="filter-help"
          placeholder="status:>=400 route:chat since:15m"
          spellCheck={false}
          autoComplete="off"
          value={draft}
          onChange={(event) => setDraft(event.currentTarget.value)}
        />
        <span id="filter-help" className={problems.length > 0 ? 'filter-help bad' : 'filter-help'}>
          {problems.length > 0 ? `Not understood: ${problems.join(' ')}. ` : ''}
          Filters: {FILTER_NAMES.map((name) => `${name}:`).join(' ')}
        </span>
      </form>
      <fieldset className="quick" aria-label="Show only">
        {['denied', 'limited', 'failed', 'slow'].map((value) => (
          <button key={value} type="button" aria-pressed={outcome === value} onClick={() => quick(value)}>
            {value}
          </button>
        ))}
        <button
          type="button"
          aria-pressed={wouldDeny}
          title="A shadow policy would have denied the request"
          onClick={() => onFilter(wouldDeny ? withoutTerm(text, 'shadow') : withTerm(text, 'shadow', 'denied'))}
        >
          shadow denied
        </button>
      </fieldset>
      <Tail requests={requests} onHold={onHold} />
    </div>
  )
}

function Tail({ requests, onHold }: { requests: Requests; onHold: () => void }) {
  const { rows, omitted } = requests.shown
  const count = (outcomes: readonly string[]): number => rows.filter((row) => outcomes.includes(row.outcome)).length
  const [denied, failed] = [count(['denied', 'limited']), count(['failed', 'evicted'])]
  const isHeld = requests.tail === 'held'
  return (
    <div className="tail">
      <p className="counts number">
        {formatCount(rows.length)} shown
        {omitted > 0 && (
          <span title="Too many requests at once to show them all"> · {formatCount(omitted)} not shown</span>
        )}
        {denied > 0 && <span className="outcome-denied"> · {formatCount(denied)} denied</span>}
        {failed > 0 && <span className="outcome-failed"> · {formatCount(failed)} failed</span>}
      </p>
      <Button
        size="compact-xs"
        variant="default"
        className={`tail-${requests.tail}`}
        aria-pressed={!isHeld}
        onClick={onHold}
      >
        {TAIL_WORDS[requests.tail]}
      </Button>
    </div>
  )
}

const TAIL_WORDS: Readonly<Record<Requests['tail'], string>> = {
  live: '● Live',
  connecting: '○ Connecting …',
  lost: '▲ Connection lost, retrying',
  held: '▷ Paused',
}
