import type { Span } from '@portico/regex'
import { DASHES, DIGITS, oneOf, type Rule, SPACES } from '../rule.ts'
import { isPhoneNumber, type PhoneShape } from './phone-plan.ts'

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
// A group of digits, perhaps in parentheses, behind what separates groups.
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

/** The longest number that begins here; it ends where a group ends. */
function numberEnd(text: string, start: number): number | null {
  const shape: PhoneShape = { isInternational: text[start] === '+', groups: [], areaInParentheses: false }
  const first = shape.isInternational ? start + 1 : start
  let digits = 0
  let longest: number | null = null
  for (let group = groupAt(text, first); group !== null; group = groupAt(text, GROUP.lastIndex)) {
    const [, separator, inParentheses, plain] = group
    const end = GROUP.lastIndex
    const isFirst = shape.groups.length === 0
    // Nothing may stand before the first group; digits that follow digits are one group already.
    if (isFirst ? separator !== '' : separator === '' && plain !== undefined && text[group.index - 1] !== ')') break
    digits += (inParentheses ?? plain)!.length
    if (digits > MAX_DIGITS || end - start > LONGEST || shape.groups.length === MAX_GROUPS) break
    // The trunk prefix of the country itself, which is not dialled from abroad.
    if (shape.isInternational && inParentheses === '0') continue
    shape.groups.push((inParentheses ?? plain)!)
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
