import { isObject } from '@portico/http/json'

/** A path in a resource, such as `spec`, `rules`, 0. */
export type FieldPath = readonly (string | number)[]

/** A problem with a field: an invalid value, or a field that is ignored. */
export interface FieldProblem {
  path: FieldPath
  /** `unknown` fields are ignored and reported. */
  code: 'unknown' | 'wrong'
  message: string
}

/**
 * Reads an unvalidated object: invalid values are reported and count as absent. `done` reports fields that were not read.
 */
export class Fields {
  readonly path: FieldPath
  readonly #values: Readonly<Record<string, unknown>>
  readonly #problems: FieldProblem[]
  readonly #asked = new Set<string>()

  constructor(value: unknown, path: FieldPath, problems: FieldProblem[]) {
    this.path = path
    this.#problems = problems
    if (!isObject(value) && value !== undefined && value !== null) this.#wrong([], 'an object', value)
    this.#values = isObject(value) ? value : {}
  }

  has(key: string): boolean {
    return this.#values[key] !== undefined && this.#values[key] !== null
  }

  text(key: string): string | undefined {
    const value = this.#ask(key)
    if (value === undefined || typeof value === 'string') return value
    return this.#wrong([key], 'a text', value)
  }

  /** Reads a string that must be one of the choices. */
  choice<Choice extends string>(key: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.text(key)
    if (value === undefined || isOneOf(value, choices)) return value
    return this.#wrong([key], `one of ${choices.join(', ')}`, value)
  }

  integer(key: string, { min = 0, max = Number.MAX_SAFE_INTEGER } = {}): number | undefined {
    const value = this.#ask(key)
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
    return this.#wrong([key], `an integer from ${min} to ${max}`, value)
  }

  flag(key: string): boolean | undefined {
    const value = this.#ask(key)
    if (value === undefined || typeof value === 'boolean') return value
    return this.#wrong([key], 'true or false', value)
  }

  /** Reads an object; an empty one when it is absent. */
  object(key: string): Fields {
    return new Fields(this.#ask(key), [...this.path, key], this.#problems)
  }

  objects(key: string): Fields[] {
    return this.#list(key).map((value, index) => new Fields(value, [...this.path, key, index], this.#problems))
  }

  texts(key: string): string[] {
    return this.#list(key).flatMap((value, index) => {
      if (typeof value === 'string') return [value]
      this.#wrong([key, index], 'a text', value)
      return []
    })
  }

  textsByKey(key: string): Record<string, string> {
    const value = this.#ask(key) ?? {}
    if (typeof value !== 'object' || Array.isArray(value)) return this.#wrong([key], 'an object', value) ?? {}
    const entries = Object.entries(value).filter((entry): entry is [string, string] => {
      if (typeof entry[1] === 'string') return true
      this.#wrong([key, entry[0]], 'a text', entry[1])
      return false
    })
    return Object.fromEntries(entries)
  }

  /** Reads any value unchanged. */
  raw(key: string): unknown {
    return this.#ask(key)
  }

  /** Reports a problem with a value beyond its type. */
  report(key: string, message: string): undefined {
    this.#problems.push({ path: [...this.path, key], code: 'wrong', message })
  }

  /** Reports fields that were not read. */
  done(): void {
    for (const key of Object.keys(this.#values)) {
      if (this.#asked.has(key)) continue
      this.#problems.push({ path: [...this.path, key], code: 'unknown', message: 'is not supported and was ignored' })
    }
  }

  #list(key: string): readonly unknown[] {
    const value = this.#ask(key)
    if (value === undefined) return []
    return Array.isArray(value) ? value : (this.#wrong([key], 'a list', value) ?? [])
  }

  #ask(key: string): unknown {
    this.#asked.add(key)
    return this.#values[key] ?? undefined
  }

  #wrong(below: FieldPath, expected: string, found: unknown): undefined {
    const message = `must be ${expected}, is ${describe(found)}`
    this.#problems.push({ path: [...this.path, ...below], code: 'wrong', message })
  }
}

/** Prints a path as `spec.rules[0].name`. */
export function printFieldPath(path: FieldPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text === '' ? part : `${text}.${part}`
  }, '')
}

export function printFieldProblem({ path, message }: FieldProblem): string {
  return `${printFieldPath(path)} ${message}`
}

function isOneOf<Choice extends string>(value: string, choices: readonly Choice[]): value is Choice {
  return (choices as readonly string[]).includes(value)
}

/** Describes a value for a message. Values may be secret or long, so only short plain ones are printed. */
function describe(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  const text = JSON.stringify(value)
  return text.length > 64 ? `a ${typeof value}` : text
}
