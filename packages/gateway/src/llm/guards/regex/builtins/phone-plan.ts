/** Digits as they are grouped, without what separates the groups. */
export interface PhoneShape {
  /** Begins with a plus. */
  isInternational: boolean
  groups: string[]
  areaInParentheses: boolean
}

/** Whether some plan numbers telephones so, and people write it so: dates and amounts have digits and dashes, too. */
export function isPhoneNumber({ isInternational, groups, areaInParentheses }: PhoneShape): boolean {
  const hasPrefix = groups[0]!.startsWith('0')
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
