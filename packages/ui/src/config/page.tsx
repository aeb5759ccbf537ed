import type { ConfigProblem, ConfigView } from '@portico/gateway/admin-config'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { configQuery } from '../api/queries.ts'
import { formatMoment } from '../format/times.ts'
import { Copy } from '../parts/copy.tsx'
import { Failed, Loading } from '../parts/states.tsx'
import './config.css'

/** The config file without its secrets, with what is wrong where it is wrong. */
export function ConfigPage() {
  const { data, error, refetch } = useQuery(configQuery)
  if (data === undefined && error !== null)
    return <Failed what="The config" error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading what="the config" rows={16} />
  return (
    <div className="config">
      <Head view={data} />
      {data.problems.length > 0 && <Problems problems={data.problems} />}
      {data.text === null ? <p className="note">{data.reason}</p> : <Lines text={data.text} problems={data.problems} />}
    </div>
  )
}

function Head({ view: { file, generation, since, text, problems } }: { view: ConfigView }) {
  return (
    <div className="config-head">
      <h1>
        {file === '' ? 'Config' : <span className="mono">{file}</span>}{' '}
        {text !== null && <Copy text={text} label="Copy the text" />}
      </h1>
      <p className="dim">
        {problems.length === 0 ? '' : 'This is not what is live. '}config {generation} is live
        {since !== null && ` since ${formatMoment(since)}`} · secrets are hidden
      </p>
    </div>
  )
}

function Problems({ problems }: { problems: readonly ConfigProblem[] }) {
  return (
    <section className="config-problems" role="alert" aria-label="Problems">
      <h2>
        ▲ The last reload was refused: {problems.length} {problems.length === 1 ? 'problem' : 'problems'}
      </h2>
      <ol>
        {problems.map(({ text, line }, index) => (
          <li key={index} className="mono">
            {line === null ? text : <a href={`#line-${line}`}>{text}</a>}
          </li>
        ))}
      </ol>
    </section>
  )
}

function Lines({ text, problems }: { text: string; problems: readonly ConfigProblem[] }) {
  const lines = text.replace(/\n$/, '').split('\n')
  const byLine = Map.groupBy(problems, ({ line }) => line)
  useEffect(() => {
    // The address may name a line that was not there yet when the page was opened.
    const { hash } = window.location
    if (hash.startsWith('#line-')) document.getElementById(hash.slice(1))?.scrollIntoView({ block: 'center' })
  }, [])
  return (
    <pre className="config-text mono" tabIndex={0} aria-label="Text of the config">
      {lines.map((line, index) => {
        const wrong = byLine.get(index + 1)
        return (
          <span key={index} id={`line-${index + 1}`} className={wrong === undefined ? 'line' : 'line wrong'}>
            <span className="line-number" aria-hidden="true">
              {index + 1}
            </span>
            <span className="line-text">{line === '' ? ' ' : line}</span>
            {wrong?.map((problem, at) => (
              <span key={at} className="line-problem">
                ▲ {problem.text.replace(/^[^\n]*?:\d+:\d+: /, '')}
              </span>
            ))}
          </span>
        )
      })}
    </pre>
  )
}
