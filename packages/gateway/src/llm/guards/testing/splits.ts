import * as fc from 'fast-check'

/** A text in pieces, cut at places that the numbers choose; pieces may be empty. */
export function cutAt(text: string, places: readonly number[]): string[] {
  const cuts = places.map((place) => place % (text.length + 1)).sort((left, right) => left - right)
  return [0, ...cuts].map((cut, index) => text.slice(cut, cuts[index] ?? text.length))
}

export const somePlaces = fc.array(fc.nat({ max: 100_000 }), { maxLength: 12, size: 'max' })

const PRIVATE = [
  '123-45-6789',
  '123456789',
  '4111 1111 1111 1111',
  '4111111111111111',
  '(415) 555-0123',
  '+49 (0)30 1234567',
  'john.doe@example.com',
  '046 454 286',
  'secret-abcdef',
  'sk-0123456789',
  'PROJECT-X',
  '😀😀',
]
const AROUND = [
  ' ',
  '\n',
  '.',
  '-',
  '@',
  '(',
  '+',
  '"',
  '\\',
  'a',
  '_',
  'ä',
  '7',
  '0.',
  '<',
  'word',
  ' and ',
  '\ud83d',
  '\ude00',
]

/** Texts with private data, pieces of private data, and neutral text. */
export const privateText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...PRIVATE),
      fc.constantFrom(...PRIVATE).chain((text) => fc.nat({ max: text.length }).map((length) => text.slice(0, length))),
      fc.constantFrom(...AROUND),
      fc.stringMatching(/^[0-9]{1,9}$/),
    ),
    { maxLength: 16, size: 'max' },
  )
  .map((pieces) => pieces.join(''))

/** Several lines of private text, far longer than the text held back for a match. */
export const longPrivateText = fc
  .array(privateText, { minLength: 4, maxLength: 12, size: 'max' })
  .map((lines) => lines.join('\n'))
