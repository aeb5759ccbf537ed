import { isObject } from '@portico/http/json'
import type { Json, JsonObject } from '../json.ts'

/** An OpenAPI document while it is read. Faults are collected, so that they can be reported together. */
export class OpenApiDocument {
  readonly root: JsonObject
  /** Whether schemas are in the dialect of OpenAPI 3.0, which differs from JSON Schema. */
  readonly isOld: boolean
  /** The parts that were left out, with the reason. */
  readonly warnings: string[] = []
  /** Schemas without references, by the reference that they replace. */
  readonly expanded = new Map<string, Json>()
  /** The number of values that may still be read while references are resolved. */
  budget = MOST_VALUES
  #faults: string[] = []
  readonly #found = new Map<string, Json>()

  constructor(root: JsonObject, isOld: boolean) {
    this.root = root
    this.isOld = isOld
  }

  /** Records that the operation being read cannot be called. */
  fault(where: string | null, text: string): void {
    if (where === null) return
    const whole = `${where}: ${text}`
    if (!this.#faults.includes(whole)) this.#faults.push(whole)
  }

  /** Returns the faults since the last call. */
  takeFaults(): string[] {
    const faults = this.#faults
    this.#faults = []
    return faults
  }

  /**
   * Returns the object, or the object it refers to; null, with a fault, when there is none. Without `where` no fault is
   * recorded.
   */
  object(value: Json | undefined, where: string | null): JsonObject | null {
    let current = value
    for (let hops = 0; hops <= MOST_HOPS; hops++) {
      if (!isObject(current)) break
      const { $ref: reference } = current
      if (typeof reference !== 'string') return current
      current = this.find(reference, where)
      if (current === undefined) return null
    }
    this.fault(where, isObject(current) ? 'circular references' : 'no object')
    return null
  }

  /** Returns the target of a reference; undefined, with a fault, when the target is missing or outside the document. */
  find(reference: string, where: string | null): Json | undefined {
    if (!reference.startsWith('#')) {
      this.fault(where, `\`$ref: ${shorten(reference)}\`, which leads out of the document`)
      return undefined
    }
    const known = this.#found.get(reference)
    if (known !== undefined) return known
    const found = /^#(\/|$)/.test(reference) ? this.#lookUp(reference) : undefined
    if (found === undefined) this.fault(where, `\`$ref: ${shorten(reference)}\`, which is not in the document`)
    else this.#found.set(reference, found)
    return found
  }

  #lookUp(reference: string): Json | undefined {
    let found: Json | undefined = this.root
    for (const step of stepsOf(reference)) {
      if (Array.isArray(found)) found = /^(0|[1-9][0-9]*)$/.test(step) ? found[Number(step)] : undefined
      else found = isObject(found) && Object.hasOwn(found, step) ? found[step] : undefined
    }
    return found
  }
}

/** Returns the members of a mapping; empty for other values. */
export function entriesOf(value: Json | undefined): [string, Json][] {
  return isObject(value) ? Object.entries(value) : []
}

/** Returns the items of a list; empty for other values. */
export function itemsOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : []
}

export function stringOrNull(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** Shortens a text for messages. */
export function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}

/** Splits a JSON pointer in a fragment (RFC 6901 section 6). */
function stepsOf(reference: string): string[] {
  const steps = reference.split('/').slice(1)
  return steps.map((step) => decoded(step).replaceAll('~1', '/').replaceAll('~0', '~'))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const MOST_HOPS = 32
const MOST_VALUES = 2_000_000
