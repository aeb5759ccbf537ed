/** `$0.25`, or `1,000 tokens`. */
export function amountText(amount: number, unit: 'usd' | 'tokens'): string {
  return unit === 'tokens' ? `${groupedText(amount)} tokens` : `$${dollarText(amount)}`
}

/** Billionths of a US dollar as an exact decimal text, such as `0.25`. */
export function dollarText(nanoDollars: number): string {
  const [whole, fraction = ''] = (nanoDollars / 1e9).toFixed(9).split('.')
  return `${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`
}

/**
 * Returns a number with commas, such as `1,000`. `toLocaleString` is slower, because it looks for the locale at each
 * call.
 */
export function groupedText(amount: number): string {
  return NUMBERS.format(amount)
}

const NUMBERS = new Intl.NumberFormat('en-US')
