import type { KeyView } from '@portico/gateway/admin-api'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type FormEvent, type RefObject, useState } from 'react'
import { Empty, Failed, Loading, Stale } from '../parts/states.tsx'
import { KeyTable } from './key-table.tsx'
import { keysQuery } from './queries.ts'
import { KEY_STATES, type KeysSearch } from './search.ts'

const page = getRouteApi('/keys')

interface KeyListProps {
  cursor: string | null
  openName: string | null
  inputRef: RefObject<HTMLInputElement | null>
  onOpen: (name: string) => void
}

/** The keys that match text, state and team, a hundred at a time. */
export function KeyList({ cursor, openName, inputRef, onOpen }: KeyListProps) {
  const search = page.useSearch()
  const keys = useQuery(keysQuery(search))
  return (
    <section className="keys-main" aria-label="Keys">
      <KeyFilter key={search.text ?? ''} search={search} inputRef={inputRef} />
      {keys.data === undefined ? (
        keys.error === null ? (
          <Loading what="keys" />
        ) : (
          <Failed what="The keys" error={keys.error} onRetry={() => void keys.refetch()} />
        )
      ) : (
        <>
          {keys.error !== null && <Stale at={keys.dataUpdatedAt} error={keys.error} />}
          {keys.data.keys.length === 0 ? (
            <NoKeys search={search} />
          ) : (
            <KeyTable keys={keys.data.keys} cursor={cursor} openName={openName} onOpen={onOpen} />
          )}
          <Pages keys={keys.data.keys} next={keys.data.next} search={search} />
        </>
      )}
    </section>
  )
}

function KeyFilter({ search, inputRef }: { search: KeysSearch; inputRef: KeyListProps['inputRef'] }) {
  const navigate = page.useNavigate()
  const [text, setText] = useState(search.text ?? '')
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    inputRef.current?.blur()
    const trimmed = text.trim()
    void navigate({
      search: ({ text: _text, after: _after, ...rest }) => (trimmed === '' ? rest : { ...rest, text: trimmed }),
    })
  }
  return (
    <div className="keys-filter">
      <form role="search" onSubmit={submit}>
        <input
          ref={inputRef}
          className="mono"
          aria-label="Find keys"
          placeholder="Name, owner or pk_live_…"
          spellCheck={false}
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </form>
      <nav aria-label="State">
        {Object.entries(KEY_STATES).map(([state, name]) => {
          const isChosen = state === search.state
          return (
            <Link
              key={state}
              to="/keys"
              search={({ after: _after, state: _state, ...rest }) =>
                isChosen ? rest : { ...rest, state: state as keyof typeof KEY_STATES }
              }
              activeOptions={{ exact: true }}
              aria-current={isChosen ? 'true' : undefined}
            >
              {name}
            </Link>
          )
        })}
      </nav>
      {search.team !== undefined && (
        <p>
          of the team <span className="mono">{search.team}</span>{' '}
          <Link to="/keys" search={({ team: _team, after: _after, ...rest }) => rest}>
            All teams
          </Link>
        </p>
      )}
    </div>
  )
}

function NoKeys({ search: { text, state, team, after } }: { search: KeysSearch }) {
  if (text === undefined && state === undefined && team === undefined && after === undefined) {
    return (
      <Empty title="No keys yet">
        <p>
          Create one here, or with <code>porticoctl keys create support-bot --budgets 5usd/day</code>.
        </p>
      </Empty>
    )
  }
  return (
    <Empty title="No key matches">
      <p>
        <Link to="/keys">Show all keys</Link>
      </p>
    </Empty>
  )
}

/** Links to the first page and to the next one; the browser leads back. */
function Pages({ keys, next, search }: { keys: readonly KeyView[]; next: string | null; search: KeysSearch }) {
  if (next === null && search.after === undefined) return null
  const last = keys.at(-1)?.name
  return (
    <nav className="keys-pages" aria-label="Pages of keys">
      {search.after !== undefined && (
        <Link to="/keys" search={({ after: _after, ...rest }) => rest}>
          First page
        </Link>
      )}
      {last !== undefined && (
        <span className="dim">
          {keys[0]?.name} to {last}
        </span>
      )}
      {next !== null && (
        <Link to="/keys" search={(before) => ({ ...before, after: next })}>
          Next page
        </Link>
      )}
    </nav>
  )
}
