import type { KeyBudgetView, KeyLimitView, KeyView, TeamView } from '@portico/gateway/admin-api'

export interface LimitDraft {
  readonly amount: string
  readonly of: 'requests' | 'tokens' | 'calls'
  readonly unit: NonNullable<KeyLimitView['unit']>
}

export interface BudgetDraft {
  readonly amount: string
  readonly of: 'usd' | 'tokens'
  readonly per: KeyBudgetView['per']
  readonly isRolling: boolean
  readonly timeZone: string
}

/** The texts of a form for a key or a team. A team has no other fields than `parent`, limits and budgets. */
export interface EntryDraft {
  readonly name: string
  readonly owner: string
  readonly team: string
  readonly parent: string
  /** One in each line. */
  readonly models: string
  readonly routes: string
  readonly limits: readonly LimitDraft[]
  readonly budgets: readonly BudgetDraft[]
  /** Local time, as browsers edit it: `2027-01-31T12:00`. */
  readonly notBefore: string
  readonly expires: string
  /** `name=value` in each line. */
  readonly tags: string
}

export type DraftField = keyof EntryDraft

export const NEW_LIMIT: LimitDraft = { amount: '', of: 'requests', unit: 'Minutes' }
export const NEW_BUDGET: BudgetDraft = { amount: '', of: 'usd', per: 'Month', isRolling: false, timeZone: '' }

export const EMPTY_DRAFT: EntryDraft = {
  ...{ name: '', owner: '', team: '', parent: '', models: '', routes: '', limits: [], budgets: [] },
  ...{ notBefore: '', expires: '', tags: '' },
}

export function draftOf(entry: KeyView | TeamView): EntryDraft {
  const { name, limits = [], budgets = [] } = entry
  const shared = { ...EMPTY_DRAFT, name, limits: limits.map(limitDraft), budgets: budgets.map(budgetDraft) }
  if (!('secrets' in entry)) return { ...shared, parent: entry.parent ?? '' }
  const { owner = '', team = '', models = [], routes = [], notBefore, expires, tags = {} } = entry
  return {
    ...{ ...shared, owner, team, models: models.join('\n'), routes: routes.join('\n') },
    ...{ notBefore: localTime(notBefore), expires: localTime(expires) },
    tags: Object.entries(tags)
      .map(([tag, value]) => `${tag}=${value}`)
      .join('\n'),
  }
}

function limitDraft({ requests, tokens, calls, unit = 'Minutes' }: KeyLimitView): LimitDraft {
  if (calls !== undefined) return { amount: String(calls), of: 'calls', unit }
  return requests === undefined
    ? { amount: String(tokens ?? ''), of: 'tokens', unit }
    : { amount: String(requests), of: 'requests', unit }
}

function budgetDraft({ usd, tokens, per, rolling = false, timeZone = '' }: KeyBudgetView): BudgetDraft {
  const of = usd === undefined ? 'tokens' : 'usd'
  return { amount: String(usd ?? tokens ?? ''), of, per, isRolling: rolling, timeZone }
}

/** The value of a field for the admin API; null when it is empty. */
function valueOf(draft: EntryDraft, field: DraftField): unknown {
  switch (field) {
    case 'models':
    case 'routes':
      return orNull(linesOf(draft[field]))
    case 'limits':
      return orNull(
        draft.limits.map(({ amount, of, unit }) => ({ [of]: numberOf(amount), ...(of !== 'calls' && { unit }) })),
      )
    case 'budgets':
      return orNull(
        draft.budgets.map(({ amount, of, per, isRolling, timeZone }) => ({
          ...{ [of]: numberOf(amount), per },
          ...(isRolling && { rolling: true }),
          ...(timeZone.trim() !== '' && { timeZone: timeZone.trim() }),
        })),
      )
    case 'notBefore':
    case 'expires':
      return draft[field] === '' ? null : utcTime(draft[field])
    case 'tags':
      return draft.tags.trim() === '' ? null : Object.fromEntries(linesOf(draft.tags).map(tagOf))
    case 'name':
    case 'owner':
    case 'parent':
    case 'team':
      return draft[field].trim() === '' ? null : draft[field].trim()
  }
}

/** The body that creates an entry. */
export function newEntry(draft: EntryDraft): object {
  const fields = fieldsOf(draft).map((field) => [field, valueOf(draft, field)] as const)
  return { name: draft.name.trim(), ...Object.fromEntries(fields.filter(([, value]) => value !== null)) }
}

/** The fields that differ. */
export function changedFields(before: EntryDraft, after: EntryDraft): DraftField[] {
  const textOf = (draft: EntryDraft, field: DraftField): string => JSON.stringify(valueOf(draft, field))
  return fieldsOf(before).filter((field) => textOf(before, field) !== textOf(after, field))
}

/** The body of an edit: the fields that differ, null for those that are removed. */
export function patchOf(before: EntryDraft, after: EntryDraft): Record<string, unknown> {
  return Object.fromEntries(changedFields(before, after).map((field) => [field, valueOf(after, field)]))
}

/** The own changes of `draft` on top of what others have made of its `base`. */
export function rebase({
  base,
  draft,
  current,
}: {
  base: EntryDraft
  draft: EntryDraft
  current: EntryDraft
}): EntryDraft {
  const own = changedFields(base, draft).map((field) => [field, draft[field]] as const)
  return { ...current, ...Object.fromEntries(own) }
}

/** A value of a form for people: `none` when it is empty. */
export function fieldText(draft: EntryDraft, field: DraftField): string {
  const value = valueOf(draft, field)
  return value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value)
}

function fieldsOf(draft: EntryDraft): DraftField[] {
  return (Object.keys(draft) as DraftField[]).filter((field) => field !== 'name')
}

function linesOf(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function tagOf(line: string): [string, string] {
  const at = line.indexOf('=')
  return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
}

/** A text that is no number is sent as it is: the gateway says what is wrong with it. */
function numberOf(text: string): number | string {
  const trimmed = text.trim().replaceAll(',', '')
  return trimmed === '' || Number.isNaN(Number(trimmed)) ? text : Number(trimmed)
}

function orNull(list: readonly unknown[]): readonly unknown[] | null {
  return list.length === 0 ? null : list
}

function utcTime(local: string): string {
  const time = new Date(local)
  return Number.isNaN(time.getTime()) ? local : time.toISOString()
}

function localTime(utc: string | undefined): string {
  if (utc === undefined) return ''
  const time = new Date(utc)
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  const seconds = time.getSeconds() === 0 ? '' : `:${two(time.getSeconds())}`
  return `${day}T${two(time.getHours())}:${two(time.getMinutes())}${seconds}`
}
