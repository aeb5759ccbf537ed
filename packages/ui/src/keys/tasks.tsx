import type { KeyView, TeamView } from '@portico/gateway/admin-api'
import { useQuery } from '@tanstack/react-query'
import { Confirm } from './dialog.tsx'
import { KeyFormDialog, TeamFormDialog } from './entry-form.tsx'
import type { KeyTask } from './key-detail.tsx'
import { NewSecretDialog, type NewSecret } from './new-secret.tsx'
import { teamsQuery } from './queries.ts'
import { RotateDialog } from './rotate-dialog.tsx'

/** The dialog that is open. */
export type Task =
  | { readonly kind: 'newKey'; readonly team: string }
  | { readonly kind: 'newTeam'; readonly parent: string }
  | { readonly kind: 'secret'; readonly created: NewSecret }
  | { readonly kind: 'key'; readonly task: KeyTask; readonly entry: KeyView }
  | { readonly kind: 'editTeam' | 'removeTeam'; readonly entry: TeamView }

interface TaskDialogProps {
  task: Task
  /** After a change; with the key when it is new, and the name of what was deleted. */
  onDone: (done: { created?: NewSecret; deleted?: string }) => void
  onClose: () => void
}

export function TaskDialog({ task, onDone, onClose }: TaskDialogProps) {
  const teams = useQuery(teamsQuery).data?.teams.map(({ name }) => name) ?? []
  const saved = (name: string, secret: string | null): void =>
    onDone(secret === null ? {} : { created: { name, secret } })
  switch (task.kind) {
    case 'secret':
      return <NewSecretDialog {...task.created} onClose={onClose} />
    case 'newKey':
      return <KeyFormDialog entry={null} preset={{ team: task.team }} teams={teams} onDone={saved} onClose={onClose} />
    case 'newTeam':
      return (
        <TeamFormDialog entry={null} preset={{ parent: task.parent }} teams={teams} onDone={saved} onClose={onClose} />
      )
    case 'editTeam': {
      const others = teams.filter((name) => name !== task.entry.name)
      return <TeamFormDialog entry={task.entry} teams={others} onDone={saved} onClose={onClose} />
    }
    case 'removeTeam':
      return (
        <Confirm
          title={`Remove the team ${task.entry.name}`}
          button="Remove the team"
          isDangerous
          change={{ method: 'DELETE', path: `teams/${task.entry.name}` }}
          onDone={() => onDone({})}
          onClose={onClose}
        >
          <p>Its limits and budgets end. A team that keys or other teams belong to cannot be removed.</p>
        </Confirm>
      )
    case 'key':
      return <KeyDialog task={task.task} entry={task.entry} teams={teams} onDone={onDone} onClose={onClose} />
  }
}

interface KeyDialogProps extends Omit<TaskDialogProps, 'task'> {
  task: KeyTask
  entry: KeyView
  teams: readonly string[]
}

function KeyDialog({ task, entry, teams, onDone, onClose }: KeyDialogProps) {
  const { name } = entry
  if (task === 'edit') return <KeyFormDialog entry={entry} teams={teams} onDone={() => onDone({})} onClose={onClose} />
  if (task === 'rotate')
    return (
      <RotateDialog
        name={name}
        onDone={(secret) => onDone(secret === null ? {} : { created: { name, secret } })}
        onClose={onClose}
      />
    )
  const { title, button, text, isDangerous = false } = QUESTIONS[task]
  return (
    <Confirm
      title={`${title} ${name}`}
      button={button}
      isDangerous={isDangerous}
      change={
        task === 'delete'
          ? { method: 'DELETE', path: `keys/${name}` }
          : { method: 'POST', path: `keys/${name}/${task}` }
      }
      onDone={() => onDone(task === 'delete' ? { deleted: name } : {})}
      onClose={onClose}
    >
      <p>{text}</p>
    </Confirm>
  )
}

interface Question {
  readonly title: string
  readonly button: string
  readonly text: string
  readonly isDangerous?: boolean
}

const QUESTIONS: Readonly<Record<Exclude<KeyTask, 'edit' | 'rotate'>, Question>> = {
  enable: { title: 'Enable', button: 'Enable the key', text: 'Its next request is accepted.' },
  disable: {
    ...{ title: 'Disable', button: 'Disable the key' },
    text: 'Its next request gets 401, until somebody enables the key. Responses that have begun go on.',
  },
  revoke: {
    ...{ title: 'Revoke', button: 'Revoke the key', isDangerous: true },
    text: 'Its next request gets 401, for ever: nobody can undo this. The key stays in the list.',
  },
  delete: {
    ...{ title: 'Delete', button: 'Delete the key', isDangerous: true },
    text: 'Its next request gets 401, and the key leaves the list: nobody can undo this. Its name is free again.',
  },
}
