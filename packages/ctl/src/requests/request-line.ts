import type { RequestSummary } from '@portico/gateway/admin-api'

/** Widths of all columns except the last. */
const WIDTHS = [12, 15, 6, 8, 8, 7, 40, 16, 20]

export const HEAD = columns([
  'TIME',
  'ID',
  'STATUS',
  'OUTCOME',
  'TOOK',
  'METHOD',
  'HOST AND PATH',
  'ROUTE',
  'BACKEND',
  'WHAT DECIDED',
])

/** Formats one request as a line. */
export function requestLine(request: RequestSummary): string {
  const { at, id, status, outcome, took, method, host, path, route, backend } = request
  return columns([
    new Date(at).toISOString().slice(11, 23),
    id,
    status === 0 ? '-' : String(status),
    outcome,
    duration(took),
    method ?? '-',
    `${host ?? ''}${path ?? ''}` || '-',
    route ?? '-',
    backend ?? '-',
    decision(request),
  ])
}

function decision({ reason, error, mcp, llm }: RequestSummary): string {
  if (reason !== null) {
    const { limit, reason: why, cause } = reason.values
    const said = [limit, why, cause, error].find((text) => typeof text === 'string' && text !== '')
    return `${reason.policy ?? reason.kind}: ${reason.code}${typeof said === 'string' ? ` (${said})` : ''}`
  }
  if (mcp !== null) return `${mcp.method}${mcp.name === null ? '' : ` ${mcp.name}`}`
  return llm === null ? '' : llm.requestModel
}

/** Formats a duration given in microseconds. */
export function duration(took: number): string {
  if (took < 10_000) return `${(took / 1000).toFixed(1)} ms`
  return took < 10_000_000 ? `${Math.round(took / 1000)} ms` : `${Math.round(took / 1_000_000)} s`
}

function columns(cells: readonly string[]): string {
  return cells
    .map((cell, index) => fitText(cell, WIDTHS[index] ?? 0))
    .join('  ')
    .trimEnd()
}

/** Cuts a text in the middle, so that both ends of a path stay visible. */
function fitText(text: string, width: number): string {
  if (width === 0) return text
  if (text.length <= width) return text.padEnd(width)
  const half = Math.floor((width - 1) / 2)
  return `${text.slice(0, width - 1 - half)}…${text.slice(text.length - half)}`
}
