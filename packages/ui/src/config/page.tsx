import { Button, Tabs } from '@mantine/core'
import { useDebouncedValue, useMediaQuery } from '@mantine/hooks'
import type { AppliedConfig, ConfigView } from '@portico/gateway/admin-config'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import { configQuery } from '../api/queries.ts'
import { formatMoment } from '../format/times.ts'
import { useKeys } from '../parts/use-keys.ts'
import { Copy } from '../parts/copy.tsx'
import { Failed, Loading } from '../parts/states.tsx'
import { ApplyDialog, type ConfigCandidate } from './apply-dialog.tsx'
import { checkQuery } from './config-queries.ts'
import './config.css'
import { DiffView } from './diff-view.tsx'
import { type Draft, setDraft, useDraft } from './draft.ts'
import type { EditorMark } from './editor-marks.ts'
import { History } from './history.tsx'
import { InMemory } from './in-memory.tsx'
import { diffLines, printDiff, shortDiff } from './line-diff.ts'
import type { ConfigSearch, ConfigTab } from './search.ts'
import { Side } from './side.tsx'

const Editor = lazy(() => import('./editor.tsx').then(({ Editor: loaded }) => ({ default: loaded })))
const page = getRouteApi('/config')

/** The config file without its secrets: to be read, checked, changed, and taken back. */
export function ConfigPage() {
  const { data, error, refetch } = useQuery(configQuery)
  if (data === undefined && error !== null)
    return <Failed what="The config" error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading what="the config" rows={16} />
  return <LoadedConfig view={data} />
}

