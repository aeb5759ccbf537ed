import type { RecordedBody, RecordedHeaders, RequestRecord } from '@portico/gateway/admin-api'
import { Value } from '../parts/value.tsx'
import { changedLines, type HeadLine } from './head-lines.ts'

/** The request and the response of a client, as recorded. The gateway redacts credentials before it records them. */
export function Heads({ record }: { record: RequestRecord }) {
  const { method, path, version, status, requestHeaders, responseHeaders, requestBody, responseBody } = record
  const { afterPolicies } = record
  if (requestHeaders === null && responseHeaders === null)
    return <p className="note">Headers are recorded only for sampled requests and for requests that did not pass.</p>
  return (
    <div className="heads">
      <Head
        title={`${method ?? ''} ${path ?? ''} ${version ?? ''}`}
        headers={requestHeaders}
        after={afterPolicies?.headers ?? null}
        newPath={afterPolicies?.path ?? null}
        body={requestBody}
      />
      <Head
        title={`${version ?? ''} ${status === 0 ? 'no response' : status}`}
        headers={responseHeaders}
        body={responseBody}
      />
    </div>
  )
}

interface HeadProps {
  title: string
  headers: RecordedHeaders | null
  /** The headers after all policies; null when policies changed none. */
  after?: RecordedHeaders | null
  newPath?: string | null
  body: RecordedBody | null
}

/** Lines that policies changed have a sign and a word, not only a color. */
const MARKS: Readonly<Record<HeadLine['fate'], readonly [sign: string, word: string]>> = {
  same: ['', ''],
  gone: ['−', 'removed by policies'],
  added: ['+', 'set by policies'],
}

function Head({ title, headers, after = null, newPath = null, body }: HeadProps) {
  const lines = changedLines(headers ?? {}, after ?? headers ?? {})
  return (
    <section>
      <h3>
        <Value text={title.trim()} most={100} />
      </h3>
      {newPath !== null && (
        <p className="dim">
          Policies changed the path to <Value text={newPath} most={100} />
        </p>
      )}
      {headers === null ? (
        <p className="note">Not recorded.</p>
      ) : (
        <table className="head-lines">
          <tbody>
            {lines.map(({ name, value, fate }, index) => (
              <tr key={index} className={`head-line-${fate}`} title={MARKS[fate][1] || undefined}>
                <th scope="row" className="mono">
                  {fate !== 'same' && <span aria-label={MARKS[fate][1]}>{MARKS[fate][0]} </span>}
                  {name}
                </th>
                <td>
                  <Value text={value} most={120} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {body !== null && (
        <pre className="mono body">
          {body.text ?? body.base64 ?? ''}
          {body.isCut && '\n… cut here'}
        </pre>
      )}
    </section>
  )
}
