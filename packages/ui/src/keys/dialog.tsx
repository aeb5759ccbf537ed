import { Button, Modal } from '@mantine/core'
import { type FormEvent, type KeyboardEvent, type ReactNode, useState } from 'react'
import { type ChangeCall, changeKeys, type ChangeOutcome } from './key-calls.ts'

interface DialogProps {
  title: string
  size?: 'md' | 'lg'
  /** Whether only the buttons of the dialog close it. */
  isKept?: boolean
  onClose: () => void
  children: ReactNode
}

export function Dialog({ title, size = 'md', isKept = false, onClose, children }: DialogProps) {
  // Single letters are keys of the page behind the dialog: they would lead away from a key that is shown once.
  const holdLetters = (event: KeyboardEvent): void => {
    if (event.key.length === 1) event.stopPropagation()
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={size}
      closeOnEscape={!isKept}
      closeOnClickOutside={false}
      withCloseButton={!isKept}
      closeButtonProps={{ 'aria-label': 'Close' }}
      onKeyDown={holdLetters}
    >
      {children}
    </Modal>
  )
}

interface ConfirmProps {
  title: string
  /** The name of the button that carries out the change. */
  button: string
  isDangerous?: boolean
  change: ChangeCall
  onDone: (outcome: ChangeOutcome & { kind: 'done' }) => void
  onClose: () => void
  children: ReactNode
}

/** Says what a change does, and carries it out. */
export function Confirm({ title, button, isDangerous = false, change, onDone, onClose, children }: ConfirmProps) {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const run = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setProblem(null)
    const outcome = await changeKeys(change)
    setBusy(false)
    if (outcome.kind === 'done') onDone(outcome)
    else setProblem(outcome.text)
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="keys-form" onSubmit={(event) => void run(event)}>
        {children}
        {problem !== null && (
          <p className="keys-problem" role="alert">
            {problem}
          </p>
        )}
        <div className="keys-buttons">
          <Button type="submit" loading={isBusy} className={isDangerous ? 'keys-danger' : undefined} data-autofocus>
            {button}
          </Button>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
