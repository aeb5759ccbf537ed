import type { RecordedBody, RecordedHeaders, RequestRecord } from '@portico/gateway/admin-api'
import { Value } from '../parts/value.tsx'

/** What the client sent and got, as it was kept: credentials were hidden before. */
export function Heads({ record }: { record: RequestRecord }) {
  const { method, path, version, status, requestHeaders, responseHeaders, requestBody, responseBody } = record
  if (requestHeaders === null && responseHeaders === null)
    return <p className="note">Headers are kept of what did not simply pass, and of what is sampled.</p>
  return (
    <div className="heads">
      <Head title={`${method ?? ''} ${path ?? ''} ${version ?? ''}`} headers={requestHeaders} body={requestBody} />
      <Head
        title={`${version ?? ''} ${status === 0 ? 'no answer' : status}`}
        headers={responseHeaders}
        body={responseBody}
      />
    </div>
  )
}

interface HeadProps {
  title: string
  headers: RecordedHeaders | null
  body: RecordedBody | null
}

function Head({ title, headers, body }: HeadProps) {
  const lines = Object.entries(headers ?? {}).flatMap(([name, values]) =>
    (typeof values === 'string' ? [values] : values).map((value) => ({ name, value })),
  )
  return (
    <section>
      <h3>
        <Value text={title.trim()} most={100} />
      </h3>
      {headers === null ? (
        <p className="note">Not kept.</p>
      ) : (
        <table className="head-lines">
          <tbody>
            {lines.map(({ name, value }, index) => (
              <tr key={index}>
                <th scope="row" className="mono">
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
