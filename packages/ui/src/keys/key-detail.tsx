import { Button } from '@mantine/core'
import type { KeyView } from '@portico/gateway/admin-api'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatAgo, formatMoment } from '../format/times.ts'
import { Failed, Loading } from '../parts/states.tsx'
import { Value } from '../parts/value.tsx'
import { printFilter } from '../requests/filter.ts'
import { BudgetBars } from './budget-bar.tsx'
import { KeyState } from './key-state.tsx'
import { limitText } from './limit-text.ts'
import { keyQuery, lastRequestQuery } from './queries.ts'

/** The things that people can do with a key. */
export type KeyTask = 'edit' | 'rotate' | 'enable' | 'disable' | 'revoke' | 'delete'

interface KeyDetailProps {
  name: string
  isReadOnly: boolean
  onTask: (task: KeyTask, key: KeyView) => void
  onClose: () => void
}

/** Everything about one key, and what can be done with it. */
export function KeyDetail({ name, isReadOnly, onTask, onClose }: KeyDetailProps) {
  const { data, error, refetch } = useQuery(keyQuery(name))
  return (
    <article className="key-detail" aria-label={`Key ${name}`}>
      <header>
        <h2 className="mono">{name}</h2>
        <Button size="compact-xs" variant="default" onClick={onClose}>
          Close
        </Button>
      </header>
      {data === undefined ? (
        error === null ? (
          <Loading what="the key" />
        ) : (
          <Failed what="The key" error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <>
          {!isReadOnly && <Tasks entry={data} onTask={onTask} />}
          <Facts entry={data} />
        </>
      )}
    </article>
  )
}

function Tasks({ entry, onTask }: { entry: KeyView; onTask: KeyDetailProps['onTask'] }) {
  const tasks: readonly KeyTask[] =
    entry.revoked === undefined
      ? ['edit', 'rotate', entry.disabled === true ? 'enable' : 'disable', 'revoke', 'delete']
      : ['delete']
  return (
    <div className="keys-buttons">
      {tasks.map((task) => (
        <Button
          key={task}
          size="compact-sm"
          variant="default"
          {...(DANGEROUS.has(task) && { className: 'keys-danger-line' })}
          onClick={() => onTask(task, entry)}
        >
          {TASK_NAMES[task]}
        </Button>
      ))}
    </div>
  )
}

const TASK_NAMES: Readonly<Record<KeyTask, string>> = {
  edit: 'Edit',
  rotate: 'Rotate',
  enable: 'Enable',
  disable: 'Disable',
  revoke: 'Revoke',
  delete: 'Delete',
}
const DANGEROUS: ReadonlySet<KeyTask> = new Set(['revoke', 'delete'])

function Facts({ entry }: { entry: KeyView }) {
  const { state, owner, team, models, routes, limits = [], budgets, tags = {}, secrets } = entry
  return (
    <dl className="facts">
      <Fact name="State">
        <KeyState state={state} />
      </Fact>
      <Fact name="Keys">
        {secrets.length === 0 && <span className="dim">none: the key is revoked</span>}
        {secrets.map(({ prefix, created, expires }) => (
          <div key={prefix + created}>
            <span className="mono">{prefix}…</span>{' '}
            <span className="dim">
              of {momentText(created)}
              {expires !== undefined && `, valid until ${momentText(expires)}`}
            </span>
          </div>
        ))}
      </Fact>
      <Fact name="Last request">
        <LastRequest name={entry.name} />
      </Fact>
      <Fact name="Spent">
        <BudgetBars budgets={budgets} />
        <Link to="/spend" search={{ per: 'key' }}>
          Spend by key
        </Link>
      </Fact>
      <Fact name="Limits">
        {limits.length === 0 ? <span className="dim">none</span> : limits.map(limitText).join(', ')}
      </Fact>
      <Fact name="Owner">{owner === undefined ? <span className="dim">none</span> : <Value text={owner} />}</Fact>
      <Fact name="Team">
        {team === undefined ? (
          <span className="dim">none</span>
        ) : (
          <Link to="/keys" search={{ team }} className="mono">
            {team}
          </Link>
        )}
      </Fact>
      <Fact name="Models">{models === undefined ? <span className="dim">all</span> : <Names names={models} />}</Fact>
      <Fact name="Routes">{routes === undefined ? <span className="dim">all</span> : <Names names={routes} />}</Fact>
      {entry.notBefore !== undefined && <Fact name="Valid from">{momentText(entry.notBefore)}</Fact>}
      <Fact name="Expires">
        {entry.expires === undefined ? <span className="dim">never</span> : momentText(entry.expires)}
      </Fact>
      {Object.keys(tags).length > 0 && (
        <Fact name="Tags">
          <Names names={Object.entries(tags).map(([tag, value]) => `${tag}=${value}`)} />
        </Fact>
      )}
      <Fact name="Created">{momentText(entry.created)}</Fact>
      <Fact name="Changed">
        {momentText(entry.changed)}{' '}
        <Link to="/keys" search={{ list: 'changes', key: entry.name }}>
          Changes of this key
        </Link>
      </Fact>
      {entry.revoked !== undefined && <Fact name="Revoked">{momentText(entry.revoked)}</Fact>}
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

function Names({ names }: { names: readonly string[] }) {
  return (
    <>
      {names.map((name) => (
        <div key={name}>
          <Value text={name} />
        </div>
      ))}
    </>
  )
}

/** The latest request that the recorder knows, which is no proof that there was no later one. */
function LastRequest({ name }: { name: string }) {
  const { data } = useQuery(lastRequestQuery(name))
  if (data === undefined) return <span className="dim">…</span>
  const [last] = data.requests
  if (last === undefined) return <span className="dim">none recorded</span>
  return (
    <>
      <span title={formatMoment(last.at)}>{formatAgo(last.at, Date.now())}</span>{' '}
      <Link to="/requests" search={{ q: printFilter([{ name: 'key', value: name }]) }}>
        Requests with this key
      </Link>
    </>
  )
}

/** The local time, to the minute. */
function momentText(time: string): string {
  return formatMoment(Date.parse(time)).slice(0, 16)
}
