import { type Amounts, type Measure, readNanos } from './amounts.ts'
import { type CsvRow, readCsv } from './read-csv.ts'

/** The usage or the costs of a vendor. */
export interface Invoice {
  /** The name of the export, such as `costs of OpenAI`. */
  readonly name: string
  /** The vendor's name in telemetry, which is the `provider` of ledger entries. */
  readonly provider: string
  /** The measures that the export has. */
  readonly measures: readonly Measure[]
  readonly lines: readonly InvoiceLine[]
}

interface InvoiceLine {
  /** A day of UTC, such as `2026-11-18`. */
  readonly day: string
  /** Empty when the vendor names no model. */
  readonly model: string
  readonly amounts: Amounts
}

/** Reads an export of OpenAI or Anthropic, which the columns tell apart; returns the problem with its line as a text. */
export function readInvoice(text: string): Invoice | string {
  const rows = readCsv(text)
  if (typeof rows === 'string') return rows
  const [head, ...body] = rows
  if (head === undefined) return 'the file is empty'
  const names = head.fields.map((name) => name.trim())
  const format = FORMATS.find(({ required }) => required.every((name) => names.includes(name)))
  if (format === undefined) return `line ${head.line}: ${unknownFormat()}`
  const known = new Set([...format.required, ...format.others])
  const strange = names.filter((name) => !known.has(name))
  if (strange.length > 0) {
    const listed = strange.map((name) => JSON.stringify(name)).join(', ')
    return `line ${head.line}: unknown column ${listed} in an export of the ${format.name}, which might change the sums`
  }
  if (new Set(names).size < names.length) return `line ${head.line}: a column occurs twice`
  const lines: InvoiceLine[] = []
  for (const row of body) {
    if (row.fields.length !== names.length) {
      return `line ${row.line}: found ${row.fields.length} fields, expected ${names.length}`
    }
    const line = format.read(new InvoiceFields(names, row))
    if (line instanceof FieldProblem) return `line ${row.line}: ${line.message}`
    if (line !== null) lines.push(line)
  }
  const { name, provider, measures } = format
  return { name, provider, measures, lines }
}

class FieldProblem {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

/** The fields of one row by the names of their columns. Readers note the first problem. */
class InvoiceFields {
  readonly #names: readonly string[]
  readonly #row: CsvRow
  problem: FieldProblem | null = null

  constructor(names: readonly string[], row: CsvRow) {
    this.#names = names
    this.#row = row
  }

  /** Empty for a column that the export does not have. */
  text(name: string): string {
    return this.#row.fields[this.#names.indexOf(name)]?.trim() ?? ''
  }

  /** An empty field is 0. */
  count(name: string): number {
    const text = this.text(name)
    const count = Number(text)
    if (/^\d{1,15}(\.0+)?$/.test(text) || text === '') return count
    this.#fail(name, text, 'a whole number')
    return 0
  }

  cost(name: string): bigint {
    const text = this.text(name)
    const nanos = readNanos(text)
    if (nanos === null) this.#fail(name, text, 'a decimal number')
    return nanos ?? 0n
  }

  /** The day of a date or timestamp of UTC. */
  day(name: string): string {
    const text = this.text(name)
    const match = /^(\d{4}-\d\d-\d\d)(?:T[\d:.]+(?:Z|\+00:00))?$/.exec(text)
    const day = match?.[1] ?? ''
    if (Number.isNaN(Date.parse(day))) this.#fail(name, text, 'a date of UTC such as 2026-11-18')
    return day
  }

  /** Returns the line, or the first problem of its fields. */
  line(model: string, day: string, amounts: Partial<Amounts>): InvoiceLine | FieldProblem {
    return this.problem ?? { day, model, amounts: { ...NOTHING, ...amounts } }
  }

  fail(message: string): FieldProblem {
    return (this.problem ??= new FieldProblem(message))
  }

  #fail(name: string, text: string, expected: string): void {
    this.fail(`${name}: found ${JSON.stringify(text)}, expected ${expected}`)
  }
}

interface InvoiceFormat extends Omit<Invoice, 'lines'> {
  /** Columns that tell this export apart. */
  readonly required: readonly string[]
  /** Further columns that the export may have. */
  readonly others: readonly string[]
  /** Null for a row without usage. */
  read(fields: InvoiceFields): InvoiceLine | FieldProblem | null
}

