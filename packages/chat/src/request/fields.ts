import { isObject } from '@portico/http/json'
import type { Json, JsonObject } from '../middle.ts'
import { UnsupportedField } from '../middle.ts'

/**
 * Reads the members of a client's object one by one; members that no call took are the rest. Null counts as absent,
 * because SDKs send null for members that are not set. The first member of a wrong type fails the whole request.
 */
export class Fields {
  readonly #object: JsonObject
  readonly #parent: Fields | null
  readonly #name: string
  /** Names taken so far, possibly with duplicates: for so few names a list is faster than a set. */
  readonly #taken: string[] = []
  #fault: UnsupportedField | null = null

  constructor(object: JsonObject, parent: Fields | null = null, name = '') {
    this.#object = object
    this.#parent = parent
    this.#name = name
  }

  get fault(): UnsupportedField | null {
    return this.#fault
  }

  /** The object as the client sent it. */
  get raw(): JsonObject {
    return this.#object
  }

  take(name: string): Json | undefined {
    this.#taken.push(name)
    return this.#object[name] ?? undefined
  }

  text(name: string): string | undefined {
    const value = this.take(name)
    return value === undefined || typeof value === 'string' ? value : this.fail(name, 'a text')
  }

  number(name: string): number | undefined {
    const value = this.take(name)
    return value === undefined || typeof value === 'number' ? value : this.fail(name, 'a number')
  }

  boolean(name: string): boolean | undefined {
    const value = this.take(name)
    return value === undefined || typeof value === 'boolean' ? value : this.fail(name, 'true or false')
  }

  object(name: string): JsonObject | undefined {
    const value = this.take(name)
    return value === undefined || isObject(value) ? value : this.fail(name, 'an object')
  }

  fields(name: string): Fields | undefined {
    const value = this.object(name)
    return value === undefined ? undefined : new Fields(value, this, name)
  }

  /** A list of objects; empty when absent. */
  list(name: string): Fields[] {
    const value = this.take(name) ?? []
    if (!Array.isArray(value)) {
      this.fail(name, 'a list')
      return []
    }
    const objects: Fields[] = []
    for (const [at, entry] of value.entries()) {
      if (isObject(entry)) objects.push(new Fields(entry, this, `${name}[${at}]`))
      else this.fail(`${name}[${at}]`, 'an object')
    }
    return objects
  }

  /** One text, or a list of texts. */
  texts(name: string): string[] | undefined {
    const value = this.take(name)
    if (value === undefined) return undefined
    const texts = Array.isArray(value) ? value : [value]
    return texts.every((text) => typeof text === 'string') ? texts : this.fail(name, 'a text, or a list of texts')
  }

  /** The content as a list of parts; a plain text counts as one part of type `text`. */
  content(name: string): Fields[] {
    const value = this.#object[name]
    if (typeof value !== 'string') return this.list(name)
    this.#taken.push(name)
    return [new Fields({ type: 'text', text: value }, this, name)]
  }

  /** The members that no call took; undefined when all were taken. */
  rest(): JsonObject | undefined {
    const taken = this.#taken
    if (Object.keys(this.#object).every((name) => taken.includes(name))) return undefined
    return Object.fromEntries(Object.entries(this.#object).filter(([name]) => !taken.includes(name)))
  }

  fail(name: string, expected: string): undefined {
    this.failWith(name, `must be ${expected}`)
  }

  failWith(name: string, message: string): undefined {
    if (this.#parent === null) this.#fault ??= new UnsupportedField(name, message)
    else this.#parent.failWith(`${this.#name}.${name}`, message)
  }
}

interface Marks {
  cache?: JsonObject
  rest?: JsonObject
}

/** Adds to a part the untaken members as `rest`, and `cache` when the client set `cache_control`. */
export function withMarks<T extends object>(part: T, fields: Fields): T & Marks {
  const cache = fields.object('cache_control')
  return cache === undefined ? withRest(part, fields) : { ...withRest(part, fields), cache }
}

export function withRest<T extends object>(part: T, fields: Fields): T & Pick<Marks, 'rest'> {
  const rest = fields.rest()
  return rest === undefined ? part : { ...part, rest }
}

/** Copies members that only the client's own format has, if any, into the rest. */
export function addMembers(rest: JsonObject, ...native: readonly (JsonObject | undefined)[]): void {
  for (const members of native) if (members !== undefined) Object.assign(rest, members)
}
