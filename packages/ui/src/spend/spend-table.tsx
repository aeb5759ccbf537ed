import type { UsageGroup, UsageReport } from '@portico/gateway/admin-api'
import { useState } from 'react'
import { formatCount } from '../format/numbers.ts'
import { Download } from '../parts/download.tsx'
import { Value } from '../parts/value.tsx'
import { spendingText } from './money.ts'
import { printCsv, printJson } from './print-report.ts'
import { SPEND_GROUPS, type SpendGroup } from './search.ts'
import { spendingOf } from './time-buckets.ts'

/** Calls, tokens and costs of each group, the most expensive first, or the newest days first. */
export function SpendTable({ report, total }: { report: UsageReport; total: UsageGroup | undefined }) {
  const [most, setMost] = useState(PAGE_ROWS)
  const { by, isCut } = report
  const groups = inOrder(report)
  const rows = groups.slice(0, most)
  const sorted = { ...report, groups }
  return (
    <>
      <div className="spend-space" role="region" aria-label="Table of calls and costs" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {by.map((name) => (
                <th key={name}>{SPEND_GROUPS[name as SpendGroup]}</th>
              ))}
              {NUMBERS.map(([, name]) => (
                <th key={name} className="number">
                  {name}
                </th>
              ))}
              <th className="number">Cost</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((group) => (
              <tr key={by.map((name) => JSON.stringify(group.group[name])).join()}>
                {by.map((name) => (
                  <td key={name}>
                    {group.group[name] === '' ? (
                      <span className="dim">none</span>
                    ) : (
                      <Value text={group.group[name] ?? ''} most={48} />
                    )}
                  </td>
                ))}
                <Figures group={group} />
              </tr>
            ))}
          </tbody>
          {total !== undefined && groups.length > 1 && (
            <tfoot>
              <tr>
                <th colSpan={by.length}>Total</th>
                <Figures group={total} />
              </tr>
            </tfoot>
          )}
        </table>
      </div>
      {rows.length < groups.length && (
        <p className="dim">
          {formatCount(rows.length)} of {formatCount(groups.length)} rows are shown; the files have all.{' '}
          <button type="button" className="link" onClick={() => setMost(most + PAGE_ROWS)}>
            Show more
          </button>
        </p>
      )}
      {isCut && <p className="spend-warning">▲ There are too many groups, and the cheapest are left out.</p>}
      <p className="spend-files">
        <Download text={printCsv(sorted)} name="spend.csv" type="text/csv" />
        <Download text={printJson(sorted)} name="spend.json" type="application/json" />
      </p>
    </>
  )
}

function Figures({ group }: { group: UsageGroup }) {
  return (
    <>
      {NUMBERS.map(([field, name]) => (
        <td key={name} className={WARNINGS.has(field) && group[field] > 0 ? 'number spend-warning' : 'number'}>
          {formatCount(group[field])}
        </td>
      ))}
      <td className="number">{spendingText(spendingOf(group))}</td>
    </>
  )
}

function inOrder({ by, groups }: UsageReport): readonly UsageGroup[] {
  if (!by.includes('day')) return groups
  // Groups of one day stay in the order of their costs.
  return groups.toSorted((one, other) => (other.group['day'] ?? '').localeCompare(one.group['day'] ?? ''))
}

const NUMBERS = [
  ['calls', 'Calls'],
  ['unpricedCalls', 'Unpriced'],
  ['estimatedCalls', 'Estimated'],
  ['inputTokens', 'Input'],
  ['cacheReadTokens', 'Cache read'],
  ['cacheWriteTokens', 'Cache written'],
  ['outputTokens', 'Output'],
  ['reasoningTokens', 'Reasoning'],
] as const
const WARNINGS: ReadonlySet<string> = new Set(['unpricedCalls'])
const PAGE_ROWS = 200
