import type { CelError } from './error.ts'

/**
 * What expressions compute with. A JS number is an int when it is a safe integer, and a double otherwise; a double that
 * happens to be a whole number is boxed in `Double`, an int beyond 2^53 is a bigint. So JSON needs no conversion.
 */
export type Value =
  | null
  | boolean
  | string
  | number
  | bigint
  | Double
  | Uint
  | Uint8Array
  | Timestamp
  | Duration
  | readonly Value[]
  | MapValue
  | Optional
  | TypeValue
  | Opaque

export type Result = Value | CelError

export type MapKey = string | boolean | number | bigint | Uint

/** Plain objects are read by their own properties only. */
export type MapValue = PlainMap | ReadonlyMap<MapKey, Value> | MapView

export interface PlainMap {
  readonly [key: string]: Value | undefined
}

export class Double {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}

export class Uint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

/** `nanos` is from 0 to 999,999,999, also before 1970. */
export class Timestamp {
  readonly seconds: number
  readonly nanos: number

  constructor(seconds: number, nanos: number) {
    this.seconds = seconds
    this.nanos = nanos
  }

  static fromMillis(millis: number): Timestamp {
    const seconds = Math.floor(millis / 1000)
    return new Timestamp(seconds, Math.round((millis - seconds * 1000) * 1e6))
  }
}

/** `seconds` and `nanos` never differ in sign. */
export class Duration {
  readonly seconds: number
  readonly nanos: number

  constructor(seconds: number, nanos: number) {
    this.seconds = seconds
    this.nanos = nanos
  }

  static fromMillis(millis: number): Duration {
    const seconds = Math.trunc(millis / 1000)
    return new Duration(seconds, Math.round((millis - seconds * 1000) * 1e6))
  }
}

export class Optional {
  /** Undefined: nothing is in it. */
  readonly value: Value | undefined

  constructor(value: Value | undefined) {
    this.value = value
  }

  static readonly none: Optional = new Optional(undefined)
}

export class TypeValue {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** A type of the host (an address, a secret): passed around whole, read only by functions that know it. */
export abstract class Opaque {
  abstract readonly typeName: string
  /** How it appears in logs, headers and JSON. */
  abstract toText(): string
  abstract equals(other: Value): boolean
}

/** A map that the host keeps in its own shape: nothing of it is built unless an expression asks. */
export abstract class MapView {
  /** Undefined: no such key. */
  abstract get(key: string): Value | undefined
  abstract keys(): Iterable<string>
}

/** Header names are looked up in lower case, whatever case the expression has. */
export abstract class HeadersView extends MapView {
  abstract override get(lowerCaseName: string): string | readonly string[] | undefined
}
