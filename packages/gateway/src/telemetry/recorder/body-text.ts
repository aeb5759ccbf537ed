import { REDACTED } from '../../admin/redact.ts'
import type { RecordedBody } from './record.ts'
import type { KeptBytes } from './kept-bytes.ts'

type Headers = { forEach(visit: (name: string, value: string) => void): void }

/**
 * A body as it may be stored; null where there was none. Only text that is not compressed is kept: in anything else
 * nobody could find what must not be shown.
 */
export function bodyText(kept: KeptBytes, headers: Headers, redaction: BodyRedaction): RecordedBody | null {
  const { bytes, isCut } = kept
  if (bytes.length === 0) return null
  let type = ''
  let isEncoded = false
  headers.forEach((name, value) => {
    if (/^content-type$/i.test(name)) type = value
    else if (/^content-encoding$/i.test(name) && !/^identity$/i.test(value)) isEncoded = true
  })
  const isText = /^(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|jsonl|xml|x-www-form-urlencoded|graphql)\b)/i.test(
    type,
  )
  if (!isText || isEncoded) return { text: null, base64: null, isCut: true }
  const isForm = /x-www-form-urlencoded/i.test(type)
  return { text: hidden(bytes.toString('utf8'), isForm, redaction), base64: null, isCut }
}

export interface BodyRedaction {
  readonly isSecret: (name: string) => boolean
  readonly text: (text: string) => string
}

/** By the names of members, in JSON that may break off anywhere or stand in events; then by what looks like a secret. */
function hidden(text: string, isForm: boolean, { isSecret, text: redacted }: BodyRedaction): string {
  if (isForm) return redacted(`?${text}`).slice(1)
  const named = text.replaceAll(MEMBER, (member, name: string, space: string) =>
    isSecret(name) ? `"${name}"${space}"${REDACTED}"` : member,
  )
  return named
    .split(/(?<=\n)/)
    .map((line) => redacted(line))
    .join('')
}

/** A member whose value is a string or a number; what broke off within the value ends with the text. */
const MEMBER = /"((?:[^"\\]|\\.)*)"(\s*:\s*)(?:"(?:[^"\\]|\\[^])*(?:"|\\?$)|-?\d[\d.eE+-]*)/g
