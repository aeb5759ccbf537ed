import * as fc from 'fast-check'
import { anyCharacter } from '../../../../../http/src/testing/any-character.ts'

/** A JSON value with its spelling: members in order, duplicate names, whitespace and escapes anywhere. */
type JsonText =
  | { kind: 'plain'; text: string }
  | { kind: 'list'; items: JsonText[]; space: string[] }
  | { kind: 'object'; members: WrittenMember[]; space: string[] }

interface WrittenMember {
  name: string
  /** The name as JSON text. */
  label: string
  value: JsonText
}

type JsonTextObject = JsonText & { kind: 'object' }

const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 2 })
const spaces = fc.array(space, { minLength: 6, maxLength: 6 })
const unit = fc.oneof(
  fc.constantFrom('"', '\\', '{', '}', '[', ']', ':', ',', '/', 'a', 'b', '\u00e9', '\ud83d\ude00', '\n', '\u0000'),
  fc.string({ unit: anyCharacter, maxLength: 1 }),
)
const text = fc.array(unit, { maxLength: 6 }).map((units) => units.join('').toWellFormed())
const name = fc.oneof(fc.constantFrom('model', 'a', 'b', '', '__proto__', 'toString'), text)

/** The text as a JSON string, sometimes with every character escaped. */
function label(value: fc.Arbitrary<string>): fc.Arbitrary<{ value: string; label: string }> {
  return fc.tuple(value, fc.boolean()).map(([value, escaped]) => ({
    value,
    label: escaped
      ? `"${[...Array(value.length).keys()].map((at) => hex(value.charCodeAt(at))).join('')}"`
      : JSON.stringify(value),
  }))
}

function hex(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`
}

const plain = fc
  .oneof(
    fc.constantFrom('null', 'true', 'false', '0', '-1.5e+3', '12345678901234567890', '1E400', '-0'),
    label(text).map((made) => made.label),
  )
  .map((text): JsonText => ({ kind: 'plain', text }))

const { value } = fc.letrec<{ value: JsonText; object: JsonTextObject; list: JsonText }>((tie) => ({
  value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, plain, tie('list'), tie('object')),
  list: fc
    .record({ items: fc.array(tie('value'), { maxLength: 3 }), space: spaces })
    .map((list): JsonText => ({ kind: 'list', ...list })),
  object: members(tie('value'), 3),
}))

function members(value: fc.Arbitrary<JsonText>, maxLength: number): fc.Arbitrary<JsonTextObject> {
  const member = fc
    .tuple(label(name), value)
    .map(([made, value]): WrittenMember => ({ name: made.value, label: made.label, value }))
  return fc
    .record({ members: fc.array(member, { maxLength }), space: spaces })
    .map((object): JsonTextObject => ({ kind: 'object', ...object }))
}

/** Objects that may have duplicate names, at any depth. */
export const writtenObject: fc.Arbitrary<JsonTextObject> = members(value, 6)

/** Objects without duplicate names, at any depth. */
export const properObject: fc.Arbitrary<JsonTextObject> = writtenObject.map(
  (object) => proper(object) as JsonTextObject,
)

function proper(value: JsonText): JsonText {
  if (value.kind === 'plain') return value
  if (value.kind === 'list') return { ...value, items: value.items.map(proper) }
  const members = new Map(value.members.map((member) => [member.name, { ...member, value: proper(member.value) }]))
  return { ...value, members: [...members.values()] }
}

export function isProper(value: JsonText): boolean {
  if (value.kind === 'plain') return true
  if (value.kind === 'list') return value.items.every(isProper)
  const names = value.members.map((member) => member.name)
  return new Set(names).size === names.length && value.members.every((member) => isProper(member.value))
}

export function write(value: JsonText): string {
  if (value.kind === 'plain') return value.text
  const [a = '', b = '', c = '', d = '', e = '', f = ''] = value.space
  if (value.kind === 'list') return `${a}[${b}${value.items.map(write).join(`${c},${d}`)}${e}]${f}`
  const members = value.members.map((member) => `${member.label}${c}:${d}${write(member.value)}`)
  return `${a}{${b}${members.join(`${e},${f}`)}${c}}${d}`
}
