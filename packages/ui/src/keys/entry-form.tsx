import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core'
import type { KeyView, TeamView } from '@portico/gateway/admin-api'
import { Dialog } from './dialog.tsx'
import type { DraftField, EntryDraft } from './draft.ts'
import { problemText } from './problems.ts'
import { BudgetFields, LimitFields } from './spending-fields.tsx'
import { type EntryForm, useEntryForm } from './use-entry-form.ts'

interface FormDialogProps<Entry> {
  /** Null for a new one. */
  entry: Entry | null
  preset?: Partial<EntryDraft> | undefined
  /** Names of the teams that the entry can belong to. */
  teams: readonly string[]
  onDone: (name: string, secret: string | null) => void
  onClose: () => void
}

/** The form of a new key, or of a key that exists. */
export function KeyFormDialog({ entry, preset, teams, onDone, onClose }: FormDialogProps<KeyView>) {
  const form = useEntryForm({ kind: 'keys', entry, preset, onDone })
  return (
    <Dialog title={entry === null ? 'New key' : `Edit ${entry.name}`} size="lg" onClose={onClose}>
      <FormFrame form={form} button={entry === null ? 'Create the key' : 'Save'} onClose={onClose}>
        {entry === null && <Field form={form} field="name" label="Name" isFirst />}
        <Field form={form} field="owner" label="Owner" isFirst={entry !== null} />
        <TeamSelect form={form} field="team" label="Team" none="No team" teams={teams} />
        <BudgetFields draft={form.draft} problems={form.problems} onChange={form.set} />
        <LimitFields draft={form.draft} problems={form.problems} onChange={form.set} />
        <Lines
          form={form}
          field="models"
          label="Models"
          about="One in each line, with at most one *. Empty: all models."
        />
        <Lines
          form={form}
          field="routes"
          label="Routes"
          about="Names of routes, one in each line. Empty: all routes."
        />
        <div className="keys-pair">
          <Field form={form} field="notBefore" label="Valid from" type="datetime-local" />
          <Field form={form} field="expires" label="Expires" type="datetime-local" />
        </div>
        <Lines form={form} field="tags" label="Tags" about="name=value in each line: apiKey.name in expressions." />
      </FormFrame>
    </Dialog>
  )
}

/** The form of a new team, or of a team that exists. */
export function TeamFormDialog({ entry, preset, teams, onDone, onClose }: FormDialogProps<TeamView>) {
  const form = useEntryForm({ kind: 'teams', entry, preset, onDone })
  return (
    <Dialog title={entry === null ? 'New team' : `Edit ${entry.name}`} size="lg" onClose={onClose}>
      <FormFrame form={form} button={entry === null ? 'Create the team' : 'Save'} onClose={onClose}>
        {entry === null && <Field form={form} field="name" label="Name" isFirst />}
        <TeamSelect form={form} field="parent" label="Belongs to" none="No other team" teams={teams} />
        <BudgetFields draft={form.draft} problems={form.problems} onChange={form.set} />
        <LimitFields draft={form.draft} problems={form.problems} onChange={form.set} />
      </FormFrame>
    </Dialog>
  )
}

interface FormFrameProps {
  form: EntryForm
  button: string
  onClose: () => void
  children: React.ReactNode
}

function FormFrame({ form, button, onClose, children }: FormFrameProps) {
  const others = form.problems.filter(({ field }) => field === null)
  return (
    <form className="keys-form" noValidate onSubmit={(event) => void form.submit(event)}>
      {children}
      <ForeignChanges form={form} />
      {form.problems.length > 0 && (
        <div className="keys-problem" role="alert">
          {others.map(({ text }) => (
            <p key={text}>{text}</p>
          ))}
          {others.length < form.problems.length && <p>Some fields are not valid; nothing was saved.</p>}
        </div>
      )}
      <div className="keys-buttons">
        <Button type="submit" loading={form.isBusy}>
          {button}
        </Button>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  )
}

/** The changes of others since the form was opened. The next attempt to save is based on their version. */
function ForeignChanges({ form: { foreign } }: { form: EntryForm }) {
  if (foreign === null) return null
  return (
    <div className="keys-warning" role="alert">
      <p>▲ Somebody else changed this meanwhile, and nothing was saved. Save again to add your changes to theirs.</p>
      <ul>
        {foreign.map(({ field, now, own }) => (
          <li key={field}>
            <span className="mono">{field}</span> is now <span className="mono wrap">{now}</span>
            {own !== null && (
              <>
                {' '}
                and your value <span className="mono wrap">{own}</span> replaces it
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

interface FieldProps {
  form: EntryForm
  field: Exclude<DraftField, 'limits' | 'budgets'>
  label: string
}

function Field({
  form,
  field,
  label,
  type = 'text',
  isFirst = false,
}: FieldProps & { type?: string; isFirst?: boolean }) {
  return (
    <TextInput
      label={label}
      type={type}
      value={form.draft[field]}
      error={problemText(form.problems, field)}
      autoComplete="off"
      spellCheck={false}
      {...(isFirst && { 'data-autofocus': true })}
      {...(type === 'datetime-local' && { step: 1, description: 'In the time zone of this browser' })}
      onChange={(event) => form.set({ [field]: event.currentTarget.value })}
    />
  )
}

function Lines({ form, field, label, about }: FieldProps & { about: string }) {
  return (
    <Textarea
      label={label}
      description={about}
      rows={2}
      value={form.draft[field]}
      error={problemText(form.problems, field)}
      spellCheck={false}
      classNames={{ input: 'mono' }}
      onChange={(event) => form.set({ [field]: event.currentTarget.value })}
    />
  )
}

function TeamSelect({ form, field, label, none, teams }: FieldProps & { none: string; teams: readonly string[] }) {
  const value = form.draft[field]
  const names = value === '' || teams.includes(value) ? teams : [value, ...teams]
  return (
    <NativeSelect
      label={label}
      value={value}
      error={problemText(form.problems, field)}
      data={[{ value: '', label: none }, ...names]}
      onChange={(event) => form.set({ [field]: event.currentTarget.value })}
    />
  )
}
