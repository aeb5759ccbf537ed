/** A finite number with so many decimals. `toFixed` rounds halves up and gives up at 1e21. */
export function roundHalfEven(number: number, decimals: number): string {
  const { numerator, power } = exactFraction(Math.abs(number))
  const scaled = numerator * 10n ** BigInt(decimals)
  const divisor = 2n ** BigInt(power)
  const [whole, rest] = [scaled / divisor, (scaled % divisor) * 2n]
  const isUp = rest > divisor || (rest === divisor && whole % 2n === 1n)
  const digits = String(isUp ? whole + 1n : whole).padStart(decimals + 1, '0')
  const sign = number < 0 ? '-' : ''
  const point = digits.length - decimals
  return decimals === 0 ? sign + digits : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** Every double is a whole number over a power of two. */
function exactFraction(number: number): { numerator: bigint; power: number } {
  let power = 0
  let scaled = number
  while (!Number.isInteger(scaled)) {
    scaled *= 2
    power++
  }
  return { numerator: BigInt(scaled), power }
}
