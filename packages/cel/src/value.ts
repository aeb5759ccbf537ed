import type { CelError } from './error.ts'

/**
 * A value of an expression. A JavaScript number is an int when it is a safe integer, and a double otherwise. An integral
 * double is boxed in `Double`; an int beyond 2^53 is a bigint. So JSON needs no conversion.
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

/** A map value; only own properties of plain objects are read. */
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

/** A point in time. `nanos` is 0 to 999,999,999, also before 1970. */
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

/** A duration; `seconds` and `nanos` never differ in sign. */
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
  /** The content; undefined when the optional is empty. */
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

/** A host type such as an address or a secret: expressions pass it on, and only its own functions read it. */
export abstract class Opaque {
  abstract readonly typeName: string
  /** The text in logs, headers and JSON. */
  abstract toText(): string
  abstract equals(other: Value): boolean
}

/** A map in the host's own representation; entries are converted only when an expression reads them. */
export abstract class MapView {
  /** Returns undefined when there is no such key. */
  abstract get(key: string): Value | undefined
  abstract keys(): Iterable<string>
}

/** A map of headers; names are looked up in lower case, whatever case the expression uses. */
export abstract class HeadersView extends MapView {
  abstract override get(lowerCaseName: string): string | readonly string[] | undefined
}
