import type { RequestRecord } from '@portico/gateway/admin-api'
import { formatTook } from '../format/numbers.ts'
import { causeWords } from '../parts/cause-words.ts'

/** The calls to backends for one request, in order. */
export function Attempts({ record }: { record: RequestRecord }) {
  const { calls, attempts, endpoint, llm } = record
  const tried = llm?.attempts ?? []
  if (calls === null || calls.length === 0) {
    const summary =
      attempts === 0
        ? 'No backend was called.'
        : `${attempts === 1 ? 'One attempt' : `${attempts} attempts`}, the last at `
    return (
      <p className="note">
        {summary}
        {attempts > 0 && <span className="mono">{endpoint ?? 'an unknown address'}</span>}
      </p>
    )
  }
  return (
    <>
      <table className="plain-table">
        <thead>
          <tr>
            <th className="number">#</th>
            <th>Address</th>
            <th className="number">Started after</th>
            <th className="number">Took</th>
            <th>Result</th>
          </tr>
        </thead>
        <tbody>
          {calls.map(({ target, status, error, from, to }, index) => (
            <tr key={index}>
              <td className="number">{index + 1}</td>
              <td className="mono">{target}</td>
              <td className="number">{from === null ? '' : formatTook(from)}</td>
              <td className="number">{from === null || to === null ? '' : formatTook(to - from)}</td>
              <td className={error === null ? '' : 'outcome-failed'}>
                {error === null ? (status ?? '–') : causeWords(error)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {tried.length > 0 && (
        <p className="note">
          Providers: {tried.map(({ provider, outcome }) => `${provider} (${causeWords(outcome)})`).join(', then ')}
        </p>
      )}
    </>
  )
}
