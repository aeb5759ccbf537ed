/** Prints billionths of a dollar as an exact decimal number, with at least two digits after the point. */
export function printDollars(nanoDollars: bigint): string {
  const digits = nanoDollars.toString().padStart(10, '0')
  const fraction = digits.slice(-9).replace(/0{1,7}$/, '')
  return `${digits.slice(0, -9)}.${fraction}`
}
