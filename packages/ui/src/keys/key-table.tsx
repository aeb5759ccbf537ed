import type { KeyView } from '@portico/gateway/admin-api'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { formatMoment } from '../format/times.ts'
import { Value } from '../parts/value.tsx'
import { BudgetBars } from './budget-bar.tsx'
import { KeyState } from './key-state.tsx'

interface KeyTableProps {
  keys: readonly KeyView[]
  /** The row that keyboard keys work on. */
  cursor: string | null
  openName: string | null
  onOpen: (name: string) => void
}

/** A page of keys. The name of each is a link to its detail. */
export function KeyTable({ keys, cursor, openName, onOpen }: KeyTableProps) {
  const current = useRef<HTMLTableRowElement>(null)
  useEffect(() => current.current?.scrollIntoView?.({ block: 'nearest' }), [cursor])
  return (
    <div className="keys-space" role="region" aria-label="Table of keys" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {['Name', 'State', 'Key', 'Owner', 'Team', 'Spent', 'Expires'].map((name) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr
              key={key.id}
              ref={key.name === cursor ? current : null}
              className={rowClass(key, { cursor, openName })}
              onClick={() => onOpen(key.name)}
            >
              <Row entry={key} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ entry: { name, state, secrets, owner, team, budgets, expires } }: { entry: KeyView }) {
  return (
    <>
      <td>
        <Link
          to="/keys"
          search={(before) => ({ ...before, key: name })}
          className="mono"
          onClick={(event) => event.stopPropagation()}
        >
          {name}
        </Link>
      </td>
      <td>
        <KeyState state={state} />
      </td>
      <td className="mono">{secrets[0] === undefined ? '–' : `${secrets[0].prefix}…`}</td>
      <td>{owner === undefined ? <span className="dim">–</span> : <Value text={owner} most={32} />}</td>
      <td>{team === undefined ? <span className="dim">–</span> : <span className="mono">{team}</span>}</td>
      <td>
        <BudgetBars budgets={budgets} most={2} />
      </td>
      <td className="number">{expires === undefined ? <span className="dim">never</span> : dateText(expires)}</td>
    </>
  )
}

function rowClass({ name }: KeyView, { cursor, openName }: Pick<KeyTableProps, 'cursor' | 'openName'>): string {
  return [name === cursor && 'current', name === openName && 'open'].filter(Boolean).join(' ')
}

/** The local day of a time. */
function dateText(time: string): string {
  return formatMoment(Date.parse(time)).slice(0, 10)
}
