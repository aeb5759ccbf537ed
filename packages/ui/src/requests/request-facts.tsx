import type { RequestRecord } from '@portico/gateway/admin-api'
import { formatBytes, formatTook } from '../format/numbers.ts'
import { Value } from '../parts/value.tsx'

/** The path of a request through the gateway, with times and sizes. Every request has these in its record. */
export function RequestFacts({ record }: { record: RequestRecord }) {
  const { source, listener, route, backend, endpoint, took, answeredAfter, bytesIn, bytesOut, attempts } = record
  const path = [source, listener, route, backend, endpoint].filter((part) => part !== null && part !== '')
  return (
    <section aria-label="Path, times and sizes">
      <p>
        {path.map((part, index) => (
          <span key={index}>
            {index > 0 && <span className="dim"> → </span>}
            <Value text={part ?? ''} most={60} />
          </span>
        ))}
      </p>
      <dl className="why-values">
        <Fact name="Response head after" text={answeredAfter === null ? 'No response' : formatTook(answeredAfter)} />
        {answeredAfter !== null && (
          <Fact name="Response body took" text={formatTook(Math.max(0, took - answeredAfter))} />
        )}
        <Fact name="Total" text={formatTook(took)} />
        <Fact name="Request body" text={formatBytes(bytesIn)} />
        <Fact name="Response body" text={formatBytes(bytesOut)} />
        <Fact name="Attempts" text={String(attempts)} />
      </dl>
    </section>
  )
}

function Fact({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="number">{text}</dd>
    </div>
  )
}
