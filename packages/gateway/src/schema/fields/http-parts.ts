import { Refusal, scalar } from '../kit.ts'
import type { JsonObject, Schema } from '../kit.ts'
import { string, textual } from './values.ts'

/** Parts of HTTP messages. */

const token = "[A-Za-z0-9!#$%&'*+.^_`|~-]"

const pathPattern = /^\/[!$&'()*+,\-./0-9:;=@A-Z_a-z~%]*$/

/** Headers that frame a message on one connection; a rule that changes them would break the connection. */
export const framingHeaders: readonly string[] = [
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** Any header name, lower case out. */
export function headerName(): Schema<string> {
  return headerNameLike(`^${token}+$`, [])
}

/** The name of a header to look at; `:method`, `:authority`, `:path` and `:scheme` are the parts of the request line. */
export function readableHeaderName(): Schema<string> {
  return headerNameLike(`^(:(method|authority|path|scheme)|${token}+)$`, [])
}

/** The name of a header that rules may set, add or remove. */
export function editableHeaderName(): Schema<string> {
  return headerNameLike(`^${token}+$`, framingHeaders)
}

/** The name of an additional header, except those that every request of the gateway itself has. */
export function addedHeaderName(): Schema<string> {
  return headerNameLike(`^${token}+$`, [...framingHeaders, 'host', 'content-type'])
}

/** The name of a header that expressions may set, or one of these parts of the first line. */
export function transformableHeaderName(pseudo: readonly string[]): Schema<string> {
  const first = pseudo.length === 0 ? '' : `${pseudo.join('|')}|`
  return headerNameLike(`^(${first}${token}+)$`, framingHeaders)
}

/** A valid header value. */
export function headerValue() {
  const pattern = /^[\t\x20-\x7e\x80-\xff]*$/
  return string(
    { max: 4_096 },
    { pattern, expected: 'a header value: at most 4096 printable characters, no line breaks' },
  )
}

/** An absolute path without query; dot segments are refused, as they are in requests. */
export function urlPath(): Schema<string> {
  return textual((text) => (text.length <= 1_024 && pathPattern.test(text) && !hasDotSegment(text) ? text : null), {
    type: 'path',
    expected: 'a path that starts with `/`, of at most 1024 characters, without query, spaces or dot segments',
    json: { type: 'string', minLength: 1, maxLength: 1_024, pattern: pathPattern.source },
  })
}

/** A name as in the `Upgrade` header; lower case out. */
export function protocolToken(): Schema<string> {
  const pattern = new RegExp(`^${token}+(/${token}+)?$`)
  return textual(
    (text) => (text.length <= 64 && pattern.test(text) && text.toLowerCase() !== 'h2c' ? text.toLowerCase() : null),
    {
      type: 'protocol',
      expected: 'a protocol name such as `websocket`, but not `h2c`',
      json: { type: 'string', minLength: 1, maxLength: 64, pattern: pattern.source },
    },
  )
}

function hasDotSegment(path: string): boolean {
  if (!path.includes('.') && !path.includes('%')) return false
  return path.split('/').some((segment) => /^(\.|%2e){1,2}$/i.test(segment))
}

function headerNameLike(form: string, refused: readonly string[]): Schema<string> {
  const pattern = new RegExp(form)
  const json: JsonObject = { type: 'string', minLength: 1, maxLength: 256, pattern: pattern.source }
  const rule = `!(self.lowerAscii() in ['${refused.join("', '")}'])`
  const message = 'headers that frame a message cannot be changed'
  return scalar(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type')
      if (input.length > 256 || !pattern.test(input)) return new Refusal('bad_format')
      const name = input.toLowerCase()
      return refused.includes(name) ? new Refusal('not_allowed', { detail: message }) : name
    },
    {
      type: 'header name',
      expected: 'a header name of 1 to 256 token characters',
      json,
      crd: refused.length === 0 ? json : { ...json, 'x-kubernetes-validations': [{ rule, message }] },
    },
  )
}
