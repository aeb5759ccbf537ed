import { Refusal, scalar } from './kit.ts'
import type { Schema } from './kit.ts'

const credentialPattern = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/

/** A credential written in place. */
export function secretText({ max }: { max: number }): Schema<string> {
  return scalar(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type')
      return input.length > max ? new Refusal('out_of_range', { detail: 'a longer text' }) : parseCredential(input)
    },
    {
      type: 'secret',
      expected: `a credential of 1 to ${max} printable characters`,
      json: { type: 'string', minLength: 1, maxLength: max, pattern: credentialPattern.source },
      secret: true,
    },
  )
}

/** Text that can stand in a header line whole, so that nothing of it is lost on the way. */
export function parseCredential(text: string): string | Refusal {
  if (credentialPattern.test(text)) return text
  return new Refusal('bad_format', {
    detail: text === '' ? 'nothing' : 'spaces at an end, line breaks or other unprintable characters',
  })
}
