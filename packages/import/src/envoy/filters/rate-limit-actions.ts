import type { Field } from '../../core/yaml-field.ts'
import { expressionOfCondition } from '../../http/conditions.ts'
import { readHeaderMatcher } from '../messages/field-matchers.ts'
import { listAt, memberAt, membersOf } from '../messages/message.ts'

interface DescriptorEntry {
  readonly name: string
  readonly expression: string
}

/** Returns the descriptor of a RateLimit message; null when one of its actions cannot be expressed. */
export function descriptorOf(limit: Field, cluster: string | null): { entries: DescriptorEntry[] } | null {
  memberAt(limit, 'stage')?.notCarried("the gateway's rate limits have no stages")
  memberAt(limit, 'disable_key')?.notCarried('the gateway has no runtime values')
  if (memberAt(limit, 'limit') !== null || memberAt(limit, 'hits_addend') !== null) {
    limit.notCarried(
      'the descriptor changes the limit or the count, which has no counterpart: docs/global-rate-limits.md',
      true,
    )
    return null
  }
  const actions = listAt(limit, 'actions')
  const entries = actions.map((action) => entryOf(action, cluster))
  const known = entries.flatMap((entry) => entry ?? [])
  if (known.length < entries.length || known.length === 0 || known.length > 16) {
    limit.notCarried('an action of the descriptor has no counterpart: docs/global-rate-limits.md', true)
    return null
  }
  for (const action of actions) action.carried()
  return { entries: known }
}

function entryOf(action: Field, cluster: string | null): DescriptorEntry | null {
  const [name, value] = membersOf(action)[0] ?? []
  if (name === undefined || value === undefined) return null
  const key = memberAt(value, 'descriptor_key')?.text
  const literal = memberAt(value, 'descriptor_value')?.text
  switch (name) {
    case 'remote_address':
      return { name: 'remote_address', expression: 'source.address' }
    case 'destination_cluster':
      return cluster === null ? null : { name: 'destination_cluster', expression: JSON.stringify(cluster) }
    case 'generic_key':
      return literal == null ? null : { name: key ?? 'generic_key', expression: JSON.stringify(literal) }
    case 'request_headers': {
      const header = memberAt(value, 'header_name')?.text?.toLowerCase()
      if (header == null || key == null || memberAt(value, 'skip_if_absent')?.isTrue === true) return null
      return { name: key, expression: PSEUDO[header] ?? `request.headers[${JSON.stringify(header)}]` }
    }
    case 'header_value_match': {
      if (literal == null) return null
      const conditions = listAt(value, 'headers').map((matcher) => readHeaderMatcher(matcher))
      const found = expressionOfCondition({ kind: 'all', of: conditions })
      if (found === null) return null
      const test = memberAt(value, 'expect_match')?.text === 'false' ? `!(${found})` : found
      // A lookup that fails makes the expression fail, and the gateway then leaves out the descriptor.
      return { name: key ?? 'header_match', expression: `{true: ${JSON.stringify(literal)}}[${test}]` }
    }
    default:
      return null
  }
}

const PSEUDO: Readonly<Record<string, string>> = {
  ':path': 'request.pathAndQuery',
  ':method': 'request.method',
  ':authority': 'request.host',
  host: 'request.host',
}
