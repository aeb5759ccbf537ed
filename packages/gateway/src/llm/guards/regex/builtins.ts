import type { Rule } from './text-masker.ts'
import type { Builtin } from './schema.ts'
import type { Span } from '@portico/regex'

function oneOf(characters: string): (code: number) => boolean {
  const codes = new Set(Array.from(characters, (character) => character.charCodeAt(0)))
  return (code) => codes.has(code)
}

const DIGITS = '0123456789'
/** Models also write non-breaking hyphens and spaces. */
const DASHES = '-\u2010\u2011\u2012\u2013\u2014\u2015\u2212'
const SPACES = ' \u00a0\u2009\u202f'

/** Every match of the pattern that `isReal` accepts; the pattern must have the flag `g`. */
function* accepted(
  pattern: RegExp,
  isReal: (match: string) => boolean,
  { text, from }: { text: string; from: number },
): Generator<Span> {
  pattern.lastIndex = from
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const start = found.index
    const end = start + found[0].length
    const isMatch = isReal(found[0])
    if (isMatch) yield { start, end }
    // The consumer of the generator may have used the pattern for another text meanwhile.
    pattern.lastIndex = isMatch ? end : start + 1
  }
}

/** Text after digits that makes them part of a word, or of a number with a fraction. */
const GOES_ON = /[A-Za-z0-9_]|\.[0-9]/y
/** Nine digits that are neither the fraction nor the whole part of a number. */
const NINE_DIGITS = '(?<![0-9]\\.)[0-9]{9}(?!\\.[0-9])'

function testAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
}

/** Whether the last digit is the check digit of the others (ISO/IEC 7812-1 annex B). */
export function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let at = digits.length - 1, isDoubled = false; at >= 0; at--, isDoubled = !isDoubled) {
    const digit = digits.charCodeAt(at) - 0x30
    sum += isDoubled ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit
  }
  return sum % 10 === 0
}

/** Addresses of electronic mail whose domain has a dot. */
const email: Rule = {
  kind: 'Email',
  mask: '<EMAIL_ADDRESS>',
  longest: 255,
  canStartWith: isLocal,
  canContain: (code) => code === AT || isLocal(code),
  matches: findAddresses,
}

const AT = 0x40
const MAX_LOCAL = 64
const MAX_DOMAIN = 190
// Letters of other scripts are excluded, because such scripts write addresses without spaces around them.
const LETTER = 'A-Za-z\\u00aa\\u00ba\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u024f\\u1e00-\\u1eff'
const LOCAL = new RegExp(`[${LETTER}0-9_.%+-]`)
/** By code unit; the letters end before this size. */
const IS_LOCAL = Uint8Array.from({ length: 0x1f00 }, (_, code) => Number(LOCAL.test(String.fromCharCode(code))))
const DOMAIN = new RegExp(
  `(?:[${LETTER}0-9-]{1,63}\\.)+(?:xn--[A-Za-z0-9-]{1,59}|[${LETTER}]{2,63})(?![${LETTER}0-9])`,
  'y',
)

function isLocal(code: number): boolean {
  return IS_LOCAL[code] === 1
}

/** Goes from one `@` to the next, so that each character is looked at a few times at most. */
function* findAddresses(text: string, from: number): Generator<Span> {
  let first = from
  for (let at = text.indexOf('@', from); at !== -1; at = text.indexOf('@', at + 1)) {
    const start = localStart(text, Math.max(first, at - MAX_LOCAL), at)
    const end = start < at ? domainEnd(text, at + 1) : null
    if (end === null) continue
    yield { start, end }
    first = end
  }
}

function localStart(text: string, earliest: number, at: number): number {
  let start = at
  while (start > earliest && isLocal(text.charCodeAt(start - 1))) start--
  return start
}

function domainEnd(text: string, start: number): number | null {
  // The text is cut after the longest domain plus one character, which the lookahead needs.
  const part = text.slice(start, start + MAX_DOMAIN + 1)
  DOMAIN.lastIndex = 0
  const found = DOMAIN.exec(part)
  return found === null || found[0].length > MAX_DOMAIN ? null : start + found[0].length
}

const LONGEST_PHONE = 40

/** Telephone numbers: international ones, and national ones of the US, Canada, the UK, Germany, Israel, India, Brazil. */
const phoneNumber: Rule = {
  kind: 'PhoneNumber',
  mask: '<PHONE_NUMBER>',
  longest: LONGEST_PHONE,
  canStartWith: oneOf(`${DIGITS}+(`),
  canContain: oneOf(`${DIGITS}+().${DASHES}${SPACES}`),
  matches: findPhones,
}

