import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEX, TARGET, TARGET_KIND, TOKEN, VALUE } from './chars.ts'

/** The bytes of a class, as latin1 text. */
function bytesOf(table: Uint8Array, kind = 1): string {
  return Buffer.from([...table.keys()].filter((byte) => table[byte] === kind)).toString('latin1')
}

const DIGITS = '0123456789'
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LOWER = UPPER.toLowerCase()
const OBS_TEXT = Buffer.from(Array.from({ length: 128 }, (_, index) => 128 + index)).toString('latin1')

test('methods and names are of the bytes that RFC 9110 section 5.6.2 lists', () => {
  assert.equal(bytesOf(TOKEN), `!#$%&'*+-.${DIGITS}${UPPER}^_\`${LOWER}|~`)
})

test('values are of visible bytes, space, tab and bytes beyond ASCII', () => {
  const marks = ` !"#$%&'()*+,-./${DIGITS}:;<=>?@${UPPER}[\\]^_\`${LOWER}{|}~`
  assert.equal(bytesOf(VALUE), `\t${marks}${OBS_TEXT}`)
})

test('targets are of visible ASCII without a number sign and a backslash', () => {
  const target = `!"$%&'()*+,-./${DIGITS}:;<=>?@${UPPER}[]^_\`${LOWER}{|}~`
  assert.equal(bytesOf(TARGET), target)
  assert.equal(bytesOf(TARGET_KIND), target.replace('%', '').replace('.', ''))
  assert.equal(bytesOf(TARGET_KIND, 2), '%.')
})

test('hexadecimal digits have their value, and no other byte has one', () => {
  for (const [value, digit] of '0123456789abcdef'.split('').entries()) {
    for (const spelled of [digit, digit.toUpperCase()]) assert.equal(HEX[spelled.charCodeAt(0)], value)
  }
  assert.equal(HEX.filter((value) => value !== 255).length, 22)
  for (const table of [TOKEN, VALUE, TARGET, TARGET_KIND, HEX]) assert.equal(table.length, 256)
})
