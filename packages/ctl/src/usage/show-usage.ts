import type { UsageGroup, UsageReport } from '@portico/gateway/admin-api'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import type { AdminAddress } from '../trace/admin-address.ts'
import { csvField } from './csv-field.ts'
import { printTable } from './print-table.ts'
import { readReport } from './read-report.ts'

interface UsageRequest {
  readonly admin: AdminAddress
  readonly token: string | null
  readonly by: string
  readonly since: string
  readonly until: string | null
  readonly output: string
}

/** Prints the sums of the ledger; returns the exit code. */
export async function showUsage(request: UsageRequest, io: Io): Promise<number> {
  const report = await readReport(request)
  if (typeof report === 'string') return failWith(report, io)
  if (report.isCut) io.stderr.write('porticoctl: there are too many groups, and the cheapest are left out\n')
  io.stdout.write(printReport(report, request.output))
  return exitCode.fine
}

function printReport({ by, groups, ...report }: UsageReport, output: string): string {
  if (output === 'json') return `${JSON.stringify({ by, ...report, groups }, null, 2)}\n`
  const head = [...by, ...COLUMNS.map(({ title }) => title)]
  const rows = groups.map((group) => [
    ...by.map((name) => group.group[name] ?? ''),
    ...COLUMNS.map(({ cell }) => cell(group)),
  ])
  if (output === 'csv') return [head, ...rows].map((row) => `${row.map(csvField).join()}\n`).join('')
  return printTable([head.map((title) => title.toUpperCase()), ...rows], by.length)
}

/** An unknown cost is an empty cell, never 0. */
const COLUMNS: readonly { readonly title: string; readonly cell: (group: UsageGroup) => string }[] = [
  { title: 'calls', cell: ({ calls }) => String(calls) },
  { title: 'unpriced', cell: ({ unpricedCalls }) => String(unpricedCalls) },
  { title: 'estimated', cell: ({ estimatedCalls }) => String(estimatedCalls) },
  { title: 'cached', cell: ({ cachedCalls }) => String(cachedCalls) },
  { title: 'input', cell: ({ inputTokens }) => String(inputTokens) },
  { title: 'cacheRead', cell: ({ cacheReadTokens }) => String(cacheReadTokens) },
  { title: 'cacheWrite', cell: ({ cacheWriteTokens }) => String(cacheWriteTokens) },
  { title: 'output', cell: ({ outputTokens }) => String(outputTokens) },
  { title: 'reasoning', cell: ({ reasoningTokens }) => String(reasoningTokens) },
  { title: 'usd', cell: ({ costUsd }) => costUsd ?? '' },
  { title: 'savedUsd', cell: ({ savedUsd }) => savedUsd },
]
