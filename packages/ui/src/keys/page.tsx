import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { stateQuery } from '../api/queries.ts'
import { useReadOnlyReason } from '../api/read-only.ts'
import { formatClock } from '../format/times.ts'
import { ReadOnly } from '../parts/read-only.tsx'
import { Failed, Loading } from '../parts/states.tsx'
import { useKeys } from '../parts/use-keys.ts'
import { Changes } from './changes.tsx'
import { KeyDetail } from './key-detail.tsx'
import { KeyList } from './key-list.tsx'
import { NoKeyStore } from './no-key-store.tsx'
import { keysQuery, rereadKeys } from './queries.ts'
import { KEY_VIEWS, type KeysSearch, type KeysViewName } from './search.ts'
import { type Task, TaskDialog } from './tasks.tsx'
import { Teams } from './teams.tsx'
import './keys.css'

const page = getRouteApi('/keys')

/** API keys of the store, teams, and the list of their changes. */
export function KeysPage() {
  const state = useQuery(stateQuery)
  if (state.data === undefined) {
    if (state.error === null) return <Loading what="keys" />
    return <Failed what="The keys" error={state.error} onRetry={() => void state.refetch()} />
  }
  const { keyStore } = state.data
  if (keyStore === null) return <NoKeyStore />
  if (keyStore.problem !== null) {
    // The state is read every second, so the page comes back by itself.
    return (
      <Failed what="The keys" error={new Error(keyStore.problem)} onRetry={() => void state.refetch()}>
        <p>{effectText(keyStore.validUntil)}</p>
      </Failed>
    )
  }
  return <OpenStore />
}

/** Returns the sentence about requests with stored keys while the store fails. */
function effectText(validUntil: number | null): string {
  if (validUntil === null) return 'Requests with keys of this store get 503.'
  return `Keys that are loaded are accepted until ${formatClock(validUntil)}, if the store does not come back before. They cannot be changed.`
}

function OpenStore() {
  const { list = 'keys', key: openName = null, team = '' } = page.useSearch()
  const navigate = page.useNavigate()
  const queries = useQueryClient()
  const readOnly = useReadOnlyReason()
  const [task, setTask] = useState<Task | null>(null)
  const open = (name: string | null): void =>
    void navigate({ search: ({ key: _key, ...rest }) => (name === null ? rest : { ...rest, key: name }) })
  const add = (): void => {
    if (readOnly === null) setTask(list === 'teams' ? { kind: 'newTeam', parent: '' } : { kind: 'newKey', team })
  }
  useKeys(task === null ? { n: add } : {})
  return (
    <div className="keys-page">
      <header>
        <h1>Keys</h1>
        <nav aria-label="Lists">
          {(Object.keys(KEY_VIEWS) as KeysViewName[]).map((name) => (
            <Link
              key={name}
              to="/keys"
              search={name === 'keys' ? {} : { list: name }}
              activeOptions={{ exact: true }}
              aria-current={name === list ? 'page' : undefined}
            >
              {KEY_VIEWS[name]}
            </Link>
          ))}
        </nav>
        {readOnly === null && list !== 'changes' && (
          <Button size="compact-sm" onClick={add}>
            {list === 'teams' ? 'New team' : 'New key'}
          </Button>
        )}
        <ReadOnly reason={readOnly} />
      </header>
      {list === 'keys' && (
        <KeysWithDetail
          isBusy={task !== null}
          openName={openName}
          onOpen={open}
          isReadOnly={readOnly !== null}
          onTask={setTask}
        />
      )}
      {list === 'teams' && (
        <Teams
          isReadOnly={readOnly !== null}
          onEdit={(entry) => setTask({ kind: 'editTeam', entry })}
          onAdd={(parent) => setTask({ kind: 'newTeam', parent })}
          onRemove={(entry) => setTask({ kind: 'removeTeam', entry })}
        />
      )}
      {list === 'changes' && <Changes />}
      {task !== null && (
        <TaskDialog
          key={task.kind}
          task={task}
          onClose={() => setTask(null)}
          onDone={({ created, deleted }) => {
            setTask(created === undefined ? null : { kind: 'secret', created })
            if (deleted !== undefined && deleted === openName) open(null)
            void rereadKeys(queries)
          }}
        />
      )}
    </div>
  )
}

interface KeysWithDetailProps {
  /** Whether a dialog is open, which has the keyboard. */
  isBusy: boolean
  openName: string | null
  isReadOnly: boolean
  onOpen: (name: string | null) => void
  onTask: (task: Task) => void
}

function KeysWithDetail({ isBusy, openName, isReadOnly, onOpen, onTask }: KeysWithDetailProps) {
  const search: KeysSearch = page.useSearch()
  const names = useQuery({ ...keysQuery(search), enabled: false }).data?.keys.map(({ name }) => name) ?? []
  const input = useRef<HTMLInputElement>(null)
  const [cursor, setCursor] = useState<string | null>(openName)
  const move = (step: number): void => {
    const at = names.findIndex((name) => name === cursor)
    const next = names[at < 0 ? 0 : Math.min(Math.max(at + step, 0), names.length - 1)]
    if (next === undefined) return
    setCursor(next)
    if (openName !== null) onOpen(next)
  }
  const table = {
    j: () => move(1),
    ArrowDown: () => move(1),
    k: () => move(-1),
    ArrowUp: () => move(-1),
    Enter: () => cursor !== null && onOpen(cursor),
    Escape: () => (document.activeElement === input.current ? input.current?.blur() : onOpen(null)),
    '/': () => input.current?.focus(),
  }
  useKeys(isBusy ? {} : table)
  return (
    <div className={openName === null ? 'keys-split' : 'keys-split with-detail'}>
      <KeyList
        cursor={cursor}
        openName={openName}
        inputRef={input}
        onOpen={(name) => {
          setCursor(name)
          onOpen(name)
        }}
      />
      {openName !== null && (
        <KeyDetail
          key={openName}
          name={openName}
          isReadOnly={isReadOnly}
          onTask={(task, entry) => onTask({ kind: 'key', task, entry })}
          onClose={() => onOpen(null)}
        />
      )}
    </div>
  )
}