function LoadedConfig({ view }: { view: ConfigView }) {
  const { tab = 'text', generation = null, line } = page.useSearch()
  const navigate = page.useNavigate()
  const queries = useQueryClient()
  const draft = useDraft()
  const [wanted, setWanted] = useState<ConfigCandidate | null>(null)
  const [applied, setApplied] = useState<number | null>(null)
  const edit = useEdit(view, draft)
  const go = (search: ConfigSearch): void => void navigate({ search, replace: true })
  const open = (next: string | null): void => go(next === 'text' || next === null ? {} : { tab: next as ConfigTab })
  const ask = (): void => {
    if (edit.canApply && draft !== null) setWanted(draft)
  }
  const onApplied = ({ generation: live }: AppliedConfig): void => {
    setWanted(null)
    setDraft(null)
    setApplied(live)
    void queries.invalidateQueries()
    go({})
  }
  useKeys({ 'mod+s': ask })
  return (
    <div className="config">
      <Head view={view} draft={draft} canApply={edit.canApply} applied={applied} onApply={ask} />
      <Tabs value={tab} onChange={open} className="config-tabs" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="text">Text</Tabs.Tab>
          <Tabs.Tab value="diff">Difference{edit.isDirty && ' ●'}</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="text">
          <Written
            view={view}
            draft={draft}
            edit={edit}
            line={line ?? null}
            onSave={ask}
            onGo={(at) => go({ line: at })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="diff">
          <DiffView before={view.text ?? ''} after={edit.text} same="No changes." />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <History
            view={view}
            chosen={generation}
            onChoose={(next) => go({ tab: 'history', generation: next })}
            onBack={setWanted}
          />
        </Tabs.Panel>
      </Tabs>
      <ApplyDialog wanted={wanted} view={view} onClose={() => setWanted(null)} onApplied={onApplied} />
    </div>
  )
}

/** The edited text, and the result of its check by the gateway. */
function useEdit(view: ConfigView, draft: Draft | null) {
  const text = draft?.text ?? view.text ?? ''
  const isDirty = draft !== null && draft.text !== view.text
  const [settled] = useDebouncedValue(text, 300)
  const { data, error, isFetching } = useQuery({
    ...checkQuery({ text: settled }, `${view.version} ${view.generation}`),
    enabled: isDirty && settled !== view.text,
  })
  const checked = isDirty && data !== undefined ? data : null
  const isChecking = isDirty && (isFetching || settled !== text)
  const isStale = draft !== null && draft.basedOn !== view.version
  const canApply = view.edit.isAllowed && isDirty && !isChecking && !isStale && checked?.effect != null
  return { text, isDirty, isStale, checked, isChecking, failure: isDirty ? (error?.message ?? null) : null, canApply }
}

interface WrittenProps {
  view: ConfigView
  draft: Draft | null
  edit: ReturnType<typeof useEdit>
  line: number | null
  onSave: () => void
  onGo: (line: number) => void
}

function Written({ view, draft, edit, line, onSave, onGo }: WrittenProps) {
  const { text, checked } = edit
  const isNarrow = useMediaQuery('(max-width: 720px)', false, { getInitialValueInEffect: false })
  const [place, setPlace] = useState(line === null ? null : { line, column: 1 })
  const marks = useMemo(() => marksOf(view, checked), [view, checked])
  const { text: file, version } = view
  if (file === null || version === null) return <p className="note config-note">{view.reason}</p>
  const change = (next: string): void =>
    setDraft(next === file ? null : { text: next, basedOn: draft?.basedOn ?? version })
  return (
    <div className="config-body">
      <Suspense fallback={<Loading what="the editor" rows={16} />}>
        <Editor
          text={text}
          isReadOnly={!view.edit.isAllowed || isNarrow}
          marks={marks}
          place={place}
          onChange={change}
          onSave={onSave}
        />
      </Suspense>
      <Side
        checked={checked}
        isChecking={edit.isChecking}
        failure={edit.failure}
        isInMemory={view.isInMemory}
        reload={view.problems}
        patch={checked?.refused.length ? printDiff(shortDiff(diffLines(file, text))) : ''}
        onGo={(to, column) => {
          setPlace({ line: to, column })
          onGo(to)
        }}
      />
    </div>
  )
}

function marksOf({ problems }: ConfigView, checked: ReturnType<typeof useEdit>['checked']): EditorMark[] {
  if (checked === null) return problems.map((problem) => ({ ...problem, severity: 'error' }))
  return [
    ...checked.problems.map((problem) => ({ ...problem, severity: 'error' as const })),
    ...checked.refused.map((refused) => ({ ...refused, severity: 'error' as const })),
    ...checked.warnings.map((warning) => ({ ...warning, severity: 'warning' as const })),
  ]
}

interface HeadProps {
  view: ConfigView
  draft: Draft | null
  canApply: boolean
  /** The generation that this page applied last. */
  applied: number | null
  onApply: () => void
}

function Head({ view, draft, canApply, applied, onApply }: HeadProps) {
  const { file, isInMemory, generation, since, text, problems, edit, version } = view
  // The response arrives first; the config that the page polls follows a little later.
  const isNew = applied !== null && applied >= generation
  return (
    <div className="config-head">
      <div>
        <h1>
          {isInMemory ? 'The quick start' : file === '' ? 'Config' : <span className="mono wrap">{file}</span>}{' '}
          {text !== null && <Copy text={draft?.text ?? text} label="Copy the text" />}
        </h1>
        <p className="dim">
          {problems.length === 0 ? '' : 'This text is not live. '}
          <span role="status" className={isNew ? 'config-said' : ''}>
            {isNew ? `Config ${applied} is live.` : `Config ${generation} is live`}
          </span>
          {!isNew && since !== null && ` since ${formatMoment(since)}`} · secrets are redacted
        </p>
        {isInMemory && <InMemory text={draft?.text ?? text ?? ''} />}
        {edit.isAllowed && <p className="dim config-narrow">Open this page in a wider window to edit the text.</p>}
        {!edit.isAllowed && <p className="dim config-closed">Read-only: {edit.reason}.</p>}
        {draft !== null && draft.basedOn !== version && version !== null && text !== null && (
          <Overtaken draft={draft} version={version} what={isInMemory ? 'config' : 'file'} />
        )}
      </div>
      {edit.isAllowed && (
        <div className="config-actions">
          <Button size="xs" variant="default" disabled={draft === null} onClick={() => setDraft(null)}>
            Discard
          </Button>
          <Button size="xs" disabled={!canApply} onClick={onApply}>
            Apply …
          </Button>
        </div>
      )}
    </div>
  )
}

/** Shown when the file changed during an edit: people decide which text counts. */
function Overtaken({ draft, version, what }: { draft: Draft; version: string; what: string }) {
  return (
    <p className="config-overtaken" role="alert">
      ▲ The {what} has changed since you began to edit.{' '}
      <button type="button" className="link" onClick={() => setDraft(null)}>
        Discard your text
      </button>{' '}
      or{' '}
      <button type="button" className="link" onClick={() => setDraft({ ...draft, basedOn: version })}>
        keep your text
      </button>
      , which then replaces the {what}: check the difference first.
    </p>
  )
}
