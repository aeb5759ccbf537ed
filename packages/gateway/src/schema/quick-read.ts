import {
  absenceOf,
  fieldOf,
  type ListNode,
  type MapNode,
  type ObjectNode,
  Refusal,
  repeated,
  type Schema,
} from './kit.ts'
import { areKept } from './rules.ts'

/**
 * Returned when the quick reader cannot decide; the input may have problems, which only the full validation reports.
 */
export const UNREAD: unique symbol = Symbol('unread')
type UnreadMark = typeof UNREAD

/**
 * Reads a valid input: the same value as Zod, in a fifth of the time and with less garbage. Config files with thousands
 * of routes are almost always valid.
 */
export function readQuickly<Out>(schema: Schema<Out>, input: unknown): Out | UnreadMark {
  return readerOf(schema)(input) as Out | UnreadMark
}

type Reader = (input: unknown) => unknown

const readers = new WeakMap<Schema, Reader>()

function readerOf(schema: Schema): Reader {
  const known = readers.get(schema)
  if (known !== undefined) return known
  const made = makeReader(schema)
  readers.set(schema, made)
  return made
}

function makeReader(schema: Schema): Reader {
  const { node } = fieldOf(schema)
  switch (node.kind) {
    case 'scalar': {
      const { read } = node
      return (input) => {
        const value = read(input)
        return value === undefined || value instanceof Refusal ? UNREAD : value
      }
    }
    case 'list':
      return (input) => readList(input, node)
    case 'map':
      return (input) => readMap(input, node)
    case 'object': {
      const reader = new ObjectReader(node)
      return (input) => reader.read(input)
    }
  }
}

function readList(input: unknown, { item, min, max, uniqueBy }: ListNode): unknown {
  if (!Array.isArray(input) || input.length < min || input.length > max) return UNREAD
  const read = readerOf(item)
  // `map` instead of `push`, which allocates room for 17 items with the first.
  const values = input.map(read)
  if (values.includes(UNREAD)) return UNREAD
  return uniqueBy !== null && repeated(values, uniqueBy).length > 0 ? UNREAD : values
}

function readMap(input: unknown, { value: schema, min, max }: MapNode): unknown {
  if (!isMapping(input)) return UNREAD
  const read = readerOf(schema)
  const values: Record<string, unknown> = {}
  let count = 0
  for (const key in input) {
    const value = key === '__proto__' ? UNREAD : read(input[key])
    if (value === UNREAD) return UNREAD
    values[key] = value
    count++
  }
  return count < min || count > max ? UNREAD : values
}

interface Member {
  name: string
  schema: Schema
  /** Created when a file first has this member: most parts of a definition are never used. */
  reader: Reader | null
  absence: ReturnType<typeof absenceOf>
}

class ObjectReader {
  readonly #node: ObjectNode
  readonly #members: readonly Member[]
  readonly #positions: ReadonlyMap<string, number>
  /** Members whose absence needs handling: required ones, and ones with a default. */
  readonly #needed: readonly number[]
  /** The plan of the last mapping: most mappings of a large file have the same keys as the one before. */
  #plan: ReadPlan | null = null

  constructor(node: ObjectNode) {
    this.#node = node
    this.#members = Object.entries(node.fields).map(([name, schema]) => ({
      name,
      schema,
      reader: null,
      absence: absenceOf(schema),
    }))
    this.#positions = new Map(this.#members.map(({ name }, position) => [name, position]))
    this.#needed = [...this.#members.keys()].filter((position) => this.#members[position]?.absence !== 'nothing')
  }

  read(input: unknown): unknown {
    if (!isMapping(input)) return UNREAD
    const names = Object.keys(input)
    const known = this.#plan
    const plan = known !== null && areEqual(names, known.names) ? known : this.#planFor(names)
    if (plan === null) return UNREAD
    this.#plan = plan
    const values: Record<string, unknown> = {}
    for (const { member, isGiven } of plan.members) {
      const given = input[member.name]
      const value = isGiven && given === undefined ? UNREAD : readMember(member, given)
      if (value === UNREAD) return UNREAD
      values[member.name] = value
    }
    const { rules } = this.#node
    return rules.length === 0 || areKept(rules, values) ? values : UNREAD
  }

  /** Null when a key is unknown. */
  #planFor(names: readonly string[]): ReadPlan | null {
    const found: number[] = []
    for (const name of names) {
      const position = this.#positions.get(name)
      if (position === undefined) return null
      insert(found, position)
    }
    for (const position of this.#needed) if (!found.includes(position)) insert(found, position)
    const members = found.flatMap((position) => this.#members[position] ?? [])
    return { names, members: members.map((member) => ({ member, isGiven: names.includes(member.name) })) }
  }
}

/** The members to read from a mapping with these keys, in the order of the definition. */
interface ReadPlan {
  readonly names: readonly string[]
  readonly members: readonly { member: Member; isGiven: boolean }[]
}

function areEqual(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false
  return true
}

/** Inserts into a sorted list; lists are short, and most keys are already in order. */
function insert(positions: number[], position: number): void {
  let at = positions.length
  for (; at > 0 && (positions[at - 1] ?? 0) > position; at--) positions[at] = positions[at - 1] ?? 0
  positions[at] = position
}

function readMember(member: Member, given: unknown): unknown {
  const { schema, absence } = member
  member.reader ??= readerOf(schema)
  if (given !== undefined) return member.reader(given)
  return absence === null || absence === 'nothing' ? UNREAD : member.reader(absence())
}

function isMapping(input: unknown): input is Record<string, unknown> {
  if (typeof input !== 'object' || input === null) return false
  const prototype: unknown = Object.getPrototypeOf(input)
  return prototype === Object.prototype || prototype === null
}