const MIN_PHONE_DIGITS = 8
const MAX_PHONE_DIGITS = 17
const MAX_PHONE_GROUPS = 7
const PHONE_START = /(?<![A-Za-z0-9_])[+(0-9]/g
const IN_NUMBER = /(?<=[0-9]\.)./y
// A group of digits, possibly in parentheses, after its separator.
const PHONE_GROUP = new RegExp(`([${DASHES}.${SPACES}]{0,3})(?:\\(([0-9]{1,5})\\)|([0-9]{1,18}))`, 'y')

function* findPhones(text: string, from: number): Generator<Span> {
  PHONE_START.lastIndex = from
  for (let found = PHONE_START.exec(text); found !== null; found = PHONE_START.exec(text)) {
    const start = found.index
    const end = phoneEnd(text, start)
    if (end !== null) yield { start, end }
    PHONE_START.lastIndex = end ?? start + 1
  }
}

/** The end of the longest number from `start`; a number ends at the end of a digit group. */
function phoneEnd(text: string, start: number): number | null {
  const shape: PhoneShape = { isInternational: text[start] === '+', groups: [], areaInParentheses: text[start] === '(' }
  const first = shape.isInternational ? start + 1 : start
  let digits = 0
  let longest: number | null = null
  for (let group = phoneGroupAt(text, first); group !== null; group = phoneGroupAt(text, PHONE_GROUP.lastIndex)) {
    const [, separator, inParentheses, plain] = group
    const end = PHONE_GROUP.lastIndex
    const isFirst = shape.groups.length === 0
    // The first group has no separator; adjacent digits are already one group.
    if (isFirst ? separator !== '' : separator === '' && plain !== undefined && text[group.index - 1] !== ')') break
    digits += (inParentheses ?? plain ?? '').length
    if (digits > MAX_PHONE_DIGITS || end - start > LONGEST_PHONE || shape.groups.length === MAX_PHONE_GROUPS) break
    // The trunk prefix of the country itself, which is not dialled from abroad.
    if (shape.isInternational && inParentheses === '0') continue
    shape.groups.push(inParentheses ?? plain ?? '')
    if (digits >= MIN_PHONE_DIGITS && isPhoneNumber(shape) && isWholePhone(text, start, end, shape)) longest = end
  }
  return longest
}

function phoneGroupAt(text: string, at: number): RegExpExecArray | null {
  PHONE_GROUP.lastIndex = at
  return PHONE_GROUP.exec(text)
}

/** Digits alone may be part of a word, or of a number with a fraction. */
function isWholePhone(text: string, start: number, end: number, { groups, isInternational }: PhoneShape): boolean {
  if (isDigit(text, end)) return false
  if (isInternational || groups.length > 1) return true
  return !testAt(GOES_ON, text, end) && !testAt(IN_NUMBER, text, start)
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0x30 && code <= 0x39
}

/** The digit groups of a number, without separators. */
interface PhoneShape {
  /** Begins with a plus. */
  isInternational: boolean
  groups: string[]
  areaInParentheses: boolean
}

/** Whether some plan numbers telephones so, and people write it so: dates and amounts have digits and dashes, too. */
function isPhoneNumber({ isInternational, groups, areaInParentheses }: PhoneShape): boolean {
  const hasPrefix = groups[0]?.startsWith('0') === true
  if (!isInternational && !hasPrefix && groups.length > MAX_NATIONAL_GROUPS) return false
  const digits = groups.join('')
  if (isInternational) return INTERNATIONAL.test(digits)
  if (digits.startsWith('00')) return digits.length >= 11 && INTERNATIONAL.test(digits.slice(2))
  const lengths = groups.map((group) => group.length).join('-')
  if (hasPrefix) {
    return (
      (WITH_TRUNK_PREFIX.test(digits) && /^(?:[3-9]|1[0-2])(?:-(?:[2-9]|10))*$/.test(lengths)) ||
      (ISRAEL_LANDLINE.test(digits) && /^2-(?:7|3-4)$/.test(lengths))
    )
  }
  return (
    (NORTH_AMERICA.test(digits) && /^(?:1-)?(?:10|3-3-4|3-7|6-4)$|^11$/.test(lengths)) ||
    (INDIA_MOBILE.test(digits) && /^(?:10|5-5|4-3-3|3-3-4)$/.test(lengths)) ||
    (BRAZIL.test(digits) && (areaInParentheses || /^2-(?:[45]-4|[89])$/.test(lengths)))
  )
}

const MAX_NATIONAL_GROUPS = 4
const COUNTRY_CODES =
  '7|20|27|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|(?:2[1-69]|3[578]|42|5[09]|6[7-9]|8[0578]|9[679])[0-9]'
// E.164: at most fifteen digits.
const INTERNATIONAL = new RegExp(`^(?:1[2-9][0-9]{2}[2-9][0-9]{6}|(?=[0-9]{8,15}$)(?:${COUNTRY_CODES})[0-9]+)$`)
const NORTH_AMERICA = /^1?[2-9][0-9]{2}[2-9][0-9]{6}$/
const INDIA_MOBILE = /^[6-9][0-9]{9}$/
const BRAZIL = /^[1-9]{2}(?:9[0-9]{8}|[2-5][0-9]{7})$/
const ISRAEL_LANDLINE = /^0[2-489][0-9]{7}$/
/** The UK, Germany, India, Israel. */
const WITH_TRUNK_PREFIX = /^0[1-9][0-9]{7,10}$/

/** Numbers of payment cards: an issuer that exists, its length, groups of three digits or more, the check digit. */
const creditCard: Rule = {
  kind: 'CreditCard',
  mask: '<CREDIT_CARD>',
  longest: 24,
  canStartWith: oneOf('123456'),
  canContain: oneOf(DIGITS + DASHES + SPACES + '.'),
  matches: findCards,
}

const MIN_CARD_DIGITS = 13
const MAX_CARD_DIGITS = 19
const CARD_START = /(?<![A-Za-z0-9_]|[0-9]\.)[1-6][0-9]{3}/g
const CARD_GROUP = new RegExp(`[${DASHES}${SPACES}]?([0-9]{3,20})`, 'y')

/** Prefixes and lengths of ISO/IEC 7812 numbers that are in use. */
const ISSUED_CARD = new RegExp(
  [
    '^1[0-9]{14}$', // UATP
    '^2[2-7][0-9]{14}$', // Mastercard
    '^3[47][0-9]{13}$', // American Express
    '^3[0689][0-9]{12,17}$', // Diners Club
    '^35[0-9]{14,17}$', // JCB
    '^4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})$', // Visa
    '^5[1-5][0-9]{14}$', // Mastercard
    '^5[06-9][0-9]{11,17}$', // Maestro
    '^6[0-9]{12,18}$', // Discover, UnionPay, Maestro, RuPay
  ].join('|'),
)

function* findCards(text: string, from: number): Generator<Span> {
  CARD_START.lastIndex = from
  for (let found = CARD_START.exec(text); found !== null; found = CARD_START.exec(text)) {
    const start = found.index
    const end = cardEnd(text, start)
    if (end !== null) yield { start, end }
    CARD_START.lastIndex = end ?? start + 1
  }
}

/** The end of the longest card number from `start`; a number ends at the end of a digit group. */
function cardEnd(text: string, start: number): number | null {
  let digits = ''
  let longest: number | null = null
  CARD_GROUP.lastIndex = start
  for (let group = CARD_GROUP.exec(text); group !== null; group = CARD_GROUP.exec(text)) {
    digits += group[1] ?? ''
    if (digits.length > MAX_CARD_DIGITS) break
    if (digits.length >= MIN_CARD_DIGITS && isCard(digits) && !testAt(GOES_ON, text, CARD_GROUP.lastIndex))
      longest = CARD_GROUP.lastIndex
  }
  return longest
}

function isCard(digits: string): boolean {
  return ISSUED_CARD.test(digits) && passesLuhn(digits)
}

const DASH = `[${DASHES}]`
const SSN_SEPARATOR = `[${DASHES}${SPACES}.]`
const SSN_FORMS = [
  NINE_DIGITS,
  `[0-9]{3}${SSN_SEPARATOR}[0-9]{2}${SSN_SEPARATOR}[0-9]{4}`,
  `[0-9]{5}${DASH}[0-9]{4}`,
  `[0-9]{3}${DASH}[0-9]{6}`,
]
const SSN_PATTERN = new RegExp(`(?<![A-Za-z0-9_])(?:${SSN_FORMS.join('|')})(?![A-Za-z0-9_])`, 'g')

/** Social security numbers of the United States; taxpayer numbers have the same form and are as private. */
const ssn: Rule = {
  kind: 'Ssn',
  mask: '<SSN>',
  longest: 11,
  canStartWith: oneOf(DIGITS),
  canContain: oneOf(DIGITS + DASHES + SPACES + '.'),
  matches: (text, from) => accepted(SSN_PATTERN, isAssignable, { text, from }),
}

/** No number has an area of 000 or 666, or a part that is all zeros. */
function isAssignable(match: string): boolean {
  return !/^(?:000|666)|^[0-9]{3}00|0000$/.test(match.replace(/[^0-9]/g, ''))
}

const SIN_SEPARATOR = `[${DASHES}${SPACES}]`
const SIN_GROUPS = `[0-9]{3}${SIN_SEPARATOR}[0-9]{3}${SIN_SEPARATOR}[0-9]{3}`
const SIN_PATTERN = new RegExp(`(?<![A-Za-z0-9_])(?:${SIN_GROUPS}|${NINE_DIGITS})(?![A-Za-z0-9_])`, 'g')

/** Social insurance numbers of Canada. */
const caSin: Rule = {
  kind: 'CaSin',
  mask: '<CA_SIN>',
  longest: 11,
  canStartWith: oneOf(DIGITS),
  canContain: oneOf(DIGITS + DASHES + SPACES + '.'),
  matches: (text, from) => accepted(SIN_PATTERN, isInsuranceNumber, { text, from }),
}

function isInsuranceNumber(match: string): boolean {
  const digits = match.replace(/[^0-9]/g, '')
  return digits !== '000000000' && passesLuhn(digits)
}

/** The rules of `builtins` in the config. */
export const builtins: Readonly<Record<Builtin, Rule>> = {
  Ssn: ssn,
  CreditCard: creditCard,
  PhoneNumber: phoneNumber,
  Email: email,
  CaSin: caSin,
}
