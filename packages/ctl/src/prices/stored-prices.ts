import type { PriceListView, StoredPriceView } from '@portico/gateway/admin-api'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { askStore } from '../keys/ask-store.ts'
import { printable } from '../printable.ts'
import type { AdminAddress } from '../trace/admin-address.ts'
import { csvField } from '../usage/csv-field.ts'
import { printTable } from '../usage/print-table.ts'

interface StoredPriceAction {
  readonly action: 'set' | 'remove' | 'list'
  /** The model of the price; empty for `list`. */
  readonly model: string
  readonly provider: string | null
  /** The rates and other fields of the price. */
  readonly fields: object
  readonly output: string
  readonly admin: AdminAddress
  readonly token: string | null
}

/** Lists, sets or removes prices of a running gateway; returns the exit code. */
export async function changePrices(request: StoredPriceAction, io: Io): Promise<number> {
  const { action, model, provider, fields } = request
  if (action === 'list') return listPrices(request, io)
  const named = { model, ...(provider !== null && { provider }) }
  const call =
    action === 'set'
      ? { method: 'POST', path: '/api/prices', body: { ...named, ...fields } }
      : { method: 'DELETE', path: `/api/prices?${new URLSearchParams(named).toString()}`, body: null }
  const answer = await askStore<object>(request, call)
  if (typeof answer === 'string') return failWith(answer, io)
  const at = provider === null ? 'any provider' : provider
  io.stderr.write(printable(`${action === 'set' ? 'set' : 'removed'} the price of ${model} at ${at}`) + '\n')
  return exitCode.fine
}

async function listPrices(request: StoredPriceAction, io: Io): Promise<number> {
  const answer = await askStore<PriceListView>(request, { method: 'GET', path: '/api/prices', body: null })
  if (typeof answer === 'string') return failWith(answer, io)
  const { output, provider } = request
  const prices = answer.prices.filter((price) => provider === null || price.provider === provider)
  if (output === 'json') {
    io.stdout.write(`${JSON.stringify(prices, null, 2)}\n`)
    return exitCode.fine
  }
  const rows = prices.map(rowOf)
  const text =
    output === 'csv'
      ? [HEAD, ...rows].map((row) => `${row.map(csvField).join()}\n`).join('')
      : printTable([HEAD.map((name) => name.toUpperCase()), ...rows.map((row) => row.map(printable))], HEAD.length)
  io.stdout.write(text)
  return exitCode.fine
}

/** Returns a price as a row whose values have the form of the options of `set`, so that they can be typed again. */
function rowOf({ provider = '', model, changed, ...price }: StoredPriceView): string[] {
  const texts = ['rates', 'units', 'perCall', 'tiers'].map((name) => textOf(price[name]))
  return [provider, model, ...texts, changed]
}

function textOf(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value)
  return Object.entries(value)
    .map(([name, price]) => `${name}=${price}`)
    .join()
}

const HEAD = ['provider', 'model', 'rates', 'units', 'perCall', 'tiers', 'changed']
