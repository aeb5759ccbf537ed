import type { KeyView, TeamView } from '@portico/gateway/admin-api'
import { type FormEvent, useState } from 'react'
import { getJson } from '../api/client.ts'
import {
  changedFields,
  type DraftField,
  draftOf,
  EMPTY_DRAFT,
  type EntryDraft,
  fieldText,
  newEntry,
  patchOf,
  rebase,
} from './draft.ts'
import { changeKeys } from './key-calls.ts'
import { type readProblems, readProblems as problemsOf } from './problems.ts'

/** A field that somebody else changed while the form was open. */
interface ForeignChange {
  readonly field: DraftField
  readonly now: string
  /** The value of this form, which replaces the other one; null when the form does not change the field. */
  readonly own: string | null
}

export interface EntryForm {
  readonly draft: EntryDraft
  readonly problems: ReturnType<typeof readProblems>
  readonly isBusy: boolean
  /** Changes of others, which the last attempt to save has found. */
  readonly foreign: readonly ForeignChange[] | null
  readonly set: (fields: Partial<EntryDraft>) => void
  readonly submit: (event: FormEvent) => Promise<void>
}

interface EntryFormOptions {
  readonly kind: 'keys' | 'teams'
  /** Null for a new entry. */
  readonly entry: KeyView | TeamView | null
  /** The first values of a new entry. */
  readonly preset?: Partial<EntryDraft> | undefined
  readonly onDone: (name: string, secret: string | null) => void
}

/** The form of a key or a team. An edit says on which version it is based, so that it cannot undo the edit of another person. */
export function useEntryForm({ kind, entry, preset = {}, onDone }: EntryFormOptions): EntryForm {
  const [base, setBase] = useState(() => (entry === null ? EMPTY_DRAFT : draftOf(entry)))
  const [version, setVersion] = useState(entry?.version ?? '')
  const [draft, setDraft] = useState<EntryDraft>(() => ({ ...base, ...preset }))
  const [problems, setProblems] = useState<EntryForm['problems']>([])
  const [foreign, setForeign] = useState<EntryForm['foreign']>(null)
  const [isBusy, setBusy] = useState(false)

  const save = async (): Promise<void> => {
    const own = patchOf(base, draft)
    if (entry !== null && Object.keys(own).length === 0) return onDone(entry.name, null)
    const outcome = await changeKeys(
      entry === null
        ? { method: 'POST', path: kind, body: newEntry(draft) }
        : { method: 'PATCH', path: `${kind}/${entry.name}`, body: { ...own, basedOn: version } },
    )
    if (outcome.kind === 'done') return onDone(draft.name.trim(), outcome.secret)
    if (entry !== null && outcome.status === 409 && (await rebaseOn(entry.name))) return
    setProblems(problemsOf(outcome.text))
  }
  /** Returns whether somebody else has changed the entry. */
  const rebaseOn = async (name: string): Promise<boolean> => {
    const current = await getJson<KeyView | TeamView>(`/api/${kind}/${name}`)
    if (current.version === version) return false
    const now = draftOf(current)
    const own = new Set(changedFields(base, draft))
    setForeign(
      changedFields(base, now).map((field) => ({
        ...{ field, now: fieldText(now, field) },
        own: own.has(field) ? fieldText(draft, field) : null,
      })),
    )
    setDraft(rebase({ base, draft, current: now }))
    setBase(now)
    setVersion(current.version)
    return true
  }
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setProblems([])
    setForeign(null)
    try {
      await save()
    } catch (error) {
      setProblems(problemsOf(error instanceof Error ? error.message : String(error)))
    } finally {
      setBusy(false)
    }
  }
  return { draft, problems, isBusy, foreign, submit, set: (fields) => setDraft((before) => ({ ...before, ...fields })) }
}
