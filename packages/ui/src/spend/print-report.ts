import type { UsageGroup, UsageReport } from '@portico/gateway/admin-api'

/** The table as CSV, with the columns of `porticoctl usage -o csv`. An unknown cost is an empty field, never 0. */
export function printCsv({ by, groups }: UsageReport): string {
  const rows = groups.map((group) => [
    ...by.map((name) => inertText(group.group[name] ?? '')),
    ...COLUMNS.map(({ cell }) => cell(group)),
  ])
  return [[...by, ...COLUMNS.map(({ title }) => title)], ...rows].map((row) => `${row.map(quoted).join()}\n`).join('')
}

export function printJson(report: UsageReport): string {
  return `${JSON.stringify(report, null, 2)}\n`
}

/** Clients choose names of models: a name that begins like a formula would run in a spreadsheet. */
function inertText(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

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
