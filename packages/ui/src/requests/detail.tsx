import { ActionIcon, Tabs } from '@mantine/core'
import type { RequestRecord } from '@portico/gateway/admin-api'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { recordQuery } from '../api/queries.ts'
import { CloseIcon } from '../parts/icons.tsx'
import { formatBytes, formatTook } from '../format/numbers.ts'
import { formatMoment } from '../format/times.ts'
import { Copy } from '../parts/copy.tsx'
import { Outcome } from '../parts/outcome.tsx'
import { Failed, Loading } from '../parts/states.tsx'
import { Value } from '../parts/value.tsx'
import { Attempts } from './attempts.tsx'
import { curlCommand } from './curl-command.ts'
import { Decisions } from './decisions.tsx'
import { Headline } from '../explanation/headline.tsx'
import { Heads } from './heads.tsx'
import { ModelFacts } from './model-facts.tsx'
import { DETAIL_TABS, type DetailTab } from './search.ts'

const Resend = lazy(() => import('./resend.tsx').then(({ Resend: loaded }) => ({ default: loaded })))
const TraceNext = lazy(() => import('./trace-next.tsx').then(({ TraceNext: loaded }) => ({ default: loaded })))

interface DetailProps {
  id: string
  tab: DetailTab
  onTab: (tab: DetailTab) => void
  onClose: () => void
}

const TITLES: Readonly<Record<DetailTab, string>> = {
  decisions: 'Decisions',
  heads: 'Request and response',
  attempts: 'Attempts',
  model: 'Model',
  raw: 'Raw',
  again: 'Send again',
  next: 'Trace the next request',
}

/** The detail of one request, in tabs: decisions first. */
export function Detail({ id, tab, onTab, onClose }: DetailProps) {
  const { data, error, refetch } = useQuery(recordQuery(id))
  return (
    <section className="detail" aria-label="Open request">
      <div className="detail-head">
        {data === undefined ? <span className="mono dim">{id}</span> : <Title record={data} />}
        <ActionIcon variant="subtle" color="gray" aria-label="Close" title="Close (Esc)" onClick={onClose}>
          <CloseIcon />
        </ActionIcon>
      </div>
      {data === undefined && error === null && <Loading what="the request" rows={5} />}
      {data === undefined && error !== null && (
        <Failed what="The request" error={error} onRetry={() => void refetch()} />
      )}
      {data !== undefined && (
        <Tabs value={tab} onChange={(next) => onTab(DETAIL_TABS.find((name) => name === next) ?? 'decisions')}>
          <Tabs.List>
            {DETAIL_TABS.filter((name) => name !== 'model' || data.llm !== null).map((name) => (
              <Tabs.Tab key={name} value={name}>
                {TITLES[name]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value={tab} className="detail-panel" tabIndex={0}>
            {tab === 'decisions' && <Decisions record={data} />}
            {tab === 'heads' && <Heads record={data} />}
            {tab === 'attempts' && <Attempts record={data} />}
            {tab === 'model' && data.llm !== null && <ModelFacts record={data} llm={data.llm} />}
            {tab === 'model' && data.llm === null && <p className="note">No model was called.</p>}
            {tab === 'raw' && <Raw record={data} />}
            <Suspense fallback={<Loading what="the form" rows={3} />}>
              {tab === 'again' && <Resend record={data} />}
              {tab === 'next' && <TraceNext record={data} />}
            </Suspense>
          </Tabs.Panel>
        </Tabs>
      )}
    </section>
  )
}

function Title({ record }: { record: RequestRecord }) {
  const { method, path, host, status, outcome, id, generation, took, at, bytesIn, bytesOut, source } = record
  return (
    <div className="detail-title">
      <h2>
        <span className="mono">{method ?? record.protocol}</span>{' '}
        <Value text={`${host ?? ''}${path ?? ''}`} most={90} /> <span className="dim">→</span>{' '}
        <Outcome status={status} outcome={outcome} />
      </h2>
      <Headline id={id} />
      <p className="dim">
        <span className="mono">{id}</span> <Copy text={id} label="Copy the id" /> · {formatMoment(at)} ·{' '}
        {formatTook(took)} · {formatBytes(bytesIn)} in, {formatBytes(bytesOut)} out · config {generation}
        {source !== null && (
          <>
            {' '}
            · from <span className="mono">{source}</span>
          </>
        )}
        {method !== null && (
          <>
            {' '}
            · curl <Copy text={curlCommand(record)} label="Copy as curl" />
          </>
        )}{' '}
        ·{' '}
        <Link to="/expressions" search={{ id }}>
          Try an expression on this request
        </Link>
      </p>
    </div>
  )
}

function Raw({ record }: { record: RequestRecord }) {
  const text = JSON.stringify(record, null, 2)
  return (
    <div className="raw">
      <Copy text={text} label="Copy as JSON" />
      <pre className="mono">{text}</pre>
    </div>
  )
}
