import type { ModelPrice } from '@pydantic/genai-prices'

/** The prices of a million tokens by kind. A price that rises with the prompt names each threshold. */
export function printRates(price: ModelPrice): string {
  return KINDS.flatMap(([field, name]) => {
    const rate = price[field]
    if (rate === undefined) return []
    if (typeof rate === 'number') return [`${dollars(rate)} ${name}`]
    const steps = rate.tiers.map((tier) => `, ${dollars(tier.price)} above ${tier.start.toLocaleString('en-US')}`)
    return [`${dollars(rate.base)} ${name}${steps.length === 0 ? '' : ` (${steps.join('').slice(2)})`}`]
  }).join(', ')
}

const KINDS = [
  ['input_mtok', 'input'],
  ['cache_read_mtok', 'cache read'],
  ['cache_write_mtok', 'cache written'],
  ['output_mtok', 'output'],
  ['output_reasoning_mtok', 'reasoning'],
] as const

function dollars(rate: number): string {
  return `$${rate.toLocaleString('en-US', { minimumFractionDigits: Number.isInteger(rate) ? 0 : 2, maximumFractionDigits: 6 })}`
}
