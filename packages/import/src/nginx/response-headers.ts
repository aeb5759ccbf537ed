import type { Scope } from './directive.ts'
import { literalOf } from './text.ts'

/** The policy for `add_header`; empty without any. */
export function responseHeaders(scope: Scope): { headerModifiers?: object } {
  const add: object[] = []
  for (const directive of scope.all('add_header')) {
    const [name = '', value = '', always] = directive.args
    if (
      literalOf(value) === null ||
      !/^[\w!#$%&'*+.^`|~-]+$/.test(name) ||
      add.length >= 16 ||
      /[^\x20-\x7e]/.test(value)
    ) {
      directive.notCarried('the value contains variables, or the location adds more than 16 headers')
      continue
    }
    if (always === 'always') directive.carried()
    else directive.changed('the gateway adds the header to responses with every status')
    if (value !== '') add.push({ name: name.toLowerCase(), value })
  }
  return add.length === 0 ? {} : { headerModifiers: { response: { add } } }
}
