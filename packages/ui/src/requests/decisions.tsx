import type { RecordedStep, RequestRecord } from '@portico/gateway/admin-api'
import { formatTook } from '../format/numbers.ts'
import { Value } from '../parts/value.tsx'
import { valueText } from './value-text.ts'
import { RequestFacts } from './request-facts.tsx'
import { Why } from '../explanation/why.tsx'
import { waterfall, type WaterfallLine } from './waterfall.ts'

/** The steps of a request in order, each with the values it decided by. */
export function Decisions({ record }: { record: RequestRecord }) {
  if (record.steps === null) {
    return (
      <>
        <RequestFacts record={record} />
        <p className="note">
          The request passed. Its headers and policy steps were not recorded: <code>frontend.recorder</code> can sample
          such requests whole.
        </p>
      </>
    )
  }
  return (
    <>
      <RequestFacts record={record} />
      <table className="waterfall">
        <thead>
          <tr>
            <th className="number">At</th>
            <th>Step</th>
            <th className="bar-cell">Time</th>
            <th>Outcome</th>
            <th>Decided by</th>
          </tr>
        </thead>
        <tbody>
          {waterfall(record).map((line, index) => (
            <Line key={index} line={line} />
          ))}
        </tbody>
      </table>
      {record.error !== null && (
        <p className="outcome-failed">
          <Value text={record.error} most={200} />
        </p>
      )}
      {record.outcome !== 'passed' && <Why id={record.id} />}
    </>
  )
}

function Line({ line }: { line: WaterfallLine }) {
  const { at, name, phase, outcome, values, start, width } = line
  return (
    <tr className={`step-${outcome}`}>
      <td className="number">{at === null ? '' : formatTook(at)}</td>
      <td className="mono">
        {name} <span className="dim">{phase}</span>
      </td>
      <td className="bar-cell">
        {start !== null && (
          <span className="bar" style={{ marginLeft: `${start * 100}%`, width: `${Math.max(width * 100, 0.6)}%` }} />
        )}
      </td>
      <td>{WORDS[outcome]}</td>
      <td className="step-values">
        {Object.entries(values).map(([key, value]) => (
          <span key={key}>
            <span className="dim">{key}</span> <Value text={valueText(value)} most={160} />
          </span>
        ))}
      </td>
    </tr>
  )
}

const WORDS: Readonly<Record<RecordedStep['outcome'] | 'call', string>> = {
  passed: 'passed',
  stopped: '▲ stopped',
  notReached: 'not reached',
  call: 'called',
}
