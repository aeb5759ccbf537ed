import type { UsageGroup, UsageReport } from '@portico/gateway/admin-api'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import { openAdmin, readAll, refusal } from '../requests/ask-admin.ts'
import type { AdminAddress } from '../trace/admin-address.ts'

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

/** Returns the reason as a text when the ledger cannot be read. */
async function readReport({ admin, token, by, since, until }: UsageRequest): Promise<UsageReport | string> {
  const query = new URLSearchParams({ by, since, ...(until !== null && { until }) })
  const asked = { admin, token, path: `/api/usage?${query.toString()}` }
  const opened = await openAdmin(asked, ANSWER_WITHIN_MS)
  if (opened.kind === 'problem') return opened.problem
  const { response } = opened
  try {
    const text = await readAll(response)
    if (response.statusCode === 200) return JSON.parse(text) as UsageReport
    // Other servers respond with 404, too.
    const isAboutLedger = [404, 503].includes(response.statusCode ?? 0) && text.includes('ledger')
    return isAboutLedger ? `${admin.label}: ${text.trim()}` : refusal(asked, response, text)
  } catch {
    return `${admin.label} is not an admin server of Portico`
  }
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

/** Texts are on the left, and numbers on the right. */
function printTable(rows: readonly (readonly string[])[], texts: number): string {
  const cells = rows.map((row) => row.map((text) => (text === '' ? '-' : printable(text))))
  const widths = cells[0]?.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0))) ?? []
  const align = (text: string, i: number): string =>
    i < texts ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0)
  return cells.map((row) => `${row.map(align).join('  ').trimEnd()}\n`).join('')
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** An unknown cost is an empty cell, never 0. */
const COLUMNS: readonly { readonly title: string; readonly cell: (group: UsageGroup) => string }[] = [
  { title: 'calls', cell: ({ calls }) => String(calls) },
  { title: 'unpriced', cell: ({ unpricedCalls }) => String(unpricedCalls) },
  { title: 'estimated', cell: ({ estimatedCalls }) => String(estimatedCalls) },
  { title: 'input', cell: ({ inputTokens }) => String(inputTokens) },
  { title: 'cacheRead', cell: ({ cacheReadTokens }) => String(cacheReadTokens) },
  { title: 'cacheWrite', cell: ({ cacheWriteTokens }) => String(cacheWriteTokens) },
  { title: 'output', cell: ({ outputTokens }) => String(outputTokens) },
  { title: 'reasoning', cell: ({ reasoningTokens }) => String(reasoningTokens) },
  { title: 'usd', cell: ({ costUsd }) => costUsd ?? '' },
]

const ANSWER_WITHIN_MS = 30_000
