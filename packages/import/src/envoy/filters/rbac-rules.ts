import type { Field } from '../../core/yaml-field.ts'
import { cidrOf } from '../../http/addresses.ts'
import { expressionOfCondition } from '../../http/conditions.ts'
import { readHeaderMatcher } from '../messages/field-matchers.ts'
import { memberAt, membersOf } from '../messages/message.ts'
import { expressionOfTest, readStringMatcher } from '../messages/string-matcher.ts'
import { joined, negated } from './expressions.ts'
import { claimExpression } from './rbac-claims.ts'

/** Properties that all connections of a port share. */
export interface ConnectionFacts {
  readonly port: number
  /** Whether Envoy takes the client's address from the connection and ignores `x-forwarded-for`. */
  readonly ignoresForwardedFor: boolean
}

/** Returns an RBAC Permission as a CEL expression; null when it cannot be expressed. */
export function permissionExpression(permission: Field, facts: ConnectionFacts): string | null {
  const [entry, ...others] = membersOf(permission)
  if (entry === undefined || others.length > 0) return null
  const [name, value] = entry
  switch (name) {
    case 'any':
      return String(value.isTrue)
    case 'and_rules':
    case 'or_rules':
      return combined(memberAt(value, 'rules'), name === 'and_rules', (each) => permissionExpression(each, facts))
    case 'not_rule':
      return opposite(permissionExpression(value, facts))
    case 'destination_port':
      return String(value.number === facts.port)
    case 'header':
      return expressionOfCondition(readHeaderMatcher(value))
    case 'url_path':
      return pathExpression(value)
    case 'metadata':
      return claimExpression(value)
    default:
      return null
  }
}

/** Returns an RBAC Principal as a CEL expression; null when it cannot be expressed. */
export function principalExpression(principal: Field, facts: ConnectionFacts): string | null {
  const [entry, ...others] = membersOf(principal)
  if (entry === undefined || others.length > 0) return null
  const [name, value] = entry
  switch (name) {
    case 'any':
      return String(value.isTrue)
    case 'and_ids':
    case 'or_ids':
      return combined(memberAt(value, 'ids'), name === 'and_ids', (each) => principalExpression(each, facts))
    case 'not_id':
      return opposite(principalExpression(value, facts))
    case 'source_ip':
      return addressExpression(value, 'source.address')
    case 'remote_ip':
      return facts.ignoresForwardedFor ? addressExpression(value, 'source.address') : null
    case 'direct_remote_ip':
      return addressExpression(value, 'source.rawAddress')
    case 'authenticated':
      return identityExpression(value)
    case 'header':
      return expressionOfCondition(readHeaderMatcher(value))
    case 'url_path':
      return pathExpression(value)
    case 'metadata':
      return claimExpression(value)
    default:
      return null
  }
}

function combined(list: Field | null, isAll: boolean, read: (item: Field) => string | null): string | null {
  const parts = (list?.items ?? []).map(read)
  const known = parts.flatMap((part) => part ?? [])
  return known.length < parts.length || known.length === 0 ? null : joined(known, isAll ? '&&' : '||')
}

function opposite(expression: string | null): string | null {
  return expression === null ? null : negated(expression)
}

function pathExpression(matcher: Field): string | null {
  const test = readStringMatcher(memberAt(matcher, 'path'))
  return typeof test === 'string' ? null : expressionOfTest(test, 'request.path')
}

function addressExpression(range: Field, address: string): string | null {
  const length = memberAt(range, 'prefix_len')?.text ?? '0'
  const cidr = cidrOf(`${memberAt(range, 'address_prefix')?.text ?? ''}/${length}`)
  return cidr === null ? null : `cidr(${JSON.stringify(cidr)}).containsIP(${address})`
}

/**
 * Returns an expression about the identity in a client certificate: its first URI, else its first DNS name, else its
 * subject.
 */
function identityExpression(value: Field): string | null {
  const matcher = memberAt(value, 'principal_name')
  if (matcher === null) return 'has(source.certificate)'
  const test = readStringMatcher(matcher)
  if (typeof test === 'string') return null
  return `has(source.certificate) && ${expressionOfTest(test, 'source.certificate.principal')}`
}
