import { isObject } from '@portico/http/json'
import type { Path } from '../../schema/problem.ts'

/** A value of the file with its path. Reading is tolerant: what has the wrong shape was reported by the schema. */
export class Spot {
  readonly value: unknown
  readonly #parent: Spot | null
  readonly #step: string | number

  constructor(value: unknown, parent: Spot | null = null, step: string | number = '') {
    this.value = value
    this.#parent = parent
    this.#step = step
  }

  get path(): Path {
    return this.#parent === null ? [] : [...this.#parent.path, this.#step]
  }

  /** The mapping or list that contains this value. */
  get parent(): Spot {
    return this.#parent ?? this
  }

  get exists(): boolean {
    return this.value !== undefined
  }

  get text(): string | null {
    return typeof this.value === 'string' ? this.value : null
  }

  get keys(): string[] {
    return isObject(this.value) ? Object.keys(this.value) : []
  }

  get items(): Spot[] {
    return Array.isArray(this.value) ? this.value.map((item, index) => new Spot(item, this, index)) : []
  }

  item(index: number): Spot {
    return new Spot(Array.isArray(this.value) ? this.value[index] : undefined, this, index)
  }

  /** Whether the value is a mapping with the key; it makes no spot, because most parts of a large file lack the key. */
  has(key: string): boolean {
    return isObject(this.value) && this.value[key] !== undefined
  }

  /** Whether the value below a key is a mapping with another key; like `has`, it makes no spot. */
  hasIn(key: string, below: string): boolean {
    if (!isObject(this.value)) return false
    const value = this.value[key]
    return isObject(value) && value[below] !== undefined
  }

  at(key: string): Spot {
    return new Spot(isObject(this.value) ? this.value[key] : undefined, this, key)
  }

  /** Follows several keys. */
  in(...keys: string[]): Spot {
    return keys.reduce<Spot>((spot, key) => spot.at(key), this)
  }
}

/** Replaces the value at a path; every step of the path exists. */
export function putAt(root: unknown, path: Path, value: unknown): void {
  const last = path.at(-1)
  if (last === undefined) return
  let holder = root as Record<string | number, unknown>
  for (const step of path.slice(0, -1)) holder = holder[step] as Record<string | number, unknown>
  holder[last] = value
}
