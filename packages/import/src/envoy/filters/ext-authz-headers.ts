import type { Field } from '../../core/yaml-field.ts'
import { listAt, memberAt } from '../messages/message.ts'
import { readStringMatcher } from '../messages/string-matcher.ts'

/** Returns the header names in a ListStringMatcher. Patterns are reported as not carried. */
export function allowedNames(list: Field | null): string[] {
  return listAt(list, 'patterns').flatMap((matcher) => {
    const exact = memberAt(matcher, 'exact')?.text?.toLowerCase()
    if (typeof readStringMatcher(matcher) !== 'string' && exact != null && /^[\w!#$%&'*+.^`|~-]+$/.test(exact)) {
      matcher.carried()
      return [exact]
    }
    matcher.notCarried('the gateway needs whole header names instead of patterns')
    return []
  })
}

/** Sets notes about the authorizer's headers that reach the client. */
export function noteHeaderOptions(response: Field | null): void {
  memberAt(response, 'allowed_client_headers')?.changed(
    'the gateway sends all headers of the authorizer to a denied client',
  )
  memberAt(response, 'allowed_client_headers_on_success')?.notCarried(
    'the gateway sends no headers of the authorizer to an allowed client',
  )
  memberAt(response, 'allowed_upstream_headers_to_append')?.notCarried(
    "the authorizer's headers replace the client's headers instead of being appended",
  )
  memberAt(response, 'dynamic_metadata_from_headers')?.notCarried('configure responseMetadata with expressions')
}
