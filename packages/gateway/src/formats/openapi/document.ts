import type { Json, JsonObject } from '../json.ts'

/** A document while it is read. What is wrong with a part of it is gathered, so that all of it is told at once. */
export class OpenApiDocument {
  readonly root: JsonObject
  /** Schemas of 3.0 are not quite JSON Schema. */
  readonly isOld: boolean
  /** What was left out, and why. */
  readonly warnings: string[] = []
  /** Schemas without references, by the reference that stood for them. */
  readonly expanded = new Map<string, Json>()
  /** Values that may still be looked at while references are filled in. */
  budget = MOST_VALUES
  #faults: string[] = []
  readonly #found = new Map<string, Json>()

  constructor(root: JsonObject, isOld: boolean) {
    this.root = root
    this.isOld = isOld
  }

  /** What is read just now cannot be called. */
  fault(where: string | null, text: string): void {
    if (where === null) return
    const whole = `${where}: ${text}`
    if (!this.#faults.includes(whole)) this.#faults.push(whole)
  }

  /** The faults since the last call. */
  takeFaults(): string[] {
    const faults = this.#faults
    this.#faults = []
    return faults
  }

  /** The object itself, or the one it refers to; null and a fault where there is none. Nobody is told without `where`. */
  object(value: Json | undefined, where: string | null): JsonObject | null {
    let current = value
    for (let hops = 0; hops <= MOST_HOPS; hops++) {
      if (!isObject(current)) break
      const { $ref: reference } = current
      if (typeof reference !== 'string') return current
      current = this.find(reference, where)
      if (current === undefined) return null
    }
    this.fault(where, isObject(current) ? 'references that go round in circles' : 'no object')
    return null
  }

  /** What a reference stands for; undefined and a fault where it leads nowhere, or out of the document. */
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

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of what should be a mapping. */
export function entriesOf(value: Json | undefined): [string, Json][] {
  return isObject(value) ? Object.entries(value) : []
}

/** The items of what should be a list. */
export function itemsOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : []
}

export function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** For messages. */
export function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}

/** A JSON pointer in a fragment (RFC 6901 section 6). */
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
