import type { Span } from '@portico/regex'
import { DASHES, DIGITS, oneOf, type Rule, SPACES } from '../rule.ts'

const LONGEST = 40

/** Telephone numbers: international ones, and national ones of the US, Canada, the UK, Germany, Israel, India, Brazil. */
export const phoneNumber: Rule = {
  kind: 'PhoneNumber',
  mask: '<PHONE_NUMBER>',
  longest: LONGEST,
  canStartWith: oneOf(`${DIGITS}+(`),
  canContain: oneOf(`${DIGITS}+().${DASHES}${SPACES}`),
  matches: findNumbers,
}

const MIN_DIGITS = 8
const MAX_DIGITS = 17
const MAX_GROUPS = 7
const START = /(?<![A-Za-z0-9_])[+(0-9]/g
const IN_NUMBER = /(?<=[0-9]\.)./y
// A group of digits, possibly in parentheses, after its separator.
const GROUP = new RegExp(`([${DASHES}.${SPACES}]{0,3})(?:\\(([0-9]{1,5})\\)|([0-9]{1,18}))`, 'y')
const GOES_ON = /[A-Za-z0-9_]|\.[0-9]/y

function* findNumbers(text: string, from: number): Generator<Span> {
  START.lastIndex = from
  for (let found = START.exec(text); found !== null; found = START.exec(text)) {
    const start = found.index
    const end = numberEnd(text, start)
    if (end !== null) yield { start, end }
    START.lastIndex = end ?? start + 1
  }
}

/** The end of the longest number from `start`; a number ends at the end of a digit group. */
function numberEnd(text: string, start: number): number | null {
  const shape: PhoneShape = { isInternational: text[start] === '+', groups: [], areaInParentheses: false }
  const first = shape.isInternational ? start + 1 : start
  let digits = 0
  let longest: number | null = null
  for (let group = groupAt(text, first); group !== null; group = groupAt(text, GROUP.lastIndex)) {
    const [, separator, inParentheses, plain] = group
    const end = GROUP.lastIndex
    const isFirst = shape.groups.length === 0
    // The first group has no separator; adjacent digits are already one group.
    if (isFirst ? separator !== '' : separator === '' && plain !== undefined && text[group.index - 1] !== ')') break
    digits += (inParentheses ?? plain ?? '').length
    if (digits > MAX_DIGITS || end - start > LONGEST || shape.groups.length === MAX_GROUPS) break
    // The trunk prefix of the country itself, which is not dialled from abroad.
    if (shape.isInternational && inParentheses === '0') continue
    shape.groups.push(inParentheses ?? plain ?? '')
    if (isFirst) shape.areaInParentheses = inParentheses !== undefined
    if (digits >= MIN_DIGITS && isPhoneNumber(shape) && isWhole(text, start, end, shape)) longest = end
  }
  return longest
}

function groupAt(text: string, at: number): RegExpExecArray | null {
  GROUP.lastIndex = at
  return GROUP.exec(text)
}

/** Digits alone may be part of a word, or of a number with a fraction. */
function isWhole(text: string, start: number, end: number, { groups, isInternational }: PhoneShape): boolean {
  if (isDigit(text, end)) return false
  if (isInternational || groups.length > 1) return true
  return !testAt(GOES_ON, text, end) && !testAt(IN_NUMBER, text, start)
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0x30 && code <= 0x39
}

function testAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
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
