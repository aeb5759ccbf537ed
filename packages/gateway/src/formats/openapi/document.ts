import type { Json, JsonObject } from '../../schema/kit.ts'

/** A document while it is read. What is wrong with it is gathered, so that all of it is told at once. */
export class OpenApiDocument {
  readonly root: JsonObject
  /** Schemas of 3.0 are not quite JSON Schema. */
  readonly isOld: boolean
  readonly faults: string[] = []
  /** Values that schemas may still come to, once references are filled in. */
  budget = MOST_VALUES

  constructor(root: JsonObject, isOld: boolean) {
    this.root = root
    this.isOld = isOld
  }

  fault(text: string): void {
    if (!this.faults.includes(text)) this.faults.push(text)
  }

  /** The object itself, or the one it refers to; null and a fault where there is none. */
  object(value: Json | undefined, where: string): JsonObject | null {
    let current = value
    for (let hops = 0; hops <= MOST_HOPS; hops++) {
      if (!isObject(current)) break
      const { $ref: reference } = current
      if (typeof reference !== 'string') return current
      current = this.find(reference, where)
      if (current === undefined) return null
    }
    this.fault(isObject(current) ? `${where}: references that go round in circles` : `${where}: no object`)
    return null
  }

  /** What a reference stands for; undefined and a fault where it leads nowhere, or out of the document. */
  find(reference: string, where: string): Json | undefined {
    if (!reference.startsWith('#')) {
      this.fault(`${where}: \`$ref: ${shorten(reference)}\`, which leads out of the document`)
      return undefined
    }
    let found: Json | undefined = this.root
    for (const step of stepsOf(reference)) {
      if (Array.isArray(found)) found = /^(0|[1-9][0-9]*)$/.test(step) ? found[Number(step)] : undefined
      else found = isObject(found) && Object.hasOwn(found, step) ? found[step] : undefined
    }
    if (found === undefined || !/^#(\/|$)/.test(reference)) {
      this.fault(`${where}: \`$ref: ${shorten(reference)}\`, which is not in the document`)
      return undefined
    }
    return found
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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
const MOST_VALUES = 1_000_000
