/**
 * The possible types of a value; `dyn` is any type. An empty list means that there is never a value: `[][0]`, `fail()`.
 * Unions are wider than CEL's own types, because `1 == 1.0` and `[1, "a"]` are valid here.
 */
export type Type = 'dyn' | readonly Member[]

interface Member {
  /** The name that `type(value)` returns. A union has one member per name. */
  readonly name: string
  /** Type arguments: items of a list, keys and values of a map, the content of an optional. */
  readonly of: readonly Type[]
  /** Set in overloads only: stands for the type of the argument, within `of[0]`. */
  readonly isParameter?: true
}

export const never: Type = []
export const bool = scalar('bool')
export const int = scalar('int')
export const uint = scalar('uint')
export const double = scalar('double')
export const string = scalar('string')
export const bytes = scalar('bytes')
export const nullType = scalar('null_type')
export const typeType = scalar('type')
export const timestamp = scalar('google.protobuf.Timestamp')
export const duration = scalar('google.protobuf.Duration')

export function scalar(name: string): readonly Member[] {
  return [{ name, of: [] }]
}

export function listOf(items: Type): readonly Member[] {
  return [{ name: 'list', of: [items] }]
}

export function mapOf(keys: Type, values: Type): readonly Member[] {
  return [{ name: 'map', of: [keys, values] }]
}

export function optionalType(value: Type): readonly Member[] {
  return [{ name: 'optional_type', of: [value] }]
}

export function parameter(name: string, within: Type = 'dyn'): readonly Member[] {
  return [{ name, of: [within], isParameter: true }]
}

export const list = listOf('dyn')
export const map = mapOf('dyn', 'dyn')
export const number: Type = [...int, ...uint, ...double]

/** The union of the types. */
export function oneOf(...types: readonly Type[]): Type {
  return types.reduce(join, never)
}

export function join(left: Type, right: Type): Type {
  if (left === right) return left
  if (left === 'dyn' || right === 'dyn') return 'dyn'
  const joined = left.map((member) => {
    const other = memberOf(right, member.name)
    return other === undefined
      ? member
      : { ...member, of: member.of.map((type, at) => join(type, other.of[at] ?? never)) }
  })
  return [...joined, ...right.filter(({ name }) => memberOf(left, name) === undefined)]
}

/** The part of a type that is inside the bounds. */
export function within(type: Type, bounds: Type): Type {
  if (bounds === 'dyn') return type
  return type === 'dyn' ? bounds : type.filter(({ name }) => memberOf(bounds, name) !== undefined)
}

export function without(type: Type, other: readonly Member[]): Type {
  return type === 'dyn' ? type : type.filter(({ name }) => memberOf(other, name) === undefined)
}

/**
 * Whether the types have values in common. A type without values fits everything: it was rejected before, or fails on
 * purpose.
 */
export function mayBe(type: Type, other: Type): boolean {
  if (type === 'dyn' || other === 'dyn' || type.length === 0 || other.length === 0) return true
  return type.some(({ name }) => memberOf(other, name) !== undefined)
}

export function memberOf(type: Type, name: string): Member | undefined {
  return type === 'dyn' ? undefined : type.find((member) => member.name === name)
}

/** The type argument at a position of the member with this name; `dyn` for `dyn`, empty when there is no such member. */
export function partOf(type: Type, name: string, at: number): Type {
  return type === 'dyn' ? 'dyn' : (memberOf(type, name)?.of[at] ?? never)
}

/** `string or list(string)`. */
export function describeType(type: Type): string {
  if (type === 'dyn') return 'any value'
  return type.length === 0 ? 'nothing' : type.map(describeMember).join(' or ')
}

function describeMember({ name, of, isParameter }: Member): string {
  if (isParameter) return of[0] === undefined || of[0] === 'dyn' ? name : describeType(of[0])
  const short = SHORT_NAMES.get(name) ?? name
  const isPlain = of.every((part) => part === 'dyn' || part.length === 0)
  return isPlain ? short : `${short}(${of.map(describeType).join(', ')})`
}

const SHORT_NAMES = new Map([
  ['google.protobuf.Timestamp', 'timestamp'],
  ['google.protobuf.Duration', 'duration'],
  ['null_type', 'null'],
  ['optional_type', 'optional'],
])
