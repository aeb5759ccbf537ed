import { Button } from '@mantine/core'
import type { ConfigView } from '@portico/gateway/admin-config'
import { useQuery } from '@tanstack/react-query'
import { useKeys } from '../parts/use-keys.ts'
import { formatAgo, formatMoment } from '../format/times.ts'
import { Failed, Loading } from '../parts/states.tsx'
import type { ConfigCandidate } from './apply-dialog.tsx'
import { historyQuery, pastQuery } from './config-queries.ts'
import { DiffView } from './diff-view.tsx'

interface HistoryProps {
  view: ConfigView
  chosen: number | null
  onChoose: (generation: number) => void
  onBack: (wanted: ConfigCandidate) => void
}

/** Earlier configs, and a rollback to each. */
export function History({ view, chosen, onChoose, onBack }: HistoryProps) {
  const { data, error, refetch, dataUpdatedAt } = useQuery(historyQuery)
  const generations = data?.generations ?? []
  const open = generations.find(({ generation }) => generation === chosen) ?? generations[0]
  const move = (step: number): void => {
    const at = generations.findIndex((each) => each === open)
    const next = generations[Math.min(Math.max(at + step, 0), generations.length - 1)]
    if (next !== undefined) onChoose(next.generation)
  }
  useKeys({ j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) })
  if (data === undefined && error !== null)
    return <Failed what="The history" error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading what="the history" />
  if (open === undefined) return <p className="note config-note">No earlier config is available.</p>
  return (
    <div className="config-history">
      <ul aria-label="Earlier configs">
        {generations.map(({ generation, at }) => (
          <li key={generation}>
            <button
              type="button"
              className={generation === open.generation ? 'past chosen' : 'past'}
              aria-current={generation === open.generation}
              onClick={() => onChoose(generation)}
            >
              <span>Config {generation}</span>
              <span className="dim" title={formatMoment(at)}>
                {generation === data.live ? 'live' : formatAgo(at, dataUpdatedAt)}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <Past generation={open.generation} view={view} onBack={onBack} />
    </div>
  )
}

function Past({ generation, view, onBack }: { generation: number; view: ConfigView; onBack: HistoryProps['onBack'] }) {
  const { data, error, refetch } = useQuery(pastQuery(generation))
  if (data === undefined)
    return error === null ? (
      <Loading what="the config" />
    ) : (
      <Failed what={`Config ${generation}`} error={error} onRetry={() => void refetch()} />
    )
  if (data.text === null) return <p className="note config-note">{data.reason}</p>
  const { text } = data
  const { version, edit } = view
  const isSame = text === view.text
  return (
    <section className="config-past" aria-label={`Config ${generation}`}>
      <div className="config-past-head">
        <p className="dim">
          Changes to the {view.isInMemory ? 'config' : 'file'} if you roll back. Config {generation} went live at{' '}
          {formatMoment(data.at)}.
        </p>
        <Button
          size="xs"
          variant="default"
          disabled={!edit.isAllowed || version === null || isSame}
          title={edit.reason ?? undefined}
          onClick={() => version !== null && onBack({ text, basedOn: version, generation })}
        >
          Roll back to config {generation}
        </Button>
      </div>
      <DiffView before={view.text ?? ''} after={text} same="No changes, except perhaps in redacted values." />
    </section>
  )
}
