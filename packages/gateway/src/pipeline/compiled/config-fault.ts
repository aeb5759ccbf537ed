/** A fault found while a config is compiled, with which the config cannot run. Its phrases are those of every problem. */
export class ConfigFault extends Error {
  /** The faulty part of the config, the same object as in the config: it leads to the location in the file. */
  readonly part: object | null
  /** The path from that part to the faulty value. */
  readonly path: readonly (string | number)[]
  readonly found: string
  readonly expected: string

  constructor(
    part: object | null,
    path: readonly (string | number)[],
    { found, expected }: { found: string; expected: string },
  ) {
    super(expected === '' ? found : `${found}, expected ${expected}`)
    this.part = part
    this.path = path
    this.found = found
    this.expected = expected
  }
}

/** A backend that can be reached only through itself. */
export class CyclicBackend extends Error {}

/** Several faults of one config. */
class ConfigFaults extends Error {
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(({ message }) => message).join('\n'))
    this.faults = faults
  }
}

/** Calls `make` for every item, and throws the faults of all items at the end: one fault must not hide another. */
export function makeEach<Item, Made>(items: Iterable<Item>, make: (item: Item) => Made): Made[] {
  const made: Made[] = []
  const faults: ConfigFault[] = []
  for (const item of items) {
    try {
      made.push(make(item))
    } catch (error) {
      faults.push(...faultsIn(error))
    }
  }
  if (faults.length > 0) throw new ConfigFaults(faults)
  return made
}

/** Returns the faults in an error that the compiler threw. */
export function faultsIn(error: unknown): readonly ConfigFault[] {
  if (error instanceof ConfigFault) return [error]
  if (error instanceof ConfigFaults) return error.faults
  const found = `found parts that cannot be compiled (${error instanceof Error ? error.message : String(error)})`
  return [new ConfigFault(null, [], { found, expected: 'a config that compiles' })]
}
