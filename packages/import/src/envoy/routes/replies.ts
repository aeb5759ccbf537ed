import { final, notImported, statusReply } from '../../chain/replies.ts'
import type { Directive, Handler } from '../../chain/routes.ts'
import type { Field } from '../../core/yaml-field.ts'
import { memberAt } from '../messages/message.ts'
import { inlineTextOf } from '../messages/secrets.ts'

const LONGEST_BODY = 4_096

export function readDirectResponse(response: Field, directive: Directive): Handler {
  const status = memberAt(response, 'status')
  const code = status?.number ?? 0
  if (!Number.isInteger(code) || code < 200 || code > 599) {
    status?.notCarried('the gateway responds only with a status from 200 to 599; matching requests get 501')
    return notImported(directive)
  }
  status?.carried()
  const source = memberAt(response, 'body')
  const text = inlineTextOf(source)
  const isUsable = text !== null && text.length <= LONGEST_BODY
  if (isUsable) source?.carried()
  else source?.notCarried('the body is not a text of at most 4096 characters')
  const body = isUsable && text !== '' ? { body: text, headers: [{ name: 'content-type', value: 'text/plain' }] } : {}
  return final((state) => statusReply(directive, code, state, body))
}
