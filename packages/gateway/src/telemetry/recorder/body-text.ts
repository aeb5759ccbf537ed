import { type BodyRedaction, redactBody } from '../../redaction/redact-body.ts'
import type { RecordedBody } from './record.ts'
import type { KeptBytes } from './kept-bytes.ts'

type Headers = { forEach(visit: (name: string, value: string) => void): void }

/**
 * Returns the redacted body for a record; null without a body. Only uncompressed text is recorded, because secrets in other
 * content cannot be found.
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
  return { text: redactBody(bytes.toString('utf8'), isForm, redaction), base64: null, isCut }
}
