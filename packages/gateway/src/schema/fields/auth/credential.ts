import { Refusal, scalar } from '../../kit.ts'
import type { Schema } from '../../kit.ts'
import { locateSecret, secretJson, withoutLineEnd } from '../references.ts'

const credentialPattern = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/

/** An inline credential. */
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

/** A credential: inline, or in its own file or environment variable. */
export function secretValue({ min = 1, max }: { min?: number; max: number }): Schema<string> {
  const read = (text: string): string | Refusal => {
    if (text.length > max) return new Refusal('out_of_range', { detail: 'a longer text' })
    if (text !== '' && text.length < min) return new Refusal('out_of_range', { detail: 'a shorter text' })
    return parseCredential(text)
  }
  const expected = `${min} to ${max} printable characters, \`{file: path}\` or \`{env: NAME}\``
  return scalar<string>(
    (input) => {
      // `sources` reads secrets from files and variables before this value is used.
      if (locateSecret(input) !== null) return ''
      return typeof input === 'string' ? read(input) : new Refusal('wrong_type')
    },
    {
      type: 'secret',
      expected,
      json: {
        anyOf: [{ type: 'string', minLength: min, maxLength: max, pattern: credentialPattern.source }, secretJson],
      },
      secret: true,
      refers: { to: 'contents', locate: locateSecret, expected, pem: null, read: (text) => read(withoutLineEnd(text)) },
    },
  )
}

/** Accepts text that fits into a header unchanged. */
export function parseCredential(text: string): string | Refusal {
  if (credentialPattern.test(text)) return text
  return new Refusal('bad_format', {
    detail: text === '' ? 'nothing' : 'spaces at an end, line breaks or other unprintable characters',
  })
}
