import type { ChangedKeyView, KeyListView, KeyView, TeamListView, TeamView } from '@portico/gateway/admin-api'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import { type AdminCall, askStore } from './ask-store.ts'
import type { AdminAddress } from '../trace/admin-address.ts'
import { type FieldFlags, FieldProblem, readFields } from './read-fields.ts'

interface StoredChange {
  readonly kind: 'keys' | 'teams'
  readonly action: string
  readonly name: string
  readonly flags: FieldFlags
  readonly overlap: string
  readonly isJson: boolean
  readonly admin: AdminAddress
  readonly token: string | null
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Carries out one action on the keys or teams of a running gateway; returns the exit code. */
export async function changeStored(change: StoredChange, io: Io): Promise<number> {
  try {
    if (change.action === 'list') return await list(change, io)
    const answer = await askStore<ChangedKeyView>(change, callOf(change))
    if (typeof answer === 'string') return failWith(answer, io)
    const { secret } = answer
    if (typeof secret !== 'string') io.stderr.write(`${DONE.get(change.action) ?? change.action} ${change.name}\n`)
    else if (change.isJson) io.stdout.write(`${JSON.stringify({ name: change.name, key: secret })}\n`)
    else {
      io.stdout.write(`${secret}\n`)
      io.stderr.write(`This is the key of ${change.name}. It is not stored, and cannot be shown again.\n`)
    }
    return exitCode.fine
  } catch (error) {
    if (error instanceof FieldProblem) return failWith(error.message, io)
    throw error
  }
}

function callOf({ kind, action, name, flags, overlap, now }: StoredChange): AdminCall {
  const path = `/api/${kind}/${name}`
  switch (action) {
    case 'create':
      return { method: 'POST', path: `/api/${kind}`, body: { name, ...readFields(flags, now) } }
    case 'change':
      return { method: 'PATCH', path, body: readFields(flags, now) }
    case 'delete':
      return { method: 'DELETE', path, body: null }
    case 'rotate':
      return { method: 'POST', path: `${path}/rotate`, body: { overlap } }
    default:
      return { method: 'POST', path: `${path}/${action}`, body: null }
  }
}

async function list(change: StoredChange, io: Io): Promise<number> {
  const rows: (KeyView | TeamView)[] = []
  for (let after: string | null = ''; after !== null;) {
    const query: string = change.kind === 'keys' ? `?${new URLSearchParams({ after, limit: '1000' }).toString()}` : ''
    const call = { method: 'GET', path: `/api/${change.kind}${query}`, body: null }
    const page: (KeyListView & TeamListView) | string = await askStore<KeyListView & TeamListView>(change, call)
    if (typeof page === 'string') return failWith(page, io)
    rows.push(...(change.kind === 'keys' ? page.keys : page.teams))
    after = change.kind === 'keys' ? page.next : null
  }
  if (change.isJson) io.stdout.write(`${JSON.stringify(rows)}\n`)
  else io.stdout.write(tableText(change.kind === 'keys' ? rows.map(keyRow) : rows.map(teamRow), HEADS[change.kind]))
  return exitCode.fine
}

function keyRow(row: KeyView | TeamView): (string | undefined)[] {
  const { name, state, secrets, team, owner, expires, budgets } = row as KeyView
  return [name, state, secrets[0]?.prefix, team, owner, expires, budgetText(budgets)]
}

function teamRow({ name, budgets, ...team }: KeyView | TeamView): (string | undefined)[] {
  return [name, (team as TeamView).parent, budgetText(budgets)]
}

function budgetText(budgets: KeyView['budgets']): string | undefined {
  return budgets
    ?.map(
      ({ usd, tokens, per, rolling, spent }) =>
        `${spent} of ${usd ?? tokens} ${usd === undefined ? 'tokens' : 'USD'} per ${rolling === true ? 'rolling ' : ''}${per}`,
    )
    .join('; ')
}

/** Columns of equal width, under their names. */
function tableText(rows: readonly (readonly (string | undefined)[])[], head: readonly string[]): string {
  const all = [head, ...rows.map((row) => row.map((cell) => printable(cell ?? '-')))]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const lineOf = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return all.map((row) => `${lineOf(row).trimEnd()}\n`).join('')
}

const HEADS = {
  keys: ['NAME', 'STATE', 'PREFIX', 'TEAM', 'OWNER', 'EXPIRES', 'SPENT'],
  teams: ['NAME', 'PARENT', 'SPENT'],
} as const
const DONE: ReadonlyMap<string, string> = new Map([
  ['create', 'created'],
  ['change', 'changed'],
  ['enable', 'enabled'],
  ['disable', 'disabled'],
  ['revoke', 'revoked'],
  ['delete', 'deleted'],
])
