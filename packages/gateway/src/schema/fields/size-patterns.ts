/**
 * Patterns for sizes within bounds, for the Kubernetes API server. It cannot compare numbers written as text, and CEL
 * rules would cost too much, because the API server assumes that a field that may be a number is a text of any length.
 */

/** Patterns of units, and their sizes in bytes. */
const UNITS: readonly (readonly [pattern: string, bytes: number])[] = [
  ['[bB]?', 1],
  ['k', 1e3],
  ['M', 1e6],
  ['G', 1e9],
  ['(Ki|[kK][iI]?[bB])', 2 ** 10],
  ['(Mi|[mM][iI]?[bB])', 2 ** 20],
  ['(Gi|[gG][iI]?[bB])', 2 ** 30],
]

/** The maximum number of digits after the decimal point. */
const DECIMALS = 6
const MILLION = 10n ** BigInt(DECIMALS)

/** A pattern that matches valid sizes of at most `bytes`. */
export function sizesUpTo(bytes: number): string {
  return patternOf((unit) => {
    const [whole, decimals] = partsOf((BigInt(bytes) * MILLION) / BigInt(unit))
    const below = Array.from(whole).flatMap((digit, at) =>
      digit === '0' ? [] : [`${whole.slice(0, at)}${digits(0, Number(digit) - 1)}${any(whole.length - at - 1)}`],
    )
    const shorter = whole.length > 1 ? [`[0-9]{1,${whole.length - 1}}`] : []
    // The significant digits; zeros may follow.
    const last = decimals.replace(/0+$/, '')
    const behind = Array.from(last).flatMap((digit, at) => {
      const lower = `${last.slice(0, at)}${digits(0, Number(digit) - 1)}[0-9]*`
      return digit === '0' ? [last.slice(0, at + 1)] : [lower, last.slice(0, at + 1)]
    })
    const less = [...shorter, ...below]
    const smaller = less.length === 0 ? '' : `(${less.join('|')})(\\.[0-9]+)?|`
    const equal = last === '' ? '0+' : `(${behind.join('|')})0*`
    return `0*(${smaller}${whole}(\\.${equal})?)`
  })
}

/** A pattern that matches valid sizes of at least `bytes`. */
export function sizesFrom(bytes: number): string {
  // The pattern of the form already rejects fractions of a byte.
  if (bytes === 1) return '[1-9]'
  return patternOf((unit) => {
    const [whole, decimals] = partsOf((BigInt(bytes) * MILLION + BigInt(unit) - 1n) / BigInt(unit))
    const above = Array.from(whole).flatMap((digit, at) =>
      digit === '9' ? [] : [`${whole.slice(0, at)}${digits(Number(digit) + 1, 9)}${any(whole.length - at - 1)}`],
    )
    const longer = `[1-9][0-9]{${whole.length},}`
    const last = decimals.replace(/0+$/, '')
    const behind = Array.from(last).flatMap((digit, at) =>
      digit === '9' ? [] : [`${last.slice(0, at)}${digits(Number(digit) + 1, 9)}[0-9]*`],
    )
    const equal = last === '' ? `${whole}(\\.[0-9]+)?` : `${whole}\\.(${[...behind, `${last}[0-9]*`].join('|')})`
    return `0*((${[longer, ...above].join('|')})(\\.[0-9]+)?|${equal})`
  })
}

function patternOf(numbers: (unit: number) => string): string {
  return `^(${UNITS.map(([unit, bytes]) => `${numbers(bytes)}${unit}`).join('|')})$`
}

/** The digits before and after the decimal point. */
function partsOf(millionths: bigint): [string, string] {
  const text = String(millionths).padStart(DECIMALS + 1, '0')
  return [text.slice(0, -DECIMALS), text.slice(-DECIMALS)]
}

function digits(from: number, to: number): string {
  return from === to ? String(from) : `[${from}-${to}]`
}

function any(count: number): string {
  return count === 0 ? '' : `[0-9]{${count}}`
}
