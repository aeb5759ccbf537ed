import type { Field } from '../../core/yaml-field.ts'
import { listAt, memberAt } from '../messages/message.ts'
import { expressionOfTest, readStringMatcher } from '../messages/string-matcher.ts'

/** Returns an expression for a MetadataMatcher about token claims; null for other metadata. */
export function claimExpression(matcher: Field): string | null {
  if (memberAt(matcher, 'filter')?.text !== 'envoy.filters.http.jwt_authn') return null
  // The first key of the path is the name under which `jwt_authn` stores the claims.
  const [, ...claims] = listAt(matcher, 'path').map((part) => memberAt(part, 'key')?.text ?? '')
  if (claims.length === 0 || claims.includes('')) return null
  const claim = `jwt${claims.map((name) => `[${JSON.stringify(name)}]`).join('')}`
  const found = valueExpression(memberAt(matcher, 'value'), claim)
  if (found === null) return null
  return memberAt(matcher, 'invert')?.isTrue === true ? `!(${found})` : found
}

function valueExpression(value: Field | null, claim: string): string | null {
  const text = memberAt(value, 'string_match')
  if (text !== null) {
    const test = readStringMatcher(text)
    return typeof test === 'string' ? null : expressionOfTest(test, `string(default(${claim}, ""))`)
  }
  const item = memberAt(value, 'list_match', 'one_of', 'string_match')
  if (item !== null) {
    const test = readStringMatcher(item)
    return typeof test === 'string'
      ? null
      : `default(${claim}, []).exists(each, ${expressionOfTest(test, 'string(each)')})`
  }
  const flag = memberAt(value, 'bool_match')
  if (flag !== null) return `default(${claim}, ${!flag.isTrue}) == ${flag.isTrue}`
  return memberAt(value, 'present_match')?.isTrue === true ? `default(${claim}, null) != null` : null
}
