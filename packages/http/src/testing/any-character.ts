import * as fc from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }

/**
 * Any character but halves of pairs, a unit of texts: the values of `unit: 'binary'`, for which fast-check writes down all
 * million characters in each process, and keeps them.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: 0x10_ffff - SURROGATES.count })
  .map(characterAt, indexOfCharacter)

function characterAt(index: number): string {
  return String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count)
}

/** Throws where something else is given, as fast-check asks for. */
function indexOfCharacter(value: unknown): number {
  const code = typeof value === 'string' ? value.codePointAt(0) : undefined
  if (code === undefined || String.fromCodePoint(code) !== value || !value.isWellFormed()) {
    throw new Error('this is not one character')
  }
  return code < SURROGATES.first ? code : code - SURROGATES.count
}
