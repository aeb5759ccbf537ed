import { bundledRow, type ConfiguredPrice, configuredPrices, type PriceRow } from '@portico/gateway/prices'
import { loadFile } from '../effective/load-file.ts'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import { csvField } from '../usage/csv-field.ts'
import { printTable } from '../usage/print-table.ts'

interface PricesRequest {
  /** Null for the prices that the gateway contains. */
  readonly file: string | null
  /** Null to check the models of the config. */
  readonly model: string | null
  readonly provider: string | null
  readonly output: string
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Prints the prices of models, and where they come from; returns the exit code. */
export function showPrices({ file, model, provider, output, now }: PricesRequest, io: Io): number {
  const all = file === null ? bundledPrice(model ?? '', provider ?? '', now) : readPrices(file, model, now, io)
  if (all === null) return exitCode.failed
  const prices = all.filter((price) => provider === null || price.provider === provider)
  if (prices.length === 0) return failWith(`${file ?? 'the table'} has no calls to ${provider ?? 'models'}`, io)
  io.stdout.write(print(prices, output))
  return prices.some(({ model: name, row }) => name !== null && row === null) ? UNPRICED : exitCode.fine
}

function bundledPrice(model: string, provider: string, now: number): ConfiguredPrice[] {
  const row = bundledRow({ provider, at: '', moment: now }, model)
  return [{ route: '', backend: '', provider, model, hasPolicy: true, row }]
}

/** Prints the problems of the config and returns null when it is invalid. */
function readPrices(file: string, model: string | null, now: number, io: Io): ConfiguredPrice[] | null {
  const loaded = loadFile(file, io.env)
  if (!('problems' in loaded)) return configuredPrices(loaded.ir, model, now)
  for (const problem of loaded.problems) io.stderr.write(`${printable(problem)}\n`)
  return null
}

function print(prices: readonly ConfiguredPrice[], output: string): string {
  const views = prices.map(viewOf)
  if (output === 'json') return `${JSON.stringify(views, null, 2)}\n`
  const rows = views.map(({ rates, ...names }) => [
    ...Object.values(names).map((value) => value ?? ''),
    ...RATES.map((name) => rates?.[name] ?? ''),
  ])
  const head = ['route', 'backend', 'provider', 'model', 'price', 'source', ...RATES]
  if (output === 'csv') return [head, ...rows].map((row) => `${row.map(csvField).join()}\n`).join('')
  return printTable([head.map((name) => name.toUpperCase()), ...rows], 6)
}

function viewOf({ route, backend, provider, model, hasPolicy, row }: ConfiguredPrice) {
  return {
    ...{ route, backend, provider },
    model: model ?? 'chosen by clients',
    price: row?.name ?? (model === null ? '' : 'none'),
    source: row?.table ?? (hasPolicy ? '' : 'no prices policy'),
    rates: row === null ? null : ratesOf(row),
  }
}

const RATES = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'perCall'] as const

/** US dollars for a million tokens or calls. */
function ratesOf({ rates, perCall }: PriceRow): Partial<Record<(typeof RATES)[number], string>> {
  const listed = RATES.flatMap((name) => {
    if (name === 'perCall') return perCall === null || perCall === 0 ? [] : [[name, String(perCall / 1e6)]]
    const rate = rates[name]
    if (rate === undefined) return []
    const steps = rate.steps.map((step) => `${step.rate / 1e6} above ${step.over}`)
    return [[name, [String(rate.base / 1e6), ...steps].join(', ')]]
  })
  return Object.fromEntries(listed) as Partial<Record<(typeof RATES)[number], string>>
}

const UNPRICED = 3
