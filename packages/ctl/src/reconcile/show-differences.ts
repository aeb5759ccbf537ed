import { readFileSync } from 'node:fs'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import type { AdminAddress } from '../trace/admin-address.ts'
import { printTable } from '../usage/print-table.ts'
import { csvField } from '../usage/csv-field.ts'
import { readReport } from '../usage/read-report.ts'
import { type Measure, printNanos } from './amounts.ts'
import { compare, type Comparison, type Difference } from './compare.ts'
import { type Invoice, readInvoice } from './invoice.ts'

interface ReconcileRequest {
  readonly admin: AdminAddress
  readonly token: string | null
  readonly file: string
  /** A share of the invoice. */
  readonly tolerance: number
  readonly output: string
}

/** Prints what differs between an invoice and the ledger; returns the exit code. */
export async function showDifferences(
  { admin, token, file, tolerance, output }: ReconcileRequest,
  io: Io,
): Promise<number> {
  const invoice = readFile(file)
  if (typeof invoice === 'string') return failWith(`${file}: ${invoice}`, io)
  const days = invoice.lines.map(({ day }) => day).toSorted()
  const [since, last] = [days[0], days.at(-1)]
  if (since === undefined || last === undefined) return failWith(`${file}: the export has no usage`, io)
  const until = new Date(Date.parse(last) + DAY_MS).toISOString()
  const asked = { admin, token, by: 'day,provider,model', since: `${since}T00:00:00.000Z`, until }
  const report = await readReport(asked)
  if (typeof report === 'string') return failWith(report, io)
  if (report.isCut) return failWith('the ledger has too many models on these days: compare a shorter export', io)
  const comparison = compare(invoice, report.groups, tolerance)
  io.stdout.write(print({ invoice, since, until: last, comparison }, output))
  return comparison.differences.length === 0 ? exitCode.fine : DIFFERENT
}

/** Returns the problem as a text. */
function readFile(file: string): Invoice | string {
  try {
    return readInvoice(readFileSync(file, 'utf8'))
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

interface Result {
  readonly invoice: Invoice
  /** First and last day. */
  readonly since: string
  readonly until: string
  readonly comparison: Comparison
}

function print({ invoice, since, until, comparison }: Result, output: string): string {
  const { differences, totals, compared } = comparison
  if (output === 'json') {
    const result = {
      ...{ export: invoice.name, provider: invoice.provider, since, until, compared },
      differences: differences.map((each) => ({ day: each.day, model: each.model, ...viewOf(each) })),
      totals: totals.map(viewOf),
    }
    return `${JSON.stringify(result, null, 2)}\n`
  }
  const rows = differences.map((each) => [each.day, each.model, ...cellsOf(each)])
  const sums = totals.map((each) => ['total', '', ...cellsOf(each)])
  if (output === 'csv') return [HEAD, ...rows, ...sums].map((row) => `${row.map(csvField).join()}\n`).join('')
  const title = `${invoice.name}, ${since} to ${until}: ${differences.length} differences`
  return `${printable(title)}\n${printTable([HEAD.map((name) => name.toUpperCase()), ...rows, ...sums], 3)}`
}

function viewOf({ measure, invoice, ledger, unpricedCalls }: Omit<Difference, 'day' | 'model'>) {
  const value = (amount: bigint | null): string | number | null =>
    amount === null ? null : measure === 'nanoDollars' ? printNanos(amount) : Number(amount)
  return {
    measure: NAMES[measure],
    invoice: value(invoice),
    ledger: value(ledger),
    // The difference to an unknown cost is unknown.
    difference: value(ledger === null && unpricedCalls > 0 ? null : (ledger ?? 0n) - (invoice ?? 0n)),
    unpricedCalls,
  }
}

function cellsOf(each: Omit<Difference, 'day' | 'model'>): string[] {
  const { measure, invoice, ledger, difference, unpricedCalls } = viewOf(each)
  return [measure, ...[invoice, ledger, difference].map((value) => String(value ?? '')), String(unpricedCalls)]
}

const HEAD = ['day', 'model', 'measure', 'invoice', 'ledger', 'difference', 'unpriced']
const NAMES: Readonly<Record<Measure, string>> = {
  ...{ calls: 'calls', inputTokens: 'input', outputTokens: 'output', cacheReadTokens: 'cacheRead' },
  ...{ cacheWriteTokens: 'cacheWrite', nanoDollars: 'usd' },
}
const DAY_MS = 86_400_000
const DIFFERENT = 3
