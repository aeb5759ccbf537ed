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
    matcher.notCarried('write the whole names of the headers')
    return []
  })
}

/** Sets notes about the authorizer's headers that reach the client. */
export function noteHeaderOptions(response: Field | null): void {
  memberAt(response, 'allowed_client_headers')?.changed('a denied client gets all headers of the authorizer')
  memberAt(response, 'allowed_client_headers_on_success')?.notCarried(
    'an allowed client gets no headers of the authorizer',
  )
  memberAt(response, 'allowed_upstream_headers_to_append')?.notCarried(
    'headers of the authorizer replace those of the client',
  )
  memberAt(response, 'dynamic_metadata_from_headers')?.notCarried('responseMetadata has values of expressions')
}
