/** `$0.25`, or `1,000 tokens`. */
export function amountText(amount: number, unit: 'usd' | 'tokens'): string {
  return unit === 'tokens' ? `${amount.toLocaleString('en-US')} tokens` : `$${dollarText(amount)}`
}

/** Billionths of a US dollar as an exact decimal text, such as `0.25`. */
export function dollarText(nanoDollars: number): string {
  const [whole, fraction = ''] = (nanoDollars / 1e9).toFixed(9).split('.')
  return `${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`
}
