import { passesLuhn } from '../luhn.ts'
import { accepted, DASHES, DIGITS, oneOf, type Rule, SPACES } from '../rule.ts'

const SEPARATOR = `[${DASHES}${SPACES}]`
const GROUPED = `[0-9]{3}${SEPARATOR}[0-9]{3}${SEPARATOR}[0-9]{3}`
const BARE = '(?<![0-9]\\.)[0-9]{9}(?!\\.[0-9])'
const PATTERN = new RegExp(`(?<![A-Za-z0-9_])(?:${GROUPED}|${BARE})(?![A-Za-z0-9_])`, 'g')

/** Social insurance numbers of Canada. */
export const caSin: Rule = {
  kind: 'CaSin',
  mask: '<CA_SIN>',
  longest: 11,
  canStartWith: oneOf(DIGITS),
  canContain: oneOf(DIGITS + DASHES + SPACES + '.'),
  matches: (text, from) => accepted(PATTERN, isValid, { text, from }),
}

function isValid(match: string): boolean {
  const digits = match.replace(/[^0-9]/g, '')
  return digits !== '000000000' && passesLuhn(digits)
}
