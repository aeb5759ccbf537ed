import { Button, Modal, PasswordInput } from '@mantine/core'
import type { AppliedConfig, CheckedConfig, ConfigView } from '@portico/gateway/admin-config'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Loading } from '../parts/states.tsx'
import { BacktestResult } from './backtest-result.tsx'
import { applyConfig } from './config-calls.ts'
import { checkQuery } from './config-queries.ts'
import { effectSentences } from './effect-text.ts'
import { withoutLocation } from './location.ts'
import { asError } from '../api/unknown-values.ts'

/** A config text that people want to apply. */
export interface ConfigCandidate {
  readonly text: string
  readonly basedOn: string
  /** The generation of the history that the text comes from; undefined for an edit. */
  readonly generation?: number
}

interface ApplyDialogProps {
  wanted: ConfigCandidate | null
  view: ConfigView
  onClose: () => void
  onApplied: (applied: AppliedConfig) => void
}

/** A dialog that shows the effect of a config and asks for the admin token. */
export function ApplyDialog({ wanted, view, onClose, onApplied }: ApplyDialogProps) {
  const title = wanted?.generation === undefined ? 'Apply this config' : `Roll back to config ${wanted.generation}`
  return (
    <Modal
      opened={wanted !== null}
      onClose={onClose}
      title={title}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {wanted !== null && <Ask wanted={wanted} view={view} onApplied={onApplied} />}
    </Modal>
  )
}

function Ask({ wanted, view, onApplied }: Pick<ApplyDialogProps, 'view' | 'onApplied'> & { wanted: ConfigCandidate }) {
  const { basedOn, ...request } = wanted
  // The number of open streams changes, so the effect is computed again.
  const { data, error } = useQuery({ ...checkQuery(request, basedOn), placeholderData: undefined, staleTime: 0 })
  const [token, setToken] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [answer, setAnswer] = useState<CheckedConfig | string | null>(null)
  const apply = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setAnswer(null)
    try {
      const result = await applyConfig(wanted, token.trim())
      if (result.kind === 'applied') return onApplied(result.applied)
      setAnswer(result.kind === 'refused' ? result.checked : result.text)
    } catch (failure) {
      setAnswer(`The gateway does not respond: ${asError(failure).message}`)
    } finally {
      setBusy(false)
    }
  }
  if (error !== null) return <p role="alert">{error.message}</p>
  if (data === undefined) return <Loading what="the effect" rows={4} />
  return (
    <form className="apply" onSubmit={(event) => void apply(event)}>
      {data.effect === null ? (
        <CannotGo checked={data} />
      ) : (
        <>
          {view.isInMemory ? (
            <p>The config in memory is replaced and goes live at once. No file is written.</p>
          ) : (
            <p>
              The file <span className="mono wrap">{view.file}</span> is replaced and goes live at once.
            </p>
          )}
          <ul aria-label="What will happen">
            {effectSentences(data.effect).map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
          <BacktestResult request={request} live={basedOn} />
          <PasswordInput
            label="Admin token"
            description={TOKENS[view.edit.token]}
            value={token}
            onChange={(event) => setToken(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
            visibilityToggleButtonProps={{ 'aria-label': 'Show the token' }}
          />
        </>
      )}
      {typeof answer === 'string' && (
        <p className="apply-answer" role="alert">
          {answer}
        </p>
      )}
      {answer !== null && typeof answer === 'object' && <CannotGo checked={answer} />}
      <Button type="submit" loading={isBusy} disabled={data.effect === null || token.trim() === ''}>
        {wanted.generation === undefined ? 'Apply' : 'Roll back'}
      </Button>
    </form>
  )
}

const TOKENS: Readonly<Record<ConfigView['edit']['token'], string>> = {
  variable: 'The value of ADMIN_TOKEN of this gateway',
  terminal: 'The token that this gateway printed in its terminal when it started',
}

function CannotGo({ checked: { problems, refused } }: { checked: CheckedConfig }) {
  return (
    <div className="config-problems" role="alert">
      <p>The config cannot go live; nothing was changed.</p>
      <ol>
        {problems.map(({ text }) => (
          <li key={text} className="mono">
            {text}
          </li>
        ))}
        {refused.map(({ path, text }) => (
          <li key={`${path} ${text}`}>
            <span className="mono">{path}</span>: {withoutLocation(text)}
          </li>
        ))}
      </ol>
    </div>
  )
}