const NOTHING: Amounts = {
  ...{ calls: null, inputTokens: null, outputTokens: null, cacheReadTokens: null, cacheWriteTokens: null },
  nanoDollars: null,
}
const OPENAI_TIMES = ['start_time', 'end_time', 'end_time_iso', 'project_id', 'project_name', 'user_id', 'user_email']
const ANTHROPIC_KEYS = [
  ...['api_key', 'api_key_id', 'api_key_status', 'workspace', 'workspace_id', 'usage_type', 'context_window'],
  ...['inference_geo', 'speed', 'service_tier'],
]

const FORMATS: readonly InvoiceFormat[] = [
  {
    ...{ name: 'costs of OpenAI', provider: 'openai', measures: ['nanoDollars'] },
    required: ['start_time_iso', 'amount_value', 'amount_currency', 'line_item'],
    others: [...OPENAI_TIMES, 'organization_id', 'organization_name', 'api_key_id', 'quantity'],
    read(fields) {
      // A day without costs has a row without an amount.
      if (fields.text('amount_value') === '') return null
      const currency = fields.text('amount_currency').toLowerCase()
      if (currency !== 'usd') return fields.fail(`amount_currency: found ${JSON.stringify(currency)}, expected usd`)
      // `gpt-5.5, input`: a model and the kind of its tokens.
      const model = fields.text('line_item').split(', ')[0] ?? ''
      return fields.line(model, fields.day('start_time_iso'), { nanoDollars: fields.cost('amount_value') })
    },
  },
  {
    ...{ name: 'usage of OpenAI', provider: 'openai' },
    measures: ['calls', 'inputTokens', 'outputTokens', 'cacheReadTokens'],
    required: ['start_time_iso', 'num_model_requests', 'model', 'input_tokens'],
    others: [
      ...[...OPENAI_TIMES, 'api_key_id', 'api_key_name', 'batch', 'service_tier', 'output_tokens'],
      ...['input_cached_tokens', 'input_uncached_tokens', 'input_cache_write_tokens', 'input_text_tokens'],
      ...['output_text_tokens', 'input_cached_text_tokens', 'input_audio_tokens', 'input_cached_audio_tokens'],
      ...['output_audio_tokens', 'input_image_tokens', 'input_cached_image_tokens', 'output_image_tokens'],
    ],
    read(fields) {
      if (fields.text('model') === '' && fields.text('num_model_requests') === '') return null
      return fields.line(fields.text('model'), fields.day('start_time_iso'), {
        calls: fields.count('num_model_requests'),
        inputTokens: fields.count('input_tokens'),
        outputTokens: fields.count('output_tokens'),
        cacheReadTokens: fields.count('input_cached_tokens'),
      })
    },
  },
  {
    ...{ name: 'costs of Anthropic', provider: 'anthropic', measures: ['nanoDollars'] },
    required: ['usage_date_utc', 'model', 'cost_usd'],
    others: [...ANTHROPIC_KEYS, 'token_type', 'list_price_usd', 'cost_type'],
    read: (fields) =>
      fields.line(fields.text('model'), fields.day('usage_date_utc'), { nanoDollars: fields.cost('cost_usd') }),
  },
  {
    ...{ name: 'usage of Anthropic', provider: 'anthropic' },
    measures: ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'],
    required: ['usage_date_utc', 'model_version', 'usage_input_tokens_no_cache', 'usage_output_tokens'],
    others: [
      ...[...ANTHROPIC_KEYS, 'usage_input_tokens_cache_write_5m', 'usage_input_tokens_cache_write_1h'],
      ...['usage_input_tokens_cache_read', 'web_search_count'],
    ],
    read(fields) {
      const cacheReadTokens = fields.count('usage_input_tokens_cache_read')
      const cacheWriteTokens =
        fields.count('usage_input_tokens_cache_write_5m') + fields.count('usage_input_tokens_cache_write_1h')
      return fields.line(fields.text('model_version'), fields.day('usage_date_utc'), {
        // The ledger counts cached tokens as input, too.
        inputTokens: fields.count('usage_input_tokens_no_cache') + cacheReadTokens + cacheWriteTokens,
        outputTokens: fields.count('usage_output_tokens'),
        cacheReadTokens,
        cacheWriteTokens,
      })
    },
  },
]

function unknownFormat(): string {
  const known = FORMATS.map(({ name, required }) => `${name} (${required.join(', ')})`)
  return `the columns are those of no known export; known are the ${known.join('; ')}`
}
