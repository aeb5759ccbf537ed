import type { RequestList, RequestSummary } from '@portico/gateway/admin-api'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import { askAdmin } from '../requests/ask-admin.ts'
import type { AdminAddress } from '../trace/admin-address.ts'
import { type ShadowRow, type ShadowSelection, type ShadowSummary, summarizeShadows } from './summary.ts'

interface ShadowRequest extends ShadowSelection {
  readonly last: string
  readonly route: string | null
  readonly token: string | null
  readonly isJson: boolean
}

/** Prints what shadow policies would have done, from the records of all gateways. */
export async function showShadow(admins: readonly AdminAddress[], request: ShadowRequest, io: Io): Promise<number> {
  const found: RequestSummary[] = []
  for (const admin of admins) {
    const problem = await readShadowed(admin, request, found)
    if (problem !== null) return failWith(problem, io)
  }
  const summary = summarizeShadows(found, request)
  io.stdout.write(request.isJson ? `${JSON.stringify(summary)}\n` : printSummary(summary, request.last))
  return exitCode.fine
}

/** Reads the records of requests with shadow policies, page by page; returns the problem as a string, or null. */
async function readShadowed(
  admin: AdminAddress,
  { last, route, token, outcomes }: ShadowRequest,
  found: RequestSummary[],
): Promise<string | null> {
  const query = new URLSearchParams({ since: last, limit: '1000', shadow: outcomes.join(',') })
  if (route !== null) query.set('route', route)
  for (;;) {
    const answer = await askAdmin<RequestList>({ admin, token, path: `/api/requests?${query.toString()}` })
    if (answer.kind === 'problem') return answer.problem
    if (answer.kind === 'notFound') return answer.text
    const { requests, next } = answer.value
    found.push(...requests)
    if (next === null || requests.length === 0) return null
    query.set('before', next)
  }
}

function printSummary({ requests, from, to, rows }: ShadowSummary, last: string): string {
  if (from === null || to === null) {
    return `no request of the last ${last} met such a shadow, as far as the gateway has records\n`
  }
  const cells = rows.map(cellsOf)
  const widths = HEAD.map((title, index) => Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0)))
  const lines = [HEAD, ...cells].map((row) =>
    row
      .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
  const count = requests === 1 ? '1 recorded request' : `${requests} recorded requests`
  return `${count} from ${time(from)} to ${time(to)}\n${lines.join('\n')}\n`
}

const HEAD = ['OUTCOME', 'POLICY', 'ROUTE', 'COUNT', 'EXAMPLE', 'MOST FREQUENT CAUSE']

function cellsOf({ outcome, policy, route, count, causes, example }: ShadowRow): string[] {
  return [outcome, policy, route, String(count), example.id, causes[0]?.text ?? ''].map(printable)
}

function time(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ')
}
