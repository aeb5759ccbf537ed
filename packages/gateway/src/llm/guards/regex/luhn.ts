/** Whether the last digit is the check digit of the others (ISO/IEC 7812-1 annex B). */
export function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let at = digits.length - 1, isDoubled = false; at >= 0; at--, isDoubled = !isDoubled) {
    const digit = digits.charCodeAt(at) - 0x30
    sum += isDoubled ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit
  }
  return sum % 10 === 0
}
