/** The cost by the price table. The cost of a model without a price is unknown, not zero. */
export type Cost = KnownCost | UnknownCost

interface KnownCost {
  readonly kind: 'known'
  readonly dollars: number
  /** The price table entries behind the cost. */
  readonly by: readonly PriceEntry[]
  /** Remarks on the figure. */
  readonly notes: readonly string[]
}

interface UnknownCost {
  readonly kind: 'unknown'
  readonly why: string
}

export interface PriceEntry {
  /** The provider and the model, as the price table names them. */
  readonly provider: string
  readonly model: string
  /** `$2.50 input, $10 output` for a million tokens. */
  readonly rates: string
}

/** Tokens of one call. Those of the cache are among the input, those of reasoning among the output. */
export interface TokenUsage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
}

/** A lookup in the price table. */
export interface PriceQuestion {
  /** As telemetry names the provider: `aws.bedrock`. */
  readonly provider: string
  /** Names of the model, the surest first. */
  readonly models: readonly string[]
  /** `host:port` where the config names another place than the provider's own; else empty. */
  readonly at: string
  /** Milliseconds since 1970: prices change. */
  readonly moment: number
}

/** The sum of several costs, some of which may be unknown. */
export interface CostSum {
  /** Null when no cost is known. */
  readonly dollars: number | null
  readonly by: readonly PriceEntry[]
  readonly notes: readonly string[]
  /** The reasons for unknown parts. */
  readonly unknown: readonly string[]
}

export function sumCosts(costs: readonly Cost[]): CostSum {
  const known = costs.filter((cost) => cost.kind === 'known')
  const unknown = costs.flatMap((cost) => (cost.kind === 'unknown' ? [cost.why] : []))
  const entries = new Map(known.flatMap(({ by }) => by.map((entry) => [`${entry.provider} ${entry.model}`, entry])))
  return {
    dollars: known.length === 0 ? null : known.reduce((sum, { dollars }) => sum + dollars, 0),
    by: [...entries.values()],
    notes: [...new Set(known.flatMap(({ notes }) => notes))],
    unknown: [...new Set(unknown)],
  }
}

/** US dollars. A tiny amount is not shown as zero. */
export function formatDollars(dollars: number): string {
  if (dollars === 0) return '$0'
  if (isLittle(dollars)) return '< $0.0001'
  if (dollars < 1) return `$${dollars.toFixed(4)}`
  return `$${dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}

/** The cost as text: an estimate, a lower bound, or `unknown`. */
export function costText({ dollars, unknown }: CostSum): string {
  if (dollars === null) return 'unknown'
  if (unknown.length > 0) return `≥ ${formatDollars(isLittle(dollars) ? 0 : dollars)}`
  return isLittle(dollars) ? formatDollars(dollars) : `≈ ${formatDollars(dollars)}`
}

function isLittle(dollars: number): boolean {
  return dollars > 0 && dollars < 0.0001
}
